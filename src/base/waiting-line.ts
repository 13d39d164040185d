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
  let lastInLine: Promise<unknown> = Promise.resolve()
  return (work, signal) => {
    const turn = lastInLine.then(() => {
      signal?.throwIfAborted()
      return work()
    })
    lastInLine = turn.catch(() => undefined)
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
