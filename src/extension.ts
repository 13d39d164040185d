import type { ReachFailpoint } from './base/failpoint.js'
import type { Logger } from './base/logger.js'
import type { SettingsGroup } from './config/setting.js'
import type { Config } from './config/settings.js'
import type { Route } from './http/http-server.js'
import type { ApiStats } from './source/client/client.js'
import type { AlertFacts } from './status/describe-status.js'
import type { WarehouseStatus } from './status/read-status.js'
import type { Vitals } from './status/read-vitals.js'
import type { Session, Warehouse } from './warehouse/connection/warehouse.js'
import type { ReceiverCounts } from './webhooks/receive/outcomes.js'
import type { ShippedView } from './warehouse/schema/shipped-views.js'

/**
 * The hooks of an extension, at the points that the core leaves open. The core knows this type and
 * no extension; `extensions.ts` lists them. Each part is loaded when it is called.
 */
export interface Extension {
  readonly name: string
  readonly settings?: () => Promise<SettingsGroup>
  /** Replaces DATABASE_URL if that is not set. */
  readonly database?: DatabaseProvider
  /** Throws if our statements cannot work in this database. */
  readonly refuse?: (warehouse: Warehouse) => Promise<void>
  /** After migrations were applied, before the views are installed. */
  readonly onMigrated?: (warehouse: Warehouse) => Promise<void>
  /** After an upgrade, in the transaction that grants the roles what is new. */
  readonly renewAccess?: (session: Session) => Promise<void>
  /** Views that store the rows of the shipped ones, for `installViews`. */
  readonly storedViews?: (views: readonly ShippedView[]) => Promise<readonly ShippedView[]>
  readonly check?: ExtensionCheck
  readonly observer?: Observer
  /** Pages of `serve`, on the hosts of its list. */
  readonly pages?: (place: PagePlace) => Promise<CreatePages>
}

/** The settings of the extensions, for `loadConfig`. */
export function settingsOf(extensions: readonly Extension[]): Promise<SettingsGroup[]> {
  return Promise.all(extensions.flatMap(({ settings }) => settings?.() ?? []))
}

export interface ExtensionCheck {
  readonly line: string
  /** Undefined if there is nothing to report. Throws if something is wrong. */
  readonly describe: (warehouse: Warehouse) => Promise<string | undefined>
}

export interface DatabasePlace {
  /** Created if missing. */
  readonly homeDirectory: string
  readonly logger: Logger
}

export interface DatabaseProvider {
  /** Starts the database, or uses the one that runs. */
  readonly start: (place: DatabasePlace) => Promise<ProvidedDatabase>
  readonly status: (place: DatabasePlace) => Promise<{
    readonly isRunning: boolean
    /** Absent before the first start. */
    readonly version?: string
  }>
}

/** A running database. Its addresses hold passwords. */
export interface ProvidedDatabase {
  readonly url: string
  /** Address with the login of own SQL. */
  readonly readerUrl: string
  /** The reason of a failed connection, if the database's own log has it. */
  readonly explain: () => Promise<Error | undefined>
  /** Idempotent. */
  readonly stop: () => Promise<void>
}

/** The things an observer may look at, and its end. */
export interface Observed {
  readonly config: Config
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly redact: (text: string) => string
  /** Facts of this process that the warehouse does not hold. */
  readonly facts: () => Promise<AlertFacts>
  readonly reachFailpoint: ReachFailpoint
  readonly signal: AbortSignal
}

/** Has a scheduled job in `serve`, and hears of runs. An observer never fails a run. */
export interface Observer {
  /** A job of `serve`; the cron expression `off` leaves it out. */
  readonly job: {
    readonly name: string
    readonly cronOf: (config: Config) => string
    /** Also done once when `serve` starts. */
    readonly isAtStart?: true
  }
  readonly runJob: (observed: Observed) => Promise<void>
  /** Called when a run has stored its records. */
  readonly onRunStored?: (observed: Observed) => Promise<void>
  /** Called when a run has ended, but not if another run was under way. */
  readonly onRunEnd?: (
    observed: Pick<Observed, 'config' | 'logger'>,
    isComplete: boolean,
  ) => Promise<void>
  /** Deletes old rows; called once a day. */
  readonly tidyUp?: (warehouse: Warehouse, logger: Logger) => Promise<void>
}

/** A scheduled job of this process. */
export interface JobState {
  readonly name: string
  readonly isRunning: boolean
  /** End of the last run that did not fail; undefined before there was one. */
  readonly lastSuccessAt: Date | undefined
  /** End of the last run that failed; undefined before there was one. */
  readonly lastFailureAt: Date | undefined
  readonly failures: number
}

/** A process of `serve`, without payloads and secrets. */
export interface ServingStatus extends AlertFacts {
  readonly programVersion: string
  readonly startedAt: Date
  /** `receiver`, `processor`, `scheduler`: what runs here. */
  readonly parts: readonly string[]
  readonly requestLimit: number
  readonly jobs: readonly JobState[]
  /** Undefined: this process receives no webhooks. */
  readonly receiver: ReceiverCounts | undefined
  readonly api: ApiStats
}

/** Sources of facts for the pages of `serve`. */
export interface PageSources {
  readonly readVitals: () => Promise<Vitals>
  /** Counts every row. */
  readonly readStatus: () => Promise<WarehouseStatus>
  readonly serving: () => ServingStatus
  readonly freeDiskBytes: () => Promise<number | undefined>
  /** Calls back after each accepted delivery with its time from headers to answer. */
  readonly onAccepted: (listener: (elapsedMs: number) => void) => void
  readonly logger: Logger
}

export type CreatePages = (sources: PageSources) => Record<string, Route>

/** Where pages are shown. `App` is one. */
export interface PagePlace {
  readonly config: Config
  readonly logger: Logger
  readonly programVersion: string
  /** By the login of own SQL. They only read. */
  readonly connectReader: (choice: PageConnections) => Promise<Warehouse>
  /** By the login of the program. */
  readonly connect: (
    choice: PageConnections & { readonly isReadOnly: boolean },
  ) => Promise<Warehouse>
  readonly onClose: (close: () => Promise<void>) => void
}

interface PageConnections {
  readonly poolSize: number
  readonly statementTimeoutMs: number
}
