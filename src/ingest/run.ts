import type { TrackingService } from '../source/client/endpoints.js'
import type { RequestPurpose } from '../source/client/request-budget.js'
import type { ReachFailpoint } from '../base/failpoint.js'
import type { Logger } from '../base/logger.js'
import type { Sleep } from '../base/retry.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { Mode } from '../warehouse/rows/incoming-rows.js'
import type { DriftWatch } from './drift-watch.js'
import type { FingerprintMemory } from './fingerprint-memory.js'
import type { RunLedger } from './run-ledger.js'

/** The position of a walk; `pages` and `total` are hints of the service. */
export interface Progress {
  readonly stream: string
  readonly page: number
  readonly records: number
  /** The service's count of records; undefined without one. */
  readonly total: number | undefined
  readonly requests: number
}

/**
 * Requests for transport events, places and vessels at a time: enough for 90 requests a minute
 * while an answer takes less than 2.6 seconds.
 */
export const REQUESTS_AT_ONCE = 4

export interface RunSettings {
  readonly pageSize: number
  readonly vesselPositions: boolean
  /** A run that sets aside more of a stream than this does not end well; 5 unless given. */
  readonly quarantineLimitPercent?: number
  /**
   * Containers whose transport events a sync reads again without any sign of a change; none unless
   * given.
   */
  readonly transportEventChecksPerSync?: number
  /**
   * A sync reads the whole lists when the last whole read is so many hours old, and else the
   * records that can still change; always the whole unless given.
   */
  readonly fullSyncHours?: number
  /**
   * The time that refetches may take; five minutes in a sync and an hour in a backfill unless
   * given.
   */
  readonly refetchSeconds?: number
  /** Slugs of sensitive custom fields whose values are stored all the same, separated by commas. */
  readonly sensitiveFields?: string | undefined
  /** Also reads the raw events of containers that are new or have changed. */
  readonly rawEvents?: boolean
  /** Believe the source when many rows are missing: mark them as gone after all. */
  readonly acceptShrink?: boolean
}

/** The tools and settings that every step of a run gets. */
export interface Run {
  readonly syncRunId: number
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly ledger: RunLedger
  readonly memory: FingerprintMemory
  readonly drift: DriftWatch
  readonly settings: RunSettings
  /** Aborting it ends the run after the batch under way. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
  readonly sleep: Sleep
  /** The share of the request budget that pays for its reads; `sync` by default. */
  readonly purpose?: RequestPurpose
  /**
   * In a backfill every record is compared with its row value by value, everything that depends on
   * a row is derived again, and missing records are read: it heals a change that somebody made by
   * hand.
   */
  readonly mode: Mode
  /** Inert, unless a test asked for a crash. */
  readonly reachFailpoint: ReachFailpoint
}
