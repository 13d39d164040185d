import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import { accountKey } from './base/service-address.js'
import { createTrackingService } from './source/client/endpoints.js'
import {
  createFallbackBudget,
  createRequestBudget,
  type RequestBudget,
} from './source/client/request-budget.js'
import type { Config } from './config/settings.js'
import type { LoadedAccount, LoadedConfig } from './config/load.js'
import type { DatabaseProvider, Extension, Observer, ProvidedDatabase } from './extension.js'
import { ConfigError } from './base/errors.js'
import { createRedactor, createLogger, type Logger } from './base/logger.js'
import { describeKey, proxyOf, requireService } from './config/needed-settings.js'
import { createSleep } from './base/retry.js'
import { REQUIRE_SCRAM } from './warehouse/connection/scram-client.js'
import { createDatabaseClock } from './warehouse/connection/database-clock.js'
import {
  bringUpToDate,
  refuseMissingWarehouse,
  type PrepareOptions as MigrateOptions,
} from './warehouse/schema/prepare-schemas.js'
import { createSharedRequestBudget } from './warehouse/coordination/shared-budget.js'
import { refuseReadOnly, refuseSubscriber } from './warehouse/connection/read-only.js'
import { refuseMissingRights } from './warehouse/schema/roles.js'
import type { ConnectionPool } from './warehouse/connection/connection-pool.js'
import type { SchemaNames } from './warehouse/connection/schema-names.js'
import { createWarehouse, type Warehouse } from './warehouse/connection/warehouse.js'

export interface AppOptions {
  readonly loaded: LoadedConfig
  readonly extensions: readonly Extension[]
  /** Where relative paths of the settings start. */
  readonly workingDirectory: string
  readonly logStream: NodeJS.WritableStream
  readonly isLogForPeople: boolean
  /** Aborted when the program must stop. */
  readonly signal: AbortSignal
  readonly programVersion: string
  /** Settings of every account, if the command is for all of them. */
  readonly accounts?: readonly LoadedAccount[]
}

interface ConnectOptions {
  /** Refuse all writes: for free SQL. */
  readonly isReadOnly?: boolean
  readonly statementTimeoutMs?: number
  readonly isKeptOpen?: boolean
  /** Connections at most. Default: 5. */
  readonly poolSize?: number
  /** Replaces the setting: for the demo. */
  readonly schema?: string
  /** Use the embedded database even if DATABASE_URL is set: for the demo. */
  readonly isEmbedded?: boolean
  /** Another database than that of the settings. */
  readonly url?: string
  readonly applicationName?: string
  /** Shared connections that replace its own. */
  readonly pool?: ConnectionPool
  /** Replaces the names of one account: the schemas that accounts share. */
  readonly names?: SchemaNames
}

interface OpenDatabase {
  readonly url: string
  /** Address with the login of own SQL, if there is one. */
  readonly readerUrl: string | undefined
  readonly isEmbedded: boolean
}

interface PrepareOptions {
  /** Refuse a login that may not write, with the statements that grant it. */
  readonly isWriting?: boolean
  /** Refuse schemas that hold no warehouse, where a setting names them: it may be misspelt. */
  readonly isOfRows?: boolean
  /** It writes nothing that a publisher sends: also where a subscription fills the tables. */
  readonly isForSubscriber?: boolean
  /** `--accept-account`: accepts rows of another account than before. */
  readonly isAccountAccepted?: boolean
  readonly isEmbedded?: boolean
}

/** Replaces the service of the settings: the demo's simulator. */
interface OtherService {
  readonly apiUrl: string
  readonly apiKey: string
  readonly rateLimitPerMinute: number
}

interface OpenServiceOptions {
  readonly other?: OtherService
  readonly warehouse?: Warehouse
  /** Called before each wait for the request budget. Absent: long waits are logged. */
  readonly onWait?: (ms: number) => void
}

const clock = (): Date => new Date()
const sleep = createSleep()

/** Shorter waits for the request budget are not logged. */
const LONG_WAIT_MS = 5_000

/** Wires the parts of the program and closes them in reverse order; a run is `sync/run-sync.ts`. */
export class App {
  readonly config: Config
  readonly origins: LoadedConfig['origins']
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly programVersion: string
  readonly homeDirectory: string
  /** Masks every secret in a text before it is shown. */
  readonly redact: (text: string) => string
  readonly #secrets: string[]
  readonly #closers: (() => Promise<void>)[] = []
  readonly #options: AppOptions
  /** The app of the whole program, if this is the part of one account. */
  readonly #whole: App | undefined
  readonly #logLongWaits: (ms: number) => void
  #database: Promise<OpenDatabase> | undefined
  #embedded: ProvidedDatabase | undefined
  #controlBudget: RequestBudget | undefined

