import { WarehouseConflictError } from '../base/errors.js'
import { retry, type RetryPolicy } from '../base/retry.js'
import type { Session } from '../warehouse/connection/warehouse.js'
import type { Run } from './run.js'

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

/** After more conflicts, suspect something that holds the rows for good. */
const MOST_CONFLICTS = 5

/**
 * Repeats a piece of work on the warehouse, as a whole, when it failed for a reason that passes: a
 * deadlock, a serialization failure, a lost connection, a server that restarts. The work must be
 * idempotent: the connection may have been lost during the commit.
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

/** Does work in one transaction, which is repeated like `retryWarehouse`. */
export function transact<Result>(
  run: Pick<Run, 'signal' | 'sleep' | 'logger' | 'warehouse'>,
  name: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return retryWarehouse(run, () => run.warehouse.transaction(name, work))
}
