import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  sql,
} from 'kysely'
import type pg from 'pg'
import type { CopiedRows } from './copy-rows.js'
import type { Database, SchemaPlugin } from './typed-database.js'

/** Runs one statement: on any connection of the pool, or on the one of a transaction. */
export type RunStatement = (
  sqlText: string,
  parameters: readonly unknown[] | CopiedRows,
) => Promise<pg.QueryResult>

/**
 * kysely over the tables of a warehouse. It makes the text of statements; `run` runs them, side by
 * side where they are not awaited, which kysely's own transactions would not.
 */
export function typedStatements(run: RunStatement, plugin: SchemaPlugin): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: async ({ sql, parameters }) => {
      const { rows, rowCount } = await run(sql, parameters)
      return { rows: rows as never[], numAffectedRows: BigInt(rowCount ?? 0) }
    },
    streamQuery: refuse,
  }
  return new Kysely<Database>({
    plugins: [plugin],
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => ({
        init: () => Promise.resolve(),
        acquireConnection: () => Promise.resolve(connection),
        releaseConnection: () => Promise.resolve(),
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        destroy: () => Promise.resolve(),
      }),
    },
  })
}

function refuse(): never {
  throw new Error('transactions and streams are the business of the warehouse')
}

/** `= any (…)` for texts: one parameter for a list of any length. */
export function anyOf(texts: readonly string[]) {
  return sql<string>`any(${texts}::text[])`
}