  constructor(options: AppOptions, whole?: App) {
    const { loaded, accounts = [] } = options
    this.#options = options
    this.#whole = whole
    this.config = loaded.config
    this.origins = loaded.origins
    // All accounts share one list, so that no line of an account shows the secret of another.
    this.#secrets = whole === undefined ? [] : whole.#secrets
    this.#keepSecret(...loaded.secrets, ...accounts.flatMap(({ secrets }) => secrets))
    this.logger =
      whole?.logger.child({ account: loaded.config.account }) ??
      createLogger({
        level: loaded.config.logLevel,
        format: options.isLogForPeople ? 'text' : 'json',
        secrets: this.#secrets,
        stream: options.logStream,
      })
    this.signal = options.signal
    this.programVersion = options.programVersion
    this.homeDirectory = resolve(options.workingDirectory, loaded.config.home)
    this.redact = createRedactor(this.#secrets)
    this.#logLongWaits = createWaitLog(this.logger, LONG_WAIT_MS)
  }

  /** Every account, if the command is for all of them. */
  get accounts(): readonly LoadedAccount[] {
    return this.#options.accounts ?? []
  }

  /**
   * The parts for one account: its settings, and log lines with its name. The database is that of
   * the whole program. `signal` ends its work. The caller closes it.
   */
  ofAccount(loaded: LoadedAccount, signal = this.signal): App {
    return new App({ ...this.#options, accounts: [], loaded, signal }, this)
  }

  /** An account is opened many times: the list must not grow each time. */
  #keepSecret(...secrets: readonly string[]): void {
    for (const secret of secrets) if (!this.#secrets.includes(secret)) this.#secrets.push(secret)
  }

  /**
   * `DATABASE_URL`, or the embedded database, which is started when needed and stopped by `close`.
   */
  openDatabase(isEmbedded = false): Promise<OpenDatabase> {
    if (this.#whole !== undefined) return this.#whole.openDatabase(isEmbedded)
    return (this.#database ??= this.#startDatabase(isEmbedded))
  }

  async #startDatabase(isEmbedded: boolean): Promise<OpenDatabase> {
    const { homeDirectory, logger, config } = this
    if (config.databaseUrl !== undefined && !isEmbedded) {
      return { url: config.databaseUrl, readerUrl: config.readerUrl, isEmbedded: false }
    }
    const embedded = await this.#provider().start({ homeDirectory, logger })
    this.#embedded = embedded
    this.onClose(() => embedded.stop())
    const [url, readerUrl] = [embedded.url, embedded.readerUrl].map((address) => {
      this.#keepSecret(new URL(address).password)
      return `${address}?${REQUIRE_SCRAM}`
    }) as [string, string]
    return { url, readerUrl, isEmbedded: true }
  }

  #provider(): DatabaseProvider {
    const provider = this.extensions.find(({ database }) => database !== undefined)?.database
    if (provider !== undefined) return provider
    const problem = 'is not set; this build has no database of its own'
    throw new ConfigError([{ setting: 'DATABASE_URL', problem }])
  }

  /** False if the first command must create the database. */
  async hasDatabase(): Promise<boolean> {
    if (this.config.databaseUrl !== undefined) return true
    return (await this.#provider().status(this)).version !== undefined
  }

  migrateOptions(): MigrateOptions {
    const { extensions } = this
    return {
      sleep,
      refuse: async (warehouse) => {
        for (const { refuse } of extensions) await refuse?.(warehouse)
      },
      onMigrated: async (warehouse) => {
        for (const { onMigrated } of extensions) await onMigrated?.(warehouse)
      },
      storedViews: async (views) => {
        const makers = extensions.flatMap(({ storedViews }) => storedViews ?? [])
        return (await Promise.all(makers.map((make) => make(views)))).flat()
      },
      renewAccess: async (session) => {
        for (const { renewAccess } of extensions) await renewAccess?.(session)
      },
    }
  }

  get extensions(): readonly Extension[] {
    return this.#options.extensions
  }

  /** Free bytes on the disk of the embedded database; undefined where another one is used. */
  async freeDiskBytes(): Promise<number | undefined> {
    if (!(await this.openDatabase()).isEmbedded) return undefined
    const { bavail, bsize } = await statfs(this.homeDirectory)
    return bavail * bsize
  }

  /** Why the embedded database cannot be reached, if its log says so. */
  async explainDatabase(): Promise<Error | undefined> {
    return (this.#whole ?? this).#embedded?.explain()
  }

  /** The warehouse, without preparing its schemas. */
  async connect({ isEmbedded, ...choice }: ConnectOptions = {}): Promise<Warehouse> {
    const url = choice.url ?? (await this.openDatabase(isEmbedded)).url
    const { schema } = this.config
    const warehouse = createWarehouse({ schema, logger: this.logger, ...choice, url })
    this.onClose(() => warehouse.close())
    return warehouse
  }

  /**
   * The warehouse as the login of own SQL sees it, or that of the program where there is none.
   * Reads only.
   */
  async connectReader(choice: Omit<ConnectOptions, 'url'> = {}): Promise<Warehouse> {
    const { url, readerUrl = url } = await this.openDatabase()
    return this.connect({ ...choice, isReadOnly: true, url: readerUrl })
  }

  /** Makes the login of own SQL and grants it the reader's role, where this login may. */
  async keepReader(warehouse: Warehouse): Promise<void> {
    const { readerUrl } = await this.openDatabase()
    if (readerUrl === undefined || !this.config.migrate) return
    const { keepReader } = await import('./warehouse/schema/roles.js')
    await keepReader(warehouse, readerUrl)
  }

  /**
   * Checks the rights of the login and brings the schemas up to date. Throws MigrationError if the
   * settings forbid that.
   */
  async prepare(warehouse: Warehouse, options: PrepareOptions = {}): Promise<void> {
    const { isWriting = false, isAccountAccepted = false, isEmbedded = false } = options
    // The only user of the embedded database may do everything there.
    if (isWriting && this.config.databaseUrl !== undefined) {
      await refuseReadOnly(warehouse)
      await refuseMissingRights(warehouse)
      if (options.isForSubscriber !== true) await refuseSubscriber(warehouse)
    }
    if (options.isOfRows === true && this.origins.schema !== 'default') {
      await refuseMissingWarehouse(warehouse)
    }
    const { migrate: isMigrating, strict, databaseUrl } = this.config
    // Only this program has the password of the embedded one.
    const isStrict = strict && !isEmbedded && databaseUrl !== undefined
    await bringUpToDate(warehouse, { isMigrating, isStrict }, this.migrateOptions())
    if (isWriting) await this.keepReader(warehouse)
    if (isWriting && !isAccountAccepted) await this.#requireSameAccount(warehouse)
  }

  async #requireSameAccount(warehouse: Warehouse): Promise<void> {
    const { apiUrl, apiKey } = this.config
    if (apiUrl === undefined || apiKey === undefined) return
    const { refuseOtherAccount } = await import('./warehouse/bookkeeping/source-account.js')
    await refuseOtherAccount(warehouse, { apiUrl, apiKey })
  }

  async openWarehouse(options?: PrepareOptions): Promise<Warehouse> {
    const warehouse = await this.connect()
    await this.prepare(warehouse, options)
    return warehouse
  }

  /**
   * The service of the settings, or the given one. With a warehouse, its request budget is shared
   * with every process that uses that warehouse. Without one, it is shared if the database of the
   * settings answers; none is started for it. Throws ConfigError if settings are missing.
   */
  async openService(choice: OpenServiceOptions = {}) {
    const { config, logger, signal } = this
    const address = choice.other ?? { ...config, ...requireService(config) }
    // Many commands do not use the service, and loading its client takes a tenth of their start.
    const { ApiClient } = await import('./source/client/client.js')
    this.#keepSecret(address.apiKey)
    const client = new ApiClient({
      baseUrl: address.apiUrl,
      apiKey: address.apiKey,
      logger,
      clock,
      sleep,
      random: Math.random,
      budget: this.#openBudget(address, choice),
      userAgent: `tracking-sync/${this.programVersion}`,
      proxy: proxyOf(config),
      signal,
      keyAdvice: choice.other === undefined ? describeKey(this) : undefined,
      ...(choice.warehouse === undefined
        ? {}
        : { databaseNow: createDatabaseClock(choice.warehouse) }),
    })
    this.onClose(() => client.close())
    return { service: createTrackingService(client), stats: () => client.stats() }
  }

  #openBudget(
    service: OtherService,
    { other, warehouse, onWait = this.#logLongWaits }: OpenServiceOptions,
  ): RequestBudget {
    if (warehouse !== undefined) return shareBudget(service, warehouse, onWait)
    if (other !== undefined) return createOwnBudget(service)
    return (this.#controlBudget ??= createFallbackBudget({
      openShared: () => this.#openSharedBudget(service),
      own: createOwnBudget(service),
      logger: this.logger,
    }))
  }

  async #openSharedBudget(service: OtherService): Promise<RequestBudget | undefined> {
    const isReachable =
      this.config.databaseUrl !== undefined || (await this.#provider().status(this)).isRunning
    if (!isReachable) return undefined
    // People wait for these commands, and a sync may have used up the minute.
    return shareBudget(
      service,
      await this.connect({ poolSize: 1 }),
      createWaitLog(this.logger, 1_000),
    )
  }

  get observers(): readonly Observer[] {
    return this.extensions.flatMap(({ observer }) => observer ?? [])
  }

  /** Registers a part of a command that must be closed with the rest. */
  onClose(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** Closes everything that was opened; failures are logged. Idempotent. */
  async close(): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      await close().catch((error: unknown) => {
        this.logger.warn('a part did not close cleanly', { error })
      })
    }
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
  onWait: (ms: number) => void,
): RequestBudget {
  return createSharedRequestBudget({
    perMinute: service.rateLimitPerMinute,
    warehouse,
    account: accountKey(service),
    clock,
    sleep: (ms, signal) => {
      onWait(ms)
      return sleep(ms, signal)
    },
  })
}
