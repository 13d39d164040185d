import { readFile } from 'node:fs/promises'
import { projectFile } from '../../base/project-file.js'
import { describeSchema, type CatalogReader } from './describe-schema.js'
import { readSchemaFacts, type SchemaFacts } from './schema-facts.js'
import { SchemaNames, type Schemas } from '../connection/schema-names.js'

/** How the schemas differ from what this program's migrations make; each a sentence for people. */
export interface SchemaComparison {
  /** Something of ours is gone or another: statements may fail or be slow. */
  readonly broken: readonly string[]
  /** Something stands there that is not ours. Tolerated: we never touch it. */
  readonly foreign: readonly string[]
}

const SCHEMA_FILE = projectFile('sql/schema.sql')

/** The schema in whose name `sql/schema.sql` is written. */
const SHIPPED_NAMES = new SchemaNames('tracking')

/**
 * Compares tables, columns, constraints, indexes, functions and views with what this program ships, for a database that is at this
 * program's version. Reads the catalogs only, as anybody may.
 */
export async function compareSchema(reader: CatalogReader): Promise<SchemaComparison> {
  const shipped = await readFile(SCHEMA_FILE, 'utf8')
  const expected = readSchemaFacts(renameSchemas(shipped, reader.names))
  const found = readSchemaFacts(unquoteSchemas(await describeSchema(reader), reader.names))
  const views = await compareViews(reader)
  return {
    broken: [...brokenFacts(expected, found), ...views.missing],
    foreign: [...foreignFacts(expected, found), ...views.foreign],
  }
}

/** The tables that this program ships, as `schema.table`, by the names of these schemas. */
export async function readShippedTables(names: SchemaNames): Promise<string[]> {
  const shipped = renameSchemas(await readFile(SCHEMA_FILE, 'utf8'), names)
  return [...shipped.matchAll(/^create (?:unlogged )?table (\S+) \(/gm)].map(
    ([, table = '']) => table,
  )
}

function brokenFacts(expected: SchemaFacts, found: SchemaFacts): string[] {
  return [...expected].flatMap(([fact, wanted]) => {
    const actual = found.get(fact)
    if (actual === wanted || isWithin(fact, (table) => !found.has(table))) return []
    if (actual === undefined) return [`${fact} is missing (${firstLine(wanted)})`]
    if (fact.startsWith('function')) return [`${fact} has another definition`]
    return [`${fact} is "${actual}" and should be "${wanted}"`]
  })
}

function foreignFacts(expected: SchemaFacts, found: SchemaFacts): string[] {
  return [...found.keys()].filter(
    (fact) => !expected.has(fact) && !isWithin(fact, (table) => !expected.has(table)),
  )
}

/** Of a whole table that is missing or foreign, the table alone is told. */
function isWithin(fact: string, isSo: (table: string) => boolean): boolean {
  const [, table] = /^(?:column|constraint) (\S+)\.[^.]+$/.exec(fact) ?? []
  return table !== undefined && isSo(`table ${table}`)
}

function firstLine(definition: string): string {
  return definition.split('\n')[0] ?? ''
}

/** What `sql/schema.sql` says, of these schemas. The name of a session's setting is the same for all. */
function renameSchemas(shipped: string, names: SchemaNames): string {
  const byShippedName = new Map(
    Object.entries(SHIPPED_NAMES).map(([kind, name]) => [name, names[kind as keyof Schemas]]),
  )
  return unquoteSchemas(shipped, SHIPPED_NAMES).replace(
    /\b(tracking(?:_\w+)?)\.(?!as_of')/g,
    (text, name: string) => {
      const own = byShippedName.get(name)
      return own === undefined ? text : `${own}.`
    },
  )
}

/** PostgreSQL quotes a schema's name where it is also a word of SQL, and our functions always do. */
function unquoteSchemas(text: string, names: SchemaNames): string {
  let plain = text
  for (const name of Object.values(names)) plain = plain.replaceAll(`"${name}".`, `${name}.`)
  return plain
}

interface ViewComparison {
  readonly missing: readonly string[]
  readonly foreign: readonly string[]
}

/** Views of ours that are gone, and views of others that read from ours: those make an upgrade that changes a column fail. */
async function compareViews({ query, names }: CatalogReader): Promise<ViewComparison> {
  const installed = names.table('installed_views')
  const missing = await query<{ name: string }>(
    'look for our views',
    `select schema_name || '.' || view_name as name
    from ${installed} as installed
    where not exists (
        select from pg_class
        inner join pg_namespace
            on pg_namespace.oid = relnamespace
        where nspname = schema_name and relname = view_name and relkind in ('v', 'm')
    )
    order by 1`,
  )
  const foreign = await query<{ name: string; reads: string }>(
    'look for views of others',
    `select
        view_schema.nspname || '.' || view.relname as name,
        min(own_schema.nspname || '.' || own.relname) as reads
    from pg_depend as depend
    inner join pg_rewrite as rule
        on rule.oid = depend.objid and depend.classid = 'pg_rewrite'::regclass
    inner join pg_class as view
        on view.oid = rule.ev_class
    inner join pg_namespace as view_schema
        on view_schema.oid = view.relnamespace
    inner join pg_class as own
        on own.oid = depend.refobjid and depend.refclassid = 'pg_class'::regclass
    inner join pg_namespace as own_schema
        on own_schema.oid = own.relnamespace
    where own_schema.nspname = any($1::text[])
        and own.oid != view.oid
        and not exists (
            select from ${installed} as installed
            where schema_name = view_schema.nspname and view_name = view.relname
        )
    group by 1
    order by 1`,
    [Object.values(names)],
  )
  return {
    missing: missing.map(({ name }) => `view ${name} is missing (run \`tracking-sync migrate\`)`),
    foreign: foreign.map(({ name, reads }) => `view ${name} (reads from ${reads})`),
  }
}
