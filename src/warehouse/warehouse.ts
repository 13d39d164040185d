import {
  CompiledQuery,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely'
import pg from 'pg'
import { ConnectorError } from '../errors.js'
import type { Logger } from '../logger.js'
import { boundConnection } from './bound-connection.js'
import {
  collectAnswer,
  streamAnswer,
  type QuestionOptions,
  type TableAnswer,
} from './read-answer.js'
import { schemaNames, type SchemaNames } from './schema-names.js'
import { toWarehouseError } from './sqlstate.js'
import type { SyncTables } from './tables.js'

/** What runs a statement: the pool, or one transaction on it. */
export interface Session {
  /**
   * Runs one statement. Times, numerics and dates come back as PostgreSQL's own texts, so that nothing is rounded on the way.
   * Throws an error of the taxonomy; `action` says what was being done.
   */
  query<Row>(action: string, sqlText: string, parameters?: readonly unknown[]): Promise<Row[]>
  /** Typed statements on the bookkeeping schema. */
  readonly sync: Kysely<SyncTables>
}

export interface Warehouse extends Session {
  readonly names: SchemaNames
  /** Runs `work` in one transaction; any throw rolls it back. */
  transaction<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /**
   * Runs one statement of a person's, which can write nothing, and returns it as a table: columns in order, duplicates kept. Unqualified names mean the
   * data tables, then the views.
   */
  readTable(action: string, sqlText: string, options?: QuestionOptions): Promise<TableAnswer>
  /** The same in pieces of a thousand rows, so that an answer of any size takes no memory. At least one piece, for the columns. */
  streamTable(
    action: string,
    sqlText: string,
    options?: QuestionOptions,
  ): AsyncGenerator<TableAnswer, void, undefined>
  /** Ends every connection. Idempotent. */
  close(): Promise<void>
}

export interface WarehouseOptions {
  readonly url: string
  /** Base name of the schemas. */
  readonly schema: string
  readonly logger: Logger
  /** Connections at most; 5 unless told otherwise. */
  readonly poolSize?: number
  readonly statementTimeoutMs?: number
  /** Every transaction is read-only: for free SQL of people. */
  readonly isReadOnly?: boolean
  readonly applicationName?: string
}

/** A statement that takes longer is stuck, not slow: our largest batch takes a fraction of a second. */
const STATEMENT_TIMEOUT_MS = 30_000
/** Beyond that, for the answer to come: a server that hangs is noticed within 35 s. */
const ANSWER_MS = 5_000
const LOCK_TIMEOUT_MS = 5_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000

/** A host that vanished is noticed, by us and by the server, about a minute later instead of after hours. */
const KEEPALIVE_IDLE_S = 30
const KEEPALIVE_INTERVAL_S = 10
const KEEPALIVE_COUNT = 3
const CONNECTION_CHECK_INTERVAL = '10s'

/**
 * The warehouse: a pool with fixed session settings and a typed view of the bookkeeping. Connects on first use. The session's
 * `search_path` names no user schema, so that an object of the same name elsewhere is never hit.
 */
export function createWarehouse(options: WarehouseOptions): Warehouse {
  const names = schemaNames(options.schema)
  const settings: pg.ClientConfig = {
    connectionString: options.url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_IDLE_S * 1000,
    application_name: options.applicationName ?? 'tracking-sync',
    options: sessionSettings(options),
    types: createTypes(),
  }
  const pool = new pg.Pool({
    ...settings,
    max: options.poolSize ?? 5,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: watchForOurEnd,
  })
  // Without a handler a killed backend ends the process: idle clients report here, checked-out ones on themselves.
  pool.on('error', (error) => {
    options.logger.warn('an idle database connection was lost', { error })
  })
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      options.logger.warn('a database connection was lost', { error })
    })
  })
  const statementMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const kysely = new Kysely<SyncTables>({
    dialect: new PostgresDialect({ pool: withTranslatedErrors(pool, statementMs + ANSWER_MS) }),
  })
  let closing: Promise<void> | undefined
  return {
    ...createSession(kysely, names),
    names,
    transaction: (action, work) =>
      wrapErrors(action, () =>
        kysely.transaction().execute((transaction) => work(createSession(transaction, names))),
      ),
    readTable: (action, sqlText, question) =>
      wrapErrors(action, () => collectAnswer(streamAnswer(settings, names, sqlText, question))),
    streamTable: (action, sqlText, question) =>
      wrapStream(action, streamAnswer(settings, names, sqlText, question)),
    close: () => (closing ??= kysely.destroy()),
  }
}

/**
 * A killed process must not leave a long statement and its locks behind. The server looks for its client's end only when told to, and refuses to be
 * told where its platform cannot do it: a setting of the connection's start would make that a failure.
 */
async function watchForOurEnd(client: pg.ClientBase): Promise<void> {
  await client
    .query(`set client_connection_check_interval = '${CONNECTION_CHECK_INTERVAL}'`)
    .catch(() => undefined)
}

function createSession(
  executor: Kysely<SyncTables> | Transaction<SyncTables>,
  names: SchemaNames,
): Session {
  return {
    query: async <Row>(action: string, sqlText: string, parameters: readonly unknown[] = []) => {
      const query = CompiledQuery.raw(sqlText, [...parameters])
      const result = await wrapErrors(action, () => executor.executeQuery(query))
      return result.rows as Row[]
    },
    sync: executor.withSchema(names.sync),
  }
}

async function wrapErrors<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    const isUnnamed = thrown instanceof ConnectorError && thrown.context.action === UNNAMED_ACTION
    throw toWarehouseError(isUnnamed ? thrown.cause : thrown, action)
  }
}

async function* wrapStream(
  action: string,
  pieces: AsyncGenerator<TableAnswer, void, undefined>,
): AsyncGenerator<TableAnswer, void, undefined> {
  try {
    yield* pieces
  } catch (thrown) {
    throw toWarehouseError(thrown, action)
  }
}

/** What a typed statement of the bookkeeping was doing, unless the transaction around it says so. */
const UNNAMED_ACTION = 'use the bookkeeping'

/** The pool as kysely takes it, with errors of the taxonomy: its typed statements have no other boundary. */
function withTranslatedErrors(pool: pg.Pool, limitMs: number): PostgresPool {
  return {
    connect: async () => {
      const client = await wrapErrors(UNNAMED_ACTION, () => pool.connect())
      const bound = boundConnection(client, limitMs)
      const translated = {
        query: (sqlText: string, parameters: readonly unknown[]) =>
          wrapErrors(UNNAMED_ACTION, () => bound.query(sqlText, parameters)),
        release: () => {
          bound.release()
        },
      }
      // kysely's type also has cursors, which nobody asks for here.
      return translated as unknown as PostgresPoolClient
    },
    end: () => pool.end(),
  }
}

function sessionSettings(options: WarehouseOptions): string {
  const settings = {
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    IntervalStyle: 'iso_8601',
    search_path: 'pg_catalog',
    client_encoding: 'UTF8',
    standard_conforming_strings: 'on',
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    tcp_keepalives_idle: KEEPALIVE_IDLE_S,
    tcp_keepalives_interval: KEEPALIVE_INTERVAL_S,
    tcp_keepalives_count: KEEPALIVE_COUNT,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    ...(options.isReadOnly === true ? { default_transaction_read_only: 'on' } : {}),
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Types whose JavaScript form would lose something, microseconds or digits, stay texts; counts fit a number. */
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
