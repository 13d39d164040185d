import type { ReachFailpoint } from '../base/failpoint.js'
import type { Session, Warehouse } from '../warehouse/connection/warehouse.js'
import type { Mode } from '../warehouse/rows/incoming-rows.js'
import { FingerprintMemory } from './fingerprint-memory.js'
import { retryWarehouse, type RetryTools } from './retry-warehouse.js'

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
