import { WarehouseConflictError } from '../base/errors.js'
import { retry, type RetryPolicy, type Sleep } from '../base/retry.js'
import type { Logger } from '../base/logger.js'

/**
 * A restart or a failover of the server takes seconds; after half a minute a person is needed. It
 * takes 35 seconds to notice that a server hangs (`createWarehouse`), and then one more try is due.
 */
const POLICY: RetryPolicy = {
  retries: 8,
  rateLimitRetries: 0,
  baseMs: 200,
  capMs: 5_000,
  giveUpAfterMs: 30_000,
  isCountedFromFailure: true,
  longestRetryAfterMs: 0,
}

/** How a try waits, ends and is logged. */
export interface RetryTools {
  readonly signal: AbortSignal
  readonly sleep: Sleep
  readonly logger: Logger
}

/** After more conflicts, suspect something that holds the rows for good. */
const MOST_CONFLICTS = 5

/**
 * Repeats a piece of work on the warehouse, as a whole, when it failed for a reason that passes: a
 * deadlock, a serialization failure, a lost connection, a server that restarts. The work must be
 * idempotent: the connection may have been lost during the commit.
 */
export async function retryWarehouse<Result>(
  { signal, sleep, logger }: RetryTools,
  work: () => Promise<Result>,
): Promise<Result> {
  let conflicts = 0
  return retry(work, {
    clock: () => new Date(),
    sleep,
    random: Math.random,
    signal,
    policy: POLICY,
    mayRepeat: (error) =>
      !(error instanceof WarehouseConflictError) || (conflicts += 1) <= MOST_CONFLICTS,
    onRetry: (error, waitMs) => {
      logger.warn('the database failed; trying again', { waitMs, error })
    },
  })
}
