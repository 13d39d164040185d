import type { Logger } from './base/logger.js'
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
