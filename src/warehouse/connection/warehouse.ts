import type { Kysely } from 'kysely'
import { ConnectorError, toError } from '../../base/errors.js'
import {
  createPool,
  type ConnectionPool,
  type PoolOptions,
  type SeparateConnection,
} from './connection-pool.js'
import type { CopiedRows } from './copy-rows.js'
import type { Database, Statement } from './typed-database.js'
import { SchemaNames } from './schema-names.js'
import { toWarehouseError } from './sqlstate.js'
import type { Compiler, RunStatement } from './typed-statements.js'
import { createCompiler, typedStatements } from './typed-statements.js'

/** Runs statements: the pool, or one transaction on it. */
export interface Session {
  /**
   * Runs one statement. Times, numerics and dates come back as PostgreSQL's own texts, so that
   * nothing is rounded. Throws an error of the taxonomy; `action` is the work in hand.
   */
  query<Row>(action: string, statement: Statement<Row>): Promise<Row[]>
  /** Runs `copy … from stdin` with these rows. Throws like `query`. */
  copy(action: string, statement: Statement<unknown>, rows: CopiedRows): Promise<void>
  /** The builder of typed statements; an error of one names no action. */
  readonly db: Kysely<Database>
  readonly names: SchemaNames
}

export interface Warehouse extends Session {
  /** Runs `work` in one transaction; an error rolls it back. */
  transaction<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /**
   * Like `transaction`, but without the check of a lease: for work that only reads. It takes no
   * lock, so it leaves nothing in the log, and its statements can be pipelined.
   */
  unfencedTransaction<Result>(
    action: string,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result>
  /** For reading that needs a connection of its own, and the text of its statements. */
  another(action: string): Promise<SeparateConnection & Pick<Compiler, 'compile'>>
  /** Ends every connection. Idempotent. */
  close(): Promise<void>
}

export interface WarehouseOptions extends PoolOptions {
  /** Base name of the schemas. */
  readonly schema: string
  /** Other names than those of one account. */
  readonly names?: SchemaNames
  /** A pool shared with other warehouses of this database. */
  readonly pool?: ConnectionPool | undefined
}

/**
 * The warehouse: connections and a typed view of its tables. The session's `search_path` names no
 * user schema, so that an object of the same name elsewhere is never hit.
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
    unfencedTransaction: transaction,
    another: (action) =>
      wrapErrors(action, async () => ({ ...(await pool.another()), compile: compiler.compile })),
    // A shared pool is closed by its creator.
    close: () => (options.pool === undefined ? pool.close() : Promise.resolve()),
  }
}

/**
 * After a failed statement PostgreSQL refuses the pipelined ones behind it (25P02,
 * in_failed_sql_transaction): they fail with the error of the first.
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

async function wrapErrors<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    const isUnnamed = thrown instanceof ConnectorError && thrown.context.action === UNNAMED_ACTION
    throw toWarehouseError(isUnnamed ? thrown.cause : thrown, action)
  }
}

/** Action of a typed statement, unless the transaction around it names one. */
const UNNAMED_ACTION = 'use the bookkeeping'

/**
 * Pipelines statements of a transaction: like `Promise.all`, but settles only when all of them have
 * ended, so that none runs on after the rollback. Throws the first error in the order of `work`.
 */
export async function pipeline<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [At in keyof Work]: Awaited<Work[At]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
