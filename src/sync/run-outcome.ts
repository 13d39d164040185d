import { ConnectorError, IncompleteRunError, LeaseLostError, toError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOf, exitCodeOfSignal, stopSignalOf } from '../base/exit-code.js'
import { foreignStreamError, type StreamFailure } from '../ingest/run-ledger.js'
import type { Run } from '../ingest/run.js'
import type { RunOutcome } from '../warehouse/connection/tables.js'

/** Single bad records do not change the exit code of a run; a list of another form does. */
const QUARANTINE_LIMIT_PERCENT = 5

/** Marks streams as incomplete that were read to their end but cannot be trusted. */
export function recordUntrusted(run: Run): void {
  const { ledger } = run.notes
  const { warehouse } = run.sink
  const { settings } = run.source
  const record = (stream: string, error: IncompleteRunError): void => {
    ledger.conclude(stream, 'incomplete', error.message)
    ledger.failures.push({ stream, error })
  }
  const { quarantineLimitPercent: limit = QUARANTINE_LIMIT_PERCENT } = settings
  for (const { stream, counts } of ledger.states()) {
    const { quarantined, fetched } = counts
    if (quarantined * 100 <= fetched * limit) continue
    const message =
      `${quarantined} of ${fetched} records of ${stream} were set aside, more than ${limit} %; ` +
      `\`quarantine list\` says why (${warehouse.names.sync}.quarantine). When the service is mended, ` +
      '`quarantine retry --all` stores what can be read, and `quarantine drop` gives the rest up'
    record(stream, new IncompleteRunError(message))
  }
  // Lists check this themselves, before they look for missing rows.
  for (const [stream, listed] of ledger.listedTypes()) {
    const error = foreignStreamError(stream, listed)
    if (error !== undefined) record(stream, error)
  }
  for (const { stream, why } of ledger.distrusted) record(stream, new IncompleteRunError(why))
}

interface RunEnd {
  readonly outcome: RunOutcome
  readonly exitCode: number
  readonly errorCode: string | null
  readonly problems: readonly string[]
}

/** The gravest error decides the exit code: a bug first, an untrusted answer last. */
const GRAVITY: readonly number[] = [
  EXIT_CODES.bug,
  EXIT_CODES.config,
  EXIT_CODES.auth,
  EXIT_CODES.service,
  EXIT_CODES.incomplete,
]

/**
 * How the run ended, by the first that applies: its time was up, it was stopped, it lost its lease,
 * something ended it, some streams failed, all is complete.
 */
export function decideOutcome(
  { source: { signal }, notes: { ledger } }: Run,
  thrown: unknown,
): RunEnd {
  const gravity = ({ error }: StreamFailure): number => GRAVITY.indexOf(exitCodeOf(error))
  const failures = [...ledger.failures].sort((one, two) => gravity(one) - gravity(two))
  const reason: unknown = signal.reason
  if (
    signal.aborted &&
    !(reason instanceof LeaseLostError || reason instanceof IncompleteRunError)
  ) {
    const name = stopSignalOf(reason)
    const exitCode = name === undefined ? EXIT_CODES.incomplete : exitCodeOfSignal(name)
    const by = name === undefined ? '' : ` by ${name}`
    const problems = [`the run was stopped${by}; run the command again to go on`]
    return { outcome: 'aborted', exitCode, errorCode: 'aborted', problems }
  }
  const fatal: unknown = signal.aborted ? reason : thrown
  const gravest = fatal ?? failures[0]?.error
  if (gravest === undefined) {
    return { outcome: 'complete', exitCode: EXIT_CODES.complete, errorCode: null, problems: [] }
  }
  const problems = failures.map(({ stream, error }) => `${stream}: ${error.message}`)
  if (fatal !== undefined) problems.unshift(toError(fatal).message)
  const exitCode = exitCodeOf(gravest)
  // A thrown error ends the run early; a limit of its time ends it as planned.
  const isCutShort = fatal !== undefined && !signal.aborted
  return {
    outcome: exitCode === EXIT_CODES.incomplete && !isCutShort ? 'incomplete' : 'failed',
    exitCode,
    errorCode: gravest instanceof ConnectorError ? gravest.code : 'bug',
    problems,
  }
}

const MS_PER_MINUTE = 60_000

/**
 * The same signal, also aborted with an `IncompleteRunError` after the minutes. Keeps no process
 * alive.
 */
export function limitRun(signal: AbortSignal, minutes: number | undefined): AbortSignal {
  if (minutes === undefined) return signal
  const over = new AbortController()
  const timer = setTimeout(() => {
    over.abort(
      new IncompleteRunError(
        `the run was stopped after ${minutes} min (TRACKING_RUN_MINUTES); ` +
          'its rows are stored, and the next run continues from there',
      ),
    )
  }, minutes * MS_PER_MINUTE)
  timer.unref()
  return AbortSignal.any([signal, over.signal])
}
