import pLimit from 'p-limit'

/** Does work one piece at a time, first come, first served. See `createWaitingLine`. */
export type WaitingLine = <Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

/**
 * A failure does not hold up the next piece of work. An abort rejects at once with the signal's
 * reason: work that has not begun never begins; work under way must end itself.
 */
export function createWaitingLine(): WaitingLine {
  const inTurn = pLimit(1)
  return (work, signal) => {
    const turn = inTurn(() => {
      signal?.throwIfAborted()
      return work()
    })
    return orAbort(turn, signal)
  }
}

function orAbort<Result>(turn: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return turn
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    turn.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop)
    })
  })
}
