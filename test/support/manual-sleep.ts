import type { Sleep } from '../../src/base/retry.js'

export interface ManualSleep {
  readonly sleep: Sleep
  /** Milliseconds of the waits under way, the oldest first. */
  readonly waits: () => number[]
  /** Ends the oldest wait of at least this long. */
  readonly wake: (atLeastMs?: number) => void
}

/** Waits that end only when the test says so. */
export function createManualSleep(): ManualSleep {
  const pending: { readonly ms: number; readonly end: () => void }[] = []
  const forget = (entry: (typeof pending)[number]): void => {
    pending.splice(pending.indexOf(entry), 1)
  }
  return {
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          forget(entry)
          reject(signal?.reason as Error)
        }
        const entry = {
          ms,
          end: () => {
            forget(entry)
            signal?.removeEventListener('abort', stop)
            resolve()
          },
        }
        pending.push(entry)
        if (signal?.aborted) stop()
        else signal?.addEventListener('abort', stop, { once: true })
      }),
    waits: () => pending.map(({ ms }) => ms),
    wake: (atLeastMs = 0) => {
      pending.find(({ ms }) => ms >= atLeastMs)?.end()
    },
  }
}
