/** Times of `serve`'s work that an operator need not set. */
export interface Pace {
  /**
   * Wait before a record is refetched by id: several notifications about it come within seconds and
   * cost one request (decision 33).
   */
  readonly refetchDelayMs: number
  /** Asks for notifications that were not delivered, and looks at our webhook: a few requests. */
  readonly reconcileCron: string
}

/** Reconciling comes apart from the full hour, when the syncs of many programs begin. */
export const PACE: Pace = { refetchDelayMs: 5_000, reconcileCron: '7 * * * *' }

/** Share of `SHUTDOWN_SECONDS` for requests under way; the rest is for the batch of a run. */
const REQUESTS_SHARE = 0.4

/** Below the 30 seconds after which Kubernetes and our units kill; a kill loses nothing either. */
export const SHUTDOWN_SECONDS = 25

export const REQUESTS_END_MS = SHUTDOWN_SECONDS * REQUESTS_SHARE * 1000
