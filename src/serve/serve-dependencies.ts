import type { ApiStats } from '../source/client/client.js'
import type { TrackingService } from '../source/client/endpoints.js'
import type { ReachFailpoint } from '../base/failpoint.js'
import type { Logger } from '../base/logger.js'
import type { Sleep } from '../base/retry.js'
import type { Config } from '../config/settings.js'
import type { CreatePages, Observer } from '../extension.js'
import type { RunSettings } from '../ingest/run.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { SignatureCheck } from '../webhooks/receive/signature.js'

/** The parts of this process; each can also run alone, and several of each side by side. */
export interface ServeParts {
  readonly isReceiving: boolean
  readonly isProcessing: boolean
  readonly isScheduling: boolean
}

export interface ServeDependencies {
  readonly config: Config
  readonly parts: ServeParts
  /** For the processor, the schedule and the metrics. */
  readonly warehouse: Warehouse
  /** For the receiver and its readiness: they never wait for a connection that a sync holds. */
  readonly inbox: Warehouse
  readonly pages: readonly CreatePages[]
  /** Brings the schemas up to date; called again until the database can be reached. */
  readonly prepare: () => Promise<void>
  readonly service: TrackingService
  readonly stats: () => ApiStats
  readonly freeDiskBytes: () => Promise<number | undefined>
  /** They hear of runs, and each has a job. */
  readonly observers: readonly Observer[]
  readonly redact: (text: string) => string
  readonly signature: SignatureCheck | 'insecure'
  readonly runSettings: RunSettings
  /** Default: `PACE`. */
  readonly pace?: Partial<Pace>
  readonly programVersion: string
  readonly logger: Logger
  readonly clock: () => Date
  readonly sleep: Sleep
  readonly reachFailpoint: ReachFailpoint
  /** Also ends the requests to the service. `stop` is called when it is aborted. */
  readonly signal: AbortSignal
}

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

/** Below the 30 seconds after which Kubernetes and our units kill; a kill loses nothing either. */
export const SHUTDOWN_SECONDS = 25

/** For requests under way; the rest is for the batch of a run. */
export const REQUESTS_END_MS = 0.4 * SHUTDOWN_SECONDS * 1000
