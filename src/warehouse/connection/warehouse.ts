import type { Kysely } from 'kysely'
import pg from 'pg'
import { ConnectorError, toError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { CopiedRows } from './copy-rows.js'
import { boundConnection, type BoundConnection } from './bound-connection.js'
import { clientClassOf } from '../../base/scram-client.js'
import {
  collectAnswer,
  streamAnswer,
  type QuestionOptions,
  type TableAnswer,
} from './read-answer.js'
import { withSnapshot, type Snapshot, type SnapshotClient } from './read-snapshot.js'
import { SchemaNames } from './schema-names.js'
import {
  KEEPALIVE_IDLE_S,
  prepareSession,
  sessionSettings,
  STATEMENT_TIMEOUT_MS,
  type PreparedSession,
} from './session-settings.js'
import { toWarehouseError } from './sqlstate.js'
import type { SyncTables } from './tables.js'
import { typedStatements, type RunStatement } from './typed-statements.js'

/** What runs a statement: the pool, or one transaction on it. */
export interface Session {
  /**
   * Runs one statement. Times, numerics and dates come back as PostgreSQL's own texts, so that
   * nothing is rounded on the way. Throws an error of the taxonomy; `action` says what was being
   * done.
   */
  query<Row>(action: string, sqlText: string, parameters?: readonly unknown[]): Promise<Row[]>
  /** Runs `copy … from stdin` with these rows. Throws like `query`. */
  copy(action: string, sqlText: string, rows: CopiedRows): Promise<void>
  /** Typed statements on the bookkeeping schema. */
  readonly sync: Kysely<SyncTables>
  readonly names: SchemaNames
}

export interface Warehouse extends Session {
  /** Runs `work` in one transaction; any throw rolls it back. */
  transaction<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /**
   * The same for work that only reads, so that its statements travel together: it takes no lock, not
   * even that of a writer's lease, and so leaves nothing in the log.
   */
  read<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /**
   * Runs one statement of a person's, which can write nothing, and returns it as a table: columns
   * in order, duplicates kept. Unqualified names mean the data tables, then the views.
   */
  readTable(action: string, sqlText: string, options?: QuestionOptions): Promise<TableAnswer>
  /**
   * The same in pieces of a thousand rows, so that an answer of any size takes no memory. At least
   * one piece, for the columns.
   */
  streamTable(
    action: string,
    sqlText: string,
    options?: QuestionOptions,
  ): AsyncGenerator<TableAnswer, void, undefined>
  /**
   * Runs `work` on the warehouse as it stands at one instant: reading only, on a connection of its
   * own, without limits of time. `signal` ends it at once.
   */
  readSnapshot<Result>(
    action: string,
    signal: AbortSignal,
    work: (snapshot: Snapshot) => Promise<Result>,
  ): Promise<Result>
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

/**
 * Beyond a statement's own limit, for the answer to come: a server that hangs is noticed within 35
 * s.
 */
const ANSWER_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000

/**
 * The warehouse: a pool with fixed session settings and a typed view of the bookkeeping. Connects
 * on first use. The session's `search_path` names no user schema, so that an object of the same
 * name elsewhere is never hit.
 */
export function createWarehouse(options: WarehouseOptions): Warehouse {
  const names = new SchemaNames(options.schema)
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
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: async (client: pg.ClientBase) => {
      sessions.set(client, await prepare(client))
    },
  })
  // Without a handler a killed backend ends the process: idle clients report here, checked-out ones
  // on themselves.
  pool.on('error', (error) => {
    options.logger.warn('an idle database connection was lost', { error })
  })
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      options.logger.warn('a database connection was lost', { error })
    })
  })
  const withConnection = async <Result>(
    use: (connection: BoundConnection) => Promise<Result>,
  ): Promise<Result> => {
    const client = await pool.connect()
    const connection = boundConnection(client, statementMs + ANSWER_MS, sessions.get(client))
    try {
      return await use(connection)
    } finally {
      connection.release()
    }
  }
  const transaction: Warehouse['transaction'] = (action, work) =>
    wrapErrors(action, () =>
      withConnection(async ({ query }) => {
        await query('begin', [])
        try {
          const result = await work(createSession(query, names))
          await query('commit', [])
          return result
        } catch (thrown) {
          await query('rollback', [])
          throw thrown
        }
      }),
    )
  let closing: Promise<void> | undefined
  return {
    ...createSession(
      (sqlText, parameters) => withConnection(({ query }) => query(sqlText, parameters)),
      names,
    ),
    transaction,
    read: transaction,
    readTable: (action, sqlText, question) =>
      wrapErrors(action, () =>
        collectAnswer(
          streamAnswer({ client: new Client(settings), prepare }, names, sqlText, question),
        ),
      ),
    streamTable: (action, sqlText, question) =>
      wrapStream(
        action,
        streamAnswer({ client: new Client(settings), prepare }, names, sqlText, question),
      ),
    readSnapshot: (action, signal, work) =>
      wrapErrors(action, () =>
        withSnapshot({ client: new Client(settings), prepare }, signal, (client) =>
          work(toSnapshot(client, names)),
        ),
      ),
    close: () => (closing ??= pool.end()),
  }
}

/**
 * After a statement of a transaction failed, PostgreSQL refuses those that travelled with it
 * (25P02, in_failed_sql_transaction): they fail with the first one's error, which says why.
 */
function createSession(run: RunStatement, names: SchemaNames): Session {
  let first: Error | undefined
  const runFor = async (action: string, ...statement: Parameters<RunStatement>) => {
    try {
      return await wrapErrors(action, () => run(...statement))
    } catch (thrown) {
      if (thrown instanceof ConnectorError && thrown.context.code === '25P02') {
        throw first ?? thrown
      }
      first = toError(thrown)
      throw first
    }
  }
  return {
    query: async <Row>(action: string, sqlText: string, parameters: readonly unknown[] = []) =>
      (await runFor(action, sqlText, parameters)).rows as Row[],
    copy: async (action, sqlText, rows) => {
      await runFor(action, sqlText, rows)
    },
    sync: typedStatements((...statement) => runFor(UNNAMED_ACTION, ...statement)).withSchema(
      names.sync,
    ),
    names,
  }
}

function toSnapshot(client: SnapshotClient, names: SchemaNames): Snapshot {
  return {
    query: async <Row>(action: string, sqlText: string, parameters: readonly unknown[] = []) =>
      (await wrapErrors(action, () => client.query(sqlText, parameters))).rows as Row[],
    copyOut: (action, sqlText, takeRow) =>
      wrapErrors(action, () => client.copyOut(sqlText, takeRow)),
    names,
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

/**
 * What a typed statement of the bookkeeping was doing, unless the transaction around it says so.
 */
const UNNAMED_ACTION = 'use the bookkeeping'

/**
 * Types whose JavaScript form would lose something, microseconds or digits, stay texts; counts fit
 * a number.
 */
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
