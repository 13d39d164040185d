import { resolve } from 'node:path'
import { accountKey } from './account-key.js'
import { createTrackingService, type TrackingService } from './api/endpoints.js'
import { createRequestBudget, type RequestBudget } from './api/request-budget.js'
import type { ApiStats } from './api/call-runner.js'
import type { Config, LoadedConfig } from './config.js'
import { startEmbeddedDatabase } from './database/embedded-database.js'
import { MigrationError } from './errors.js'
import { createLiveRedactor, createLogger, type Logger } from './logger.js'
import { requireService } from './require-service.js'
import { createSleep } from './retry.js'
import { readMigrations, readSchemaVersion } from './warehouse/migrate.js'
import { prepareSchemas } from './warehouse/prepare-schemas.js'
import { createSharedRequestBudget } from './warehouse/request-budget.js'
import { refuseExcessRights } from './warehouse/role-rights.js'
import { createWarehouse, type Warehouse } from './warehouse/warehouse.js'

export interface AppOptions {
  readonly loaded: LoadedConfig
  /** Where relative paths of the settings start. */
  readonly workingDirectory: string
  /** Log lines go here. */
  readonly logStream: NodeJS.WritableStream
  readonly isLogForPeople: boolean
  /** Aborted when the program is to stop. */
  readonly signal: AbortSignal
  readonly programVersion: string
}

export interface DatabaseAddress {
  readonly url: string
  readonly isEmbedded: boolean
}

export interface OpenWarehouseOptions {
  /** Bring the schemas up to date first, unless the settings forbid it. True unless told otherwise. */
  readonly isMigrating?: boolean
  /** Refuse all writes: for free SQL. */
  readonly isReadOnly?: boolean
  readonly statementTimeoutMs?: number
  /** Connections at most; 5 unless told otherwise. */
  readonly poolSize?: number
  /** Another schema than the settings': for the demo. */
  readonly schema?: string
  /** Take the embedded database even where DATABASE_URL is set: the demo touches nobody's server. */
  readonly isEmbedded?: boolean
}

/** A service that is not the settings' one: the demo's simulator. */
export interface OtherService {
  readonly apiUrl: string
  readonly apiKey: string
  readonly rateLimitPerMinute: number
}

export interface OpenServiceOptions {
  readonly other?: OtherService
  readonly warehouse?: Warehouse
}

export interface OpenedService {
  readonly service: TrackingService
  readonly stats: () => ApiStats
}

/** The composition root: makes the parts, hands them on, closes them in reverse order. */
export interface App {
  readonly config: Config
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly programVersion: string
  readonly homeDirectory: string
  /** Masks every secret in a text that is to be shown. */
  readonly redact: (text: string) => string
  /** `DATABASE_URL`, or the embedded database, which is started when needed and stopped by `close`. */
  openDatabase(options?: Pick<OpenWarehouseOptions, 'isEmbedded'>): Promise<DatabaseAddress>
  openWarehouse(options?: OpenWarehouseOptions): Promise<Warehouse>
  /** What `openWarehouse` does first unless told otherwise: brings the schemas up to date, or throws MigrationError where the settings forbid it. */
  prepareWarehouse(warehouse: Warehouse): Promise<void>
  /**
   * The service of the settings, or the given one. With a warehouse the request budget is shared with every process of the account that has the same
   * warehouse; without one it is this process's. Throws ConfigError where settings are missing.
   */
  openService(options?: OpenServiceOptions): Promise<OpenedService>
  /** Something of a command's own that must be closed with the rest. */
  onClose(close: () => Promise<void>): void
  /** Closes everything that was opened. Idempotent; a part that fails to close is logged and the others are closed. */
  close(): Promise<void>
}

const clock = (): Date => new Date()
const sleep = createSleep()

export function createApp(options: AppOptions): App {
  const { config } = options.loaded
  const secrets = [...options.loaded.secrets]
  const logger = createLogger({
    level: config.logLevel,
    format: options.isLogForPeople ? 'text' : 'json',
    secrets,
    stream: options.logStream,
  })
  const homeDirectory = resolve(options.workingDirectory, config.home)
  const closers: (() => Promise<void>)[] = []
  let database: Promise<DatabaseAddress> | undefined

  async function startDatabase(isEmbedded: boolean): Promise<DatabaseAddress> {
    if (config.databaseUrl !== undefined && !isEmbedded) {
      return { url: config.databaseUrl, isEmbedded: false }
    }
    const embedded = await startEmbeddedDatabase({
      homeDirectory,
      logger,
      port: config.databasePort,
    })
    secrets.push(new URL(embedded.url).password)
    closers.push(() => embedded.stop())
    return { url: embedded.url, isEmbedded: true }
  }

  const openDatabase: App['openDatabase'] = ({ isEmbedded = false } = {}) =>
    (database ??= startDatabase(isEmbedded))

  return {
    config,
    logger,
    signal: options.signal,
    programVersion: options.programVersion,
    homeDirectory,
    redact: createLiveRedactor(secrets),
    openDatabase,
    openWarehouse: async (choice = {}) => {
      const { isMigrating = true, schema = config.schema, isEmbedded = false, ...rest } = choice
      const { url } = await openDatabase({ isEmbedded })
      const warehouse = createWarehouse({ url, schema, logger, ...rest })
      closers.push(() => warehouse.close())
      if (isMigrating) await bringUpToDate(warehouse, config, isEmbedded)
      return warehouse
    },
    prepareWarehouse: (warehouse) => bringUpToDate(warehouse, config, false),
    openService: async ({ other = { ...config, ...requireService(config) }, warehouse } = {}) => {
      // Many commands ask the service nothing, and its client takes a tenth of their start to load.
      const { createApiClient } = await import('./api/client.js')
      secrets.push(other.apiKey)
      const client = createApiClient({
        baseUrl: other.apiUrl,
        apiKey: other.apiKey,
        logger,
        clock,
        sleep,
        random: Math.random,
        budget: createBudget(other, warehouse),
        timeouts: { totalMs: config.requestTimeoutSeconds * 1000 },
        userAgent: `tracking-sync/${options.programVersion}`,
        signal: options.signal,
      })
      closers.push(() => client.close())
      return { service: createTrackingService(client), stats: () => client.stats() }
    },
    onClose: (close) => {
      closers.push(close)
    },
    close: async () => {
      for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
        await close().catch((error: unknown) => {
          logger.warn('something did not close cleanly', { error })
        })
      }
    },
  }
}

function createBudget(service: OtherService, warehouse: Warehouse | undefined): RequestBudget {
  const common = { perMinute: service.rateLimitPerMinute, clock, sleep }
  if (warehouse === undefined) return createRequestBudget(common)
  return createSharedRequestBudget({ ...common, warehouse, account: accountKey(service) })
}

/** Nobody else has the password of the embedded database, and nothing else is in it: its one user may do everything there. */
async function bringUpToDate(
  warehouse: Warehouse,
  config: Pick<Config, 'migrate' | 'strict' | 'databaseUrl'>,
  isEmbedded: boolean,
): Promise<void> {
  const isStrict = config.strict && !isEmbedded && config.databaseUrl !== undefined
  if (isStrict) await refuseExcessRights(warehouse)
  if (config.migrate && !isStrict) {
    await prepareSchemas(warehouse, { sleep })
    return
  }
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) return
  const reason = isStrict ? 'TRACKING_STRICT is true' : 'TRACKING_MIGRATE is false'
  throw new MigrationError(
    `the schemas are at version ${version} and this program needs ${expected}; run \`tracking-sync migrate\` (${reason})`,
  )
}
