import type { CompiledQuery } from 'kysely'
import { SchemaPlugin, type Statement } from './typed-database.js'
import type { SchemaNames } from './schema-names.js'
import { typedStatements } from './typed-statements.js'

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
