import type { TrackingService } from '../api/endpoints.js'
import type { Logger } from '../logger.js'
import type { Warehouse } from '../warehouse/warehouse.js'
import type { RunLedger } from './run-ledger.js'
import type { FingerprintMemory } from './fingerprint-memory.js'

/** How far a walk has come; `pages` and `total` are hints of the service. */
export interface Progress {
  readonly stream: string
  readonly page: number
  readonly records: number
  /** Records the service says there are; undefined when it does not. */
  readonly total: number | undefined
  readonly requests: number
}

export interface RunSettings {
  readonly pageSize: number
  readonly eventConcurrency: number
  readonly vesselPositions: boolean
  readonly quarantineLimitPercent: number
}

/** What every step of a run is given. */
export interface Run {
  readonly syncRunId: number
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly ledger: RunLedger
  readonly memory: FingerprintMemory
  readonly settings: RunSettings
  /** Aborting it ends the run after the batch under way. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}
