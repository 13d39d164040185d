import type { ReachFailpoint } from './base/failpoint.js'
import type { Logger } from './base/logger.js'
import type { Config } from './config/settings.js'
import type { Route } from './http/http-server.js'
import type { AlertFacts, StatusSection } from './status/describe-status.js'
import type { WarehouseStatus } from './status/read-status.js'
import type { Warehouse } from './warehouse/connection/warehouse.js'

/**
 * The hooks of an extension, at the points that the core leaves open. The core knows this type and
 * no extension; `extensions.ts` lists them. Each part is loaded when it is called.
 */
export interface Extension {
  readonly name: string
  /** Takes the place of DATABASE_URL where that is not set. */
  readonly database?: DatabaseProvider
  /** After migrations were applied, before the views are installed. */
  readonly onMigrated?: (warehouse: Warehouse) => Promise<void>
  readonly check?: ExtensionCheck
  readonly observer?: Observer
  /** Pages of `serve`, on the hosts of its list. The warehouse reads only. */
  readonly pages?: PageMaker
}

/** A line of `check`. */
export interface ExtensionCheck {
  readonly line: string
  /** Undefined where the line has nothing to tell. Throws what is wrong. */
  readonly describe: (warehouse: Warehouse) => Promise<string | undefined>
}

export interface DatabasePlace {
  /** Made when missing. */
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
  /** With the login of own SQL. */
  readonly readerUrl: string
  /** Why a connection failed, where the database's own log says so. */
  readonly explain: () => Promise<Error | undefined>
  /** Idempotent. */
  readonly stop: () => Promise<void>
}

/** The things an observer may look at, and its end. */
export interface Observed {
  readonly config: Config
  readonly warehouse: Warehouse
  readonly logger: Logger
  /** Masks every secret in a text. */
  readonly redact: (text: string) => string
  /** Facts of this process that the warehouse does not hold. */
  readonly facts: () => Promise<AlertFacts>
  readonly reachFailpoint: ReachFailpoint
  readonly signal: AbortSignal
}

/** Hears of runs, and works by the clock of `serve` beside them. None of it fails a run. */
export interface Observer {
  /** A job of `serve`, also done once at its start; `off` leaves it out. */
  readonly job: { readonly name: string; readonly cronOf: (config: Config) => string }
  readonly runJob: (observed: Observed) => Promise<void>
  /** A run has stored what it found. */
  readonly onRunStored: (observed: Observed) => Promise<void>
  /** A run has ended; not called where another run was under way. */
  readonly onRunEnd: (
    observed: Pick<Observed, 'config' | 'logger'>,
    isComplete: boolean,
  ) => Promise<void>
  /** Deletes what is old; once a day. */
  readonly tidyUp: (warehouse: Warehouse, logger: Logger) => Promise<void>
}

/** How a page asks for what `serve` knows. */
export interface PageSources {
  /** Counts every row. */
  readonly readStatus: () => Promise<WarehouseStatus>
  readonly facts: () => Promise<AlertFacts>
  readonly describe: (status: WarehouseStatus) => readonly StatusSection[]
  readonly logger: Logger
}

export interface PageMaker {
  /** Connections for its own questions. */
  readonly poolSize: number
  readonly statementTimeoutMs: number
  readonly open: (warehouse: Warehouse) => Promise<CreatePages>
}

export type CreatePages = (sources: PageSources) => Record<string, Route>
