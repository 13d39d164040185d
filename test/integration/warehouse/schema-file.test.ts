import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { dbtExposures, dbtSources, keysOf } from '../../../scripts/documents/dbt-models.js'
import {
  describeDictionary,
  describeReferences,
} from '../../../scripts/documents/describe-dictionary.js'
import { grafanaDashboard } from '../../../scripts/documents/grafana-dashboard.js'
import {
  describeSchema,
  readCatalog,
} from '../../../src/extensions/doctor/schema/describe-schema.js'
import { readViews } from '../../../src/warehouse/schema/shipped-views.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const opened = useTestWarehouse()

it('sql/schema.sql is what a migrated database holds: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../sql/schema.sql', import.meta.url), 'utf8')
  expect(file, 'sql/schema.sql is out of date; run `npm run db:dump`').toBe(
    await describeSchema(opened.warehouse),
  )
})

it('docs/dictionary.md says what the comments of the database say: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../docs/dictionary.md', import.meta.url), 'utf8')
  expect(file, 'docs/dictionary.md is out of date; run `npm run db:dump`').toBe(
    describeDictionary(await readCatalog(opened.warehouse), opened.warehouse.names),
  )
  const tables = await readFile(new URL('../../../docs/tables.md', import.meta.url), 'utf8')
  expect(tables, 'its picture is out of date; run `npm run db:dump`').toContain(
    describeReferences(await readCatalog(opened.warehouse), opened.warehouse.names),
  )
})

it('config/dbt says the same: run `npm run db:dump` when this fails', async () => {
  const catalog = await readCatalog(opened.warehouse)
  const read = (name: string) =>
    readFile(new URL(`../../../config/dbt/${name}`, import.meta.url), 'utf8')
  expect(await read('sources.yml')).toBe(dbtSources(catalog, await keysOf(await readViews())))
  const exposures = await read('exposures.yml')
  expect(exposures).toBe(dbtExposures(catalog, grafanaDashboard()))
  const views = [...exposures.matchAll(/source\('tracking_analytics', '(\w+)'\)/g)]
  expect(views.length).toBeGreaterThan(3)
  const silent = catalog.flatMap(({ name: schema, comment, relations }) => [
    ...(comment ? [] : [schema]),
    ...relations.flatMap(({ name, comment: meaning, columns }) => [
      ...(meaning ? [] : [`${schema}.${name}`]),
      ...columns.flatMap((one) => (one.comment ? [] : [`${schema}.${name}.${one.name}`])),
    ]),
  ])
  expect(silent, 'every table, view and column has its meaning').toEqual([])
})

const pathOf = (file: string): string =>
  fileURLToPath(new URL(`../../../src/${file}`, import.meta.url))
const FILE = pathOf('warehouse/connection/typed-database.ts')
/** Adds the tables that users fill. */
const USERS = pathOf('extensions/answers/users-tables.ts')

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
  const stored = await opened.rows<{
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
