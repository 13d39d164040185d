import { resolve } from 'node:path'
import { accountKey } from './base/service-address.js'
import { createTrackingService, type TrackingService } from './api/endpoints.js'
import {
  createFallbackBudget,
  createRequestBudget,
  type RequestBudget,
} from './api/request-budget.js'
import type { ApiStats } from './api/client.js'
import type { Config } from './config/settings.js'
import type { LoadedConfig } from './config/load.js'
import {
  embeddedDatabaseStatus,
  startEmbeddedDatabase,
} from './embedded-postgres/embedded-database.js'
import { MigrationError } from './base/errors.js'
import { createLiveRedactor, createLogger, type Logger } from './base/logger.js'
import { requireService } from './config/needed-settings.js'
import { createSleep } from './base/retry.js'
import { REQUIRE_SCRAM } from './base/scram-client.js'
import { createDatabaseClock } from './warehouse/connection/database-clock.js'
import { readMigrations, readSchemaVersion } from './warehouse/schema/run-migrations.js'
import { prepareSchemas } from './warehouse/schema/prepare-schemas.js'
import { createSharedRequestBudget } from './warehouse/coordination/shared-budget.js'
import { refuseExcessRights, refuseMissingRights } from './warehouse/schema/login-rights.js'
import { createWarehouse, type Warehouse } from './warehouse/connection/warehouse.js'

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

interface ConnectOptions {
  /** Refuse all writes: for free SQL. */
  readonly isReadOnly?: boolean
  readonly statementTimeoutMs?: number
  /** Connections at most. Default: 5. */
  readonly poolSize?: number
  /** In place of the setting: for the demo. */
  readonly schema?: string
  /** Use the embedded database even if DATABASE_URL is set: for the demo. */
  readonly isEmbedded?: boolean
}

interface PrepareOptions {
  /** Refuse a login that may not write, with the statements that grant it. */
  readonly isWriting?: boolean
  /** `--accept-account`: rows of another account than before may come. */
  readonly isAccountAccepted?: boolean
  readonly isEmbedded?: boolean
}

/** In place of the service of the settings: the demo's simulator. */
export interface OtherService {
  readonly apiUrl: string
  readonly apiKey: string
  readonly rateLimitPerMinute: number
}

export interface OpenServiceOptions {
  readonly other?: OtherService
  readonly warehouse?: Warehouse
  /** Called before each wait for the request budget. Absent: long waits are logged. */
  readonly onWait?: (ms: number) => void
}

export interface OpenedService {
  readonly service: TrackingService
  readonly stats: () => ApiStats
}

