import pg from 'pg'
import type { Logger } from '../../base/logger.js'
import { clientClassOf } from './scram-client.js'
import { boundConnection, cut, type BoundConnection } from './bound-connection.js'
import {
  KEEPALIVE_IDLE_S,
  prepareSession,
  sessionSettings,
  STATEMENT_TIMEOUT_MS,
  type PreparedSession,
} from './session-settings.js'

/** A connection outside the pool. Its user prepares and ends it. */
export interface SeparateConnection {
  readonly client: pg.Client
  readonly prepare: (client: pg.ClientBase) => Promise<PreparedSession>
}

/** Connections to one database. Several warehouses in it may share them. */
export interface ConnectionPool {
  readonly withConnection: <Result>(
    use: (connection: BoundConnection) => Promise<Result>,
  ) => Promise<Result>
  readonly another: () => Promise<SeparateConnection>
  /** Ends every connection; one outside the pool is cut, for it only reads. Idempotent. */
  readonly close: () => Promise<void>
}

export interface PoolOptions {
  readonly url: string
  readonly logger: Logger
  /** Most connections; 5 by default. */
  readonly poolSize?: number
  readonly statementTimeoutMs?: number
  /**
   * Keeps connections open between statements: the database may be full when one is needed again.
   */
  readonly isKeptOpen?: boolean
  /** Every transaction is read-only: for SQL that people write. */
  readonly isReadOnly?: boolean
  readonly applicationName?: string
}

/** A pool with the same session settings for every warehouse. Connects on first use. */
export function createPool(options: PoolOptions): ConnectionPool {
  const settings: pg.ClientConfig = {
    connectionString: options.url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_IDLE_S * 1000,
    application_name: options.applicationName ?? 'tracking-sync',
    types: createTypes(),
  }
  const Client = clientClassOf(options.url)
  const statementMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const wanted = sessionSettings(options)
  const prepare = (client: pg.ClientBase): Promise<PreparedSession> =>
    prepareSession(client, wanted, statementMs + ANSWER_MS)
  const sessions = new WeakMap<pg.ClientBase, PreparedSession>()
  const pool = new pg.Pool({
    ...settings,
    Client,
    pipeline: true,
    max: options.poolSize ?? 5,
    ...(options.isKeptOpen === true ? { idleTimeoutMillis: 0 } : {}),
    // The pool awaits it; its types do not say so.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- see above
    onConnect: async (client: pg.ClientBase) => {
      sessions.set(client, await prepare(client))
    },
  })
  // Without these handlers a killed backend would end this process: idle clients report here,
  // checked-out ones on themselves.
  pool.on('error', (error) => {
    options.logger.warn('an idle database connection was lost', { error })
  })
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      options.logger.warn('a database connection was lost', { error })
    })
  })
  let closing: Promise<void> | undefined
  const others = new Set<pg.Client>()
  const close = (): Promise<void> => {
    for (const client of others) cut(client)
    return pool.end()
  }
  return {
    withConnection: async (use) => {
      const client = await pool.connect()
      const connection = boundConnection(client, statementMs + ANSWER_MS, sessions.get(client))
      try {
        return await use(connection)
      } finally {
        connection.release()
      }
    },
    another: async () => {
      if (closing !== undefined) throw new Error('Client was closed: the program ends')
      const client = new Client(settings)
      // A lost connection also fails the statement, which reports it.
      client.on('error', () => undefined)
      others.add(client)
      client.once('end', () => others.delete(client))
      await client.connect()
      return { client, prepare }
    },
    close: () => (closing ??= close()),
  }
}

/**
 * Time for the answer, beyond the statement's own limit: a hanging server is noticed within 35 s.
 */
const ANSWER_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000

/** Keeps types as texts that JavaScript would round: microseconds, digits. Counts fit a number. */
function createTypes(): pg.TypeOverrides {
  const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL, NUMERIC, INT8 } = pg.types.builtins
  const types = new pg.TypeOverrides()
  for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL, NUMERIC]) {
    types.setTypeParser(type, (value: string) => value)
  }
  types.setTypeParser(INT8, (value: string) => {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  })
  return types
}
