import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Logger } from '../logger.js'
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
const LOCK_TIMEOUT_MS = 5_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000

/**
 * The warehouse: a pool with fixed session settings and a typed view of the bookkeeping. Connects on first use. The session's
 * `search_path` names no user schema, so that an object of the same name elsewhere is never hit.
 */
export function createWarehouse(options: WarehouseOptions): Warehouse {
  const names = schemaNames(options.schema)
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 5,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: options.applicationName ?? 'tracking-sync',
    options: sessionSettings(options),
    types: { getTypeParser },
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
  const kysely = new Kysely<SyncTables>({ dialect: new PostgresDialect({ pool }) })
  let closing: Promise<void> | undefined
  return {
    ...createSession(kysely, names),
    names,
    transaction: (action, work) =>
      wrapErrors(action, () =>
        kysely.transaction().execute((transaction) => work(createSession(transaction, names))),
      ),
    close: () => (closing ??= kysely.destroy()),
  }
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
    throw toWarehouseError(thrown, action)
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
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    ...(options.isReadOnly === true ? { default_transaction_read_only: 'on' } : {}),
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/**
 * Types (by their fixed OID) whose JavaScript form would lose something, microseconds or digits, stay texts: date, timestamp,
 * timestamptz, interval, numeric.
 */
const KEPT_AS_TEXT: ReadonlySet<number> = new Set([1082, 1114, 1184, 1186, 1700])
const INT8 = 20

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (KEPT_AS_TEXT.has(oid)) return (value) => value
  if (oid === INT8) {
    return (value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)
  }
  // The typings list the known types as an enum; any OID is a number to PostgreSQL.
  return pg.types.getTypeParser(oid as Parameters<typeof pg.types.getTypeParser>[0], format) as (value: string) => unknown
}
