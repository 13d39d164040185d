import type { Sleep } from '../../base/retry.js'

/** Waits, of one loop, that can be cut short. A wake while it does not wait is remembered, so that no news is slept through. */
export class Waiter {
  readonly #sleep: Sleep
  readonly #stopped: AbortSignal
  #woken = new AbortController()

  constructor(sleep: Sleep, stopped: AbortSignal) {
    this.#sleep = sleep
    this.#stopped = stopped
  }

  /** Who waits goes on; else the next wait ends at once. */
  wake(): void {
    this.#woken.abort()
  }

  /** Ends after the time, when stopped, or, if it may be woken, when woken. Never rejects. */
  async wait(ms: number, isWakeable: boolean): Promise<void> {
    const woken = this.#woken
    const signal = isWakeable ? AbortSignal.any([this.#stopped, woken.signal]) : this.#stopped
    try {
      signal.throwIfAborted()
      await this.#sleep(ms, signal)
    } catch (thrown) {
      if (!signal.aborted) throw thrown
    } finally {
      if (isWakeable && woken.signal.aborted && this.#woken === woken) {
        this.#woken = new AbortController()
      }
    }
  }
}
