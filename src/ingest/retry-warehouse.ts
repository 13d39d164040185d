import { WarehouseConflictError } from '../base/errors.js'
import { retry, type RetryPolicy } from '../base/retry.js'
import type { Run } from './run.js'

/**
 * A restart or a failover of the server takes seconds; half a minute after it was noticed a person is needed. To notice that it hangs takes 35 seconds by itself
 * (`createWarehouse`), after which one more try is due.
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

/** Who meets others more often than that is not unlucky: something holds the rows for good. */
const MOST_CONFLICTS = 5

/**
 * Does a piece of work on the warehouse again, as a whole, when it failed for a reason that passes: a deadlock, a serialization failure, a lost connection, a
 * server that restarts. Such work is idempotent: where a connection was lost during the commit, doing it again changes nothing.
 */
export async function retryWarehouse<Result>(
  run: Pick<Run, 'signal' | 'sleep' | 'logger'>,
  work: () => Promise<Result>,
): Promise<Result> {
  let conflicts = 0
  return retry(work, {
    clock: () => new Date(),
    sleep: run.sleep,
    random: Math.random,
    signal: run.signal,
    policy: POLICY,
    mayRepeat: (error) =>
      !(error instanceof WarehouseConflictError) || (conflicts += 1) <= MOST_CONFLICTS,
    onRetry: (error, waitMs) => {
      run.logger.warn('the database failed; trying again', { waitMs, error })
    },
  })
}
