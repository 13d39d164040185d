import { WarehouseConflictError } from '../base/errors.js'
import type { ReachFailpoint } from '../base/failpoint.js'
import type { Logger } from '../base/logger.js'
import { retry, type RetryPolicy, type Sleep } from '../base/retry.js'
import type { Session, Warehouse } from '../warehouse/connection/warehouse.js'
import type { Mode } from '../warehouse/rows/incoming-rows.js'
import { FingerprintMemory } from './fingerprint-memory.js'

export interface SinkOptions<RunId> extends RetryTools {
  readonly warehouse: Warehouse
  /** Null beside the runs. */
  readonly syncRunId: RunId
  /**
   * In a backfill every record is compared with its row value by value, everything that depends on
   * a row is derived again, and missing records are read: it heals a change that somebody made by
   * hand.
   */
  readonly mode: Mode
  /** Inert, unless a test asked for a crash. */
  readonly reachFailpoint: ReachFailpoint
}

/** The warehouse as a run writes to it, and the records that the run knows to be in it. */
export class Sink<RunId extends number | null = number | null> {
  readonly warehouse: Warehouse
  readonly syncRunId: RunId
  readonly mode: Mode
  readonly reachFailpoint: ReachFailpoint
  readonly memory = new FingerprintMemory()
  readonly #options: SinkOptions<RunId>

  constructor(options: SinkOptions<RunId>) {
    this.warehouse = options.warehouse
    this.syncRunId = options.syncRunId
    this.mode = options.mode
    this.reachFailpoint = options.reachFailpoint
    this.#options = options
  }

  /** See `retryWarehouse`. */
  retry<Result>(work: (warehouse: Warehouse) => Promise<Result>): Promise<Result> {
    return retryWarehouse(this.#options, () => work(this.warehouse))
  }

  /** Does work in one transaction, which is repeated like `retryWarehouse`. */
  transact<Result>(name: string, work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.retry((warehouse) => warehouse.transaction(name, work))
  }

  /** The same, believing no hash: records are compared by value, also those met before. */
  byValue(): Sink<RunId> {
    return new Sink({ ...this.#options, mode: 'backfill' })
  }
}

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
