import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
} from 'kysely'
import type pg from 'pg'
import type { CopiedRows } from './copy-rows.js'
import type { SchemaNames } from './schema-names.js'
import { SchemaPlugin, type Database, type Statement } from './typed-database.js'

/** Runs one statement on any connection of the pool, or on that of a transaction. */
export type RunStatement = (
  sqlText: string,
  parameters: readonly unknown[] | CopiedRows,
) => Promise<pg.QueryResult>

/**
 * kysely over the tables of a warehouse. It makes the text of statements; `run` runs them, and
 * pipelines them if the caller does not await each. kysely's own transactions do not pipeline.
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
  throw new Error('use the transactions and streams of the warehouse, not those of kysely')
}

/** Makes the text of statements for one warehouse. */
export interface Compiler {
  readonly names: SchemaNames
  readonly plugin: SchemaPlugin
  readonly compile: (statement: Statement<unknown>) => CompiledQuery
}

export function createCompiler(names: SchemaNames): Compiler {
  const plugin = new SchemaPlugin(names)
  const db = typedStatements(() => Promise.reject(new Error('only compiles')), plugin)
  const compile: Compiler['compile'] = (statement) =>
    'compile' in statement ? statement.compile(db) : statement
  return { names, plugin, compile }
}
