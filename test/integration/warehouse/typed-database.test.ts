import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const pathOf = (file: string): string =>
  fileURLToPath(new URL(`../../../src/${file}`, import.meta.url))
const FILE = pathOf('warehouse/connection/typed-database.ts')
/** Adds the tables that users fill. */
const USERS = pathOf('extensions/answers/users-tables.ts')

const target = useTestWarehouse()

/** `table column` or `table column null`, as the type says it. */
function typedColumns(): string[] {
  const program = ts.createProgram([FILE, USERS], {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: ['node'],
  })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(FILE)
  const symbol = checker
    .getExportsOfModule(checker.getSymbolAtLocation(source!)!)
    .find(({ name }) => name === 'Database')
  const typeOf = (one: ts.Symbol): ts.Type => checker.getTypeOfSymbolAtLocation(one, source!)
  return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol!)).flatMap((table) =>
    checker.getPropertiesOfType(typeOf(table)).map((column) => {
      const text = checker.typeToString(typeOf(column), undefined, ts.TypeFormatFlags.NoTruncation)
      const mayBeNull = /\bnull\b|\bunknown\b|^Json$|JSONColumnType/.test(text)
      return `${table.name} ${column.name}${mayBeNull ? ' null' : ''}`
    }),
  )
}

it('the types name every table, column and null', { tags: ['release'] }, async () => {
  const stored = await target.rows<{
    schema: string
    name: string
    column: string
    mayBeNull: boolean
    type: string
  }>`
    select
        case nspname when 'tracking' then 'data' else replace(nspname, 'tracking_',
        '') end as schema,
        relname::text as name, attname::text as column, not attnotnull as "mayBeNull",
        atttypid::regtype::text as type
    from pg_attribute
    inner join pg_class on pg_class.oid = attrelid
    inner join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and attnum > 0 and not attisdropped
        and nspname in ('tracking', 'tracking_sync', 'tracking_analytics')`
  const expected = stored.map(({ schema, name, column, mayBeNull, type }) => {
    const isNull = mayBeNull || type === 'jsonb'
    return `${schema}.${name} ${column}${isNull ? ' null' : ''}`
  })
  // Stands in the schema that accounts share.
  const typed = typedColumns().filter((one) => !one.startsWith('sync.jobs '))
  expect(typed.length).toBeGreaterThan(500)
  expect(typed.sort()).toEqual(expected.sort())
})
