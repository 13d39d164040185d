import { IncompleteRunError } from '../base/errors.js'

const MS_PER_MINUTE = 60_000

/**
 * The same signal, also aborted with an `IncompleteRunError` when the minutes are over. Keeps no
 * process alive.
 */
export function limitRun(signal: AbortSignal, minutes: number | undefined): AbortSignal {
  if (minutes === undefined) return signal
  const over = new AbortController()
  const timer = setTimeout(() => {
    over.abort(
      new IncompleteRunError(
        `the run was stopped after ${minutes} min (TRACKING_RUN_MINUTES); ` +
          'what it wrote stands, and the next run goes on from there',
      ),
    )
  }, minutes * MS_PER_MINUTE)
  timer.unref()
  return AbortSignal.any([signal, over.signal])
}
