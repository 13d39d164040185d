import type { Kysely } from 'kysely'
import { ConnectorError, toError } from '../../base/errors.js'
import { createPool, type ConnectionPool, type PoolOptions } from './connection-pool.js'
import type { CopiedRows } from './copy-rows.js'
import type { Database, Statement } from './typed-database.js'
import {
  collectAnswer,
  streamAnswer,
  type QuestionOptions,
  type TableAnswer,
} from './read-answer.js'
import { withSnapshot, type Snapshot, type SnapshotClient } from './read-snapshot.js'
import { SchemaNames } from './schema-names.js'
import { createCompiler, type Compiler } from './statement-compiler.js'
import { toWarehouseError } from './sqlstate.js'
import { typedStatements, type RunStatement } from './typed-statements.js'

/** What runs a statement: the pool, or one transaction on it. */
export interface Session {
  /**
   * Runs one statement. Times, numerics and dates come back as PostgreSQL's own texts, so that
   * nothing is rounded on the way. Throws an error of the taxonomy; `action` says what was being
   * done.
   */
  query<Row>(action: string, statement: Statement<Row>): Promise<Row[]>
  /** Runs `copy … from stdin` with these rows. Throws like `query`. */
  copy(action: string, statement: Statement<unknown>, rows: CopiedRows): Promise<void>
  /** The builder of typed statements; what it executes fails with an error that names no action. */
  readonly db: Kysely<Database>
  readonly names: SchemaNames
}

export interface Warehouse extends Session {
  /** Runs `work` in one transaction; any throw rolls it back. */
  transaction<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /**
   * The same for work that only reads, so that its statements travel together: it takes no lock,
   * not even that of a writer's lease, and so leaves nothing in the log.
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

export interface WarehouseOptions extends PoolOptions {
  /** Base name of the schemas. */
  readonly schema: string
  /** In place of those of one account. */
  readonly names?: SchemaNames
  /** Connections that are shared with other warehouses of this database, in place of own ones. */
  readonly pool?: ConnectionPool | undefined
}

/**
 * The warehouse: connections and a typed view of the bookkeeping. The session's `search_path` names
 * no user schema, so that an object of the same name elsewhere is never hit.
 */
export function createWarehouse(options: WarehouseOptions): Warehouse {
  const names = options.names ?? new SchemaNames(options.schema)
  const pool = options.pool ?? createPool(options)
  const { withConnection } = pool
  const compiler = createCompiler(names)
  const transaction: Warehouse['transaction'] = (action, work) =>
    wrapErrors(action, () =>
      withConnection(async ({ query }) => {
        await query('begin', [])
        try {
          const result = await work(createSession(query, compiler))
          await query('commit', [])
          return result
        } catch (thrown) {
          await query('rollback', [])
          throw thrown
        }
      }),
    )
  return {
    ...createSession(
      (sqlText, parameters) => withConnection(({ query }) => query(sqlText, parameters)),
      compiler,
    ),
    transaction,
    read: transaction,
    readTable: (action, sqlText, question) =>
      wrapErrors(action, () =>
        collectAnswer(streamAnswer(pool.another(), names, sqlText, question)),
      ),
    streamTable: (action, sqlText, question) =>
      wrapStream(action, streamAnswer(pool.another(), names, sqlText, question)),
    readSnapshot: (action, signal, work) =>
      wrapErrors(action, () =>
        withSnapshot(pool.another(), signal, (client) => work(toSnapshot(client, compiler))),
      ),
    // One that others use as well is closed by whoever made it.
    close: () => (options.pool === undefined ? pool.close() : Promise.resolve()),
  }
}

/**
 * After a statement of a transaction failed, PostgreSQL refuses those that travelled with it
 * (25P02, in_failed_sql_transaction): they fail with the first one's error, which says why.
 */
function createSession(run: RunStatement, { names, plugin, compile }: Compiler): Session {
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
    query: async <Row>(action: string, statement: Statement<Row>) => {
      const { sql, parameters } = compile(statement)
      return (await runFor(action, sql, parameters)).rows as Row[]
    },
    copy: async (action, statement, rows) => {
      await runFor(action, compile(statement).sql, rows)
    },
    db: typedStatements((...statement) => runFor(UNNAMED_ACTION, ...statement), plugin),
    names,
  }
}

function toSnapshot(client: SnapshotClient, { names, compile }: Compiler): Snapshot {
  return {
    query: async <Row>(action: string, statement: Statement<Row>) => {
      const { sql, parameters } = compile(statement)
      return (await wrapErrors(action, () => client.query(sql, parameters))).rows as Row[]
    },
    copyOut: (action, statement, takeRow) =>
      wrapErrors(action, () => client.copyOut(compile(statement).sql, takeRow)),
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
