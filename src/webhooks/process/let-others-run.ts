/**
 * Gives requests that have come in meanwhile their turn. The receiver answers from the same thread: a batch of notifications that is read in one go would
 * keep senders waiting.
 */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
