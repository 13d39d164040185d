/** A rolling window over real time, as strict as the service's. */
export interface RateLimit {
  /**
   * Takes one request. When the window is full, takes nothing and returns the whole seconds until
   * there is room.
   */
  take(): { readonly retryAfterSeconds: number } | undefined
}

/** `perWindow` null: no limit. `realNow` is monotonic milliseconds. */
export function createRateLimit(
  perWindow: number | null,
  windowMs: number,
  realNow: () => number,
): RateLimit {
  let taken: number[] = []
  return {
    take: () => {
      if (perWindow === null) return undefined
      const now = realNow()
      taken = taken.filter((instant) => instant > now - windowMs)
      const oldest = taken[0]
      if (taken.length < perWindow) {
        taken.push(now)
        return undefined
      }
      const waitMs = oldest === undefined ? windowMs : oldest + windowMs - now
      return { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
    },
  }
}
