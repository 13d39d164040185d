/** A rolling window over real time, as strict as the service's. */
export interface RateLimit {
  /** Takes one request; when there is no room, the whole seconds until there is, and takes nothing. */
  take(): { readonly retryAfterSeconds: number } | undefined
}

const WINDOW_MS = 60_000

/** `perMinute` null: no limit. `realNow` is monotonic milliseconds. */
export function createRateLimit(perMinute: number | null, realNow: () => number): RateLimit {
  let taken: number[] = []
  return {
    take: () => {
      if (perMinute === null) return undefined
      const now = realNow()
      taken = taken.filter((instant) => instant > now - WINDOW_MS)
      const oldest = taken[0]
      if (taken.length < perMinute) {
        taken.push(now)
        return undefined
      }
      const waitMs = oldest === undefined ? WINDOW_MS : oldest + WINDOW_MS - now
      return { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
    },
  }
}
