/** Does work one piece at a time, first come, first served. See `createWaitingLine`. */
export type WaitingLine = <Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

/**
 * A line to stand in. A piece of work that fails does not hold up the next. Whoever aborts leaves
 * at once, with the signal's reason: work that was not begun is never begun, and work under way
 * must see to its own end.
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

/** Somebody who gives up while standing in line need not wait until it is their turn. */
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