/** Makes the parts of the program, hands them out, closes them in reverse order. */
export interface App {
  readonly config: Config
  /** Where each setting comes from. */
  readonly origins: LoadedConfig['origins']
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly programVersion: string
  readonly homeDirectory: string
  /** Masks every secret in a text that is to be shown. */
  readonly redact: (text: string) => string
  /**
   * `DATABASE_URL`, or the embedded database, which is started when needed and stopped by `close`.
   */
  openDatabase(options?: Pick<ConnectOptions, 'isEmbedded'>): Promise<DatabaseAddress>
  /** The warehouse as it stands. */
  connect(options?: ConnectOptions): Promise<Warehouse>
  /**
   * Checks the rights of the login and brings the schemas up to date. Throws MigrationError if the
   * settings forbid that.
   */
  prepare(warehouse: Warehouse, options?: PrepareOptions): Promise<void>
  /** Connects and prepares. */
  openWarehouse(options?: PrepareOptions): Promise<Warehouse>
  /**
   * The service of the settings, or the given one. With a warehouse, its request budget is shared
   * with every process that uses that warehouse. Without one, it is shared if the database of the
   * settings answers; none is started for it. Throws ConfigError if settings are missing.
   */
  openService(options?: OpenServiceOptions): Promise<OpenedService>
  /** Why the embedded database cannot be reached, if its log says so. */
  explainDatabase(): Promise<Error | undefined>
  /** Something of a command's that must be closed with the rest. */
  onClose(close: () => Promise<void>): void
  /** Closes everything that was opened; failures are logged. Idempotent. */
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
  let explainDatabase: (() => Promise<Error | undefined>) | undefined

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
    explainDatabase = () => embedded.explain()
    return { url: `${embedded.url}?${REQUIRE_SCRAM}`, isEmbedded: true }
  }

  const openDatabase: App['openDatabase'] = ({ isEmbedded = false } = {}) =>
    (database ??= startDatabase(isEmbedded))

  const connect: App['connect'] = async ({ isEmbedded = false, ...choice } = {}) => {
    const { url } = await openDatabase({ isEmbedded })
    const warehouse = createWarehouse({ url, schema: config.schema, logger, ...choice })
    closers.push(() => warehouse.close())
    return warehouse
  }

  const prepare: App['prepare'] = async (
    warehouse,
    { isWriting = false, isAccountAccepted = false, isEmbedded = false } = {},
  ) => {
    // The only user of the embedded database may do everything there.
    if (isWriting && config.databaseUrl !== undefined) await refuseMissingRights(warehouse)
    await bringUpToDate(warehouse, config, isEmbedded)
    if (isWriting && !isAccountAccepted) await requireSameAccount(warehouse)
  }

  const openWarehouse: App['openWarehouse'] = async (options = {}) => {
    const warehouse = await connect()
    await prepare(warehouse, options)
    return warehouse
  }

  async function requireSameAccount(warehouse: Warehouse): Promise<void> {
    const { apiUrl, apiKey } = config
    if (apiUrl === undefined || apiKey === undefined) return
    const { refuseOtherAccount } = await import('./warehouse/bookkeeping/source-account.js')
    await refuseOtherAccount(warehouse, { apiUrl, apiKey })
  }

  let controlBudget: RequestBudget | undefined

  function openControlBudget(service: OtherService): RequestBudget {
    const openShared = async (): Promise<RequestBudget | undefined> => {
      const isReachable =
        config.databaseUrl !== undefined ||
        (await embeddedDatabaseStatus({ homeDirectory, logger })).isRunning
      if (!isReachable) return undefined
      const warehouse = await connect({ poolSize: 1 })
      // People wait for these commands, and a sync may have used up the minute.
      return shareBudget(service, warehouse, sleepAfter(createWaitLog(logger, 1_000)))
    }
    return createFallbackBudget({ openShared, own: createOwnBudget(service), logger })
  }

  const logLongWaits = createWaitLog(logger, LONG_WAIT_MS)

  function openBudget({ other, warehouse, onWait }: OpenServiceOptions): RequestBudget {
    if (warehouse !== undefined) {
      return shareBudget(other ?? ofSettings(), warehouse, sleepAfter(onWait ?? logLongWaits))
    }
    if (other !== undefined) return createOwnBudget(other)
    return (controlBudget ??= openControlBudget(ofSettings()))
  }

  const ofSettings = (): OtherService => ({ ...config, ...requireService(config) })

  return {
    config,
    origins: options.loaded.origins,
    logger,
    signal: options.signal,
    programVersion: options.programVersion,
    homeDirectory,
    redact: createLiveRedactor(secrets),
    openDatabase,
    connect,
    prepare,
    openWarehouse,
    openService: async (choice = {}) => {
      const { apiUrl, apiKey } = choice.other ?? ofSettings()
      // Many commands do not use the service, and loading its client takes a tenth of their start.
      const { ApiClient } = await import('./api/client.js')
      secrets.push(apiKey)
      const client = new ApiClient({
        baseUrl: apiUrl,
        apiKey,
        logger,
        clock,
        sleep,
        random: Math.random,
        budget: openBudget(choice),
        timeouts: { totalMs: config.requestTimeoutSeconds * 1000 },
        userAgent: `tracking-sync/${options.programVersion}`,
        signal: options.signal,
        ...(choice.warehouse === undefined
          ? {}
          : { databaseNow: createDatabaseClock(choice.warehouse) }),
      })
      closers.push(() => client.close())
      return { service: createTrackingService(client), stats: () => client.stats() }
    },
    explainDatabase: async () => explainDatabase?.(),
    onClose: (close) => {
      closers.push(close)
    },
    close: async () => {
      for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
        await close().catch((error: unknown) => {
          logger.warn('a part did not close cleanly', { error })
        })
      }
    },
  }
}

/** Shorter waits for the request budget are not logged. */
const LONG_WAIT_MS = 5_000

function sleepAfter(announce: (ms: number) => void): typeof sleep {
  return (ms, signal) => {
    announce(ms)
    return sleep(ms, signal)
  }
}

/** Many requests wait for the same instant: it is logged once. */
function createWaitLog(logger: Logger, leastMs: number): (ms: number) => void {
  let endsAt = -Infinity
  return (ms) => {
    const now = clock().getTime()
    if (ms < leastMs || now + leastMs < endsAt) return
    endsAt = now + ms
    const until = new Date(endsAt).toISOString()
    const waitSeconds = Math.ceil(ms / 1000)
    logger.info('the requests of this minute are used up', { waitSeconds, until })
  }
}

function createOwnBudget({ rateLimitPerMinute }: OtherService): RequestBudget {
  const now = (): number => performance.now()
  return createRequestBudget({ perMinute: rateLimitPerMinute, clock, sleep, now })
}

function shareBudget(
  service: OtherService,
  warehouse: Warehouse,
  sleepWhile = sleep,
): RequestBudget {
  return createSharedRequestBudget({
    perMinute: service.rateLimitPerMinute,
    warehouse,
    account: accountKey(service),
    clock,
    sleep: sleepWhile,
  })
}

/** Strictness does not concern the embedded database: only this program has its password. */
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
    `the schemas are at version ${version} and this program needs ${expected}; ` +
      `run \`tracking-sync migrate\` (${reason})`,
  )
}
