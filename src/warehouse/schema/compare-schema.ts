import { sql, type RawBuilder } from 'kysely'
import { readFile } from 'node:fs/promises'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'
import { describeSchema, type CatalogReader } from './describe-schema.js'
import { SchemaNames, type Schemas } from '../connection/schema-names.js'
import { readViews } from './shipped-views.js'
import { tableRef } from '../connection/typed-database.js'

/** Differences of the schemas from this program's migrations, each a sentence. */
export interface SchemaComparison {
  /** Missing or altered objects of ours: statements may fail or be slow. */
  readonly broken: readonly string[]
  /** Objects of others. Tolerated: we never touch them. */
  readonly foreign: readonly string[]
}

const SCHEMA_FILE = projectFile('sql/schema.sql')

/** The schema name in `sql/schema.sql`. */
const SHIPPED_NAMES = new SchemaNames('tracking')

/**
 * Compares tables, columns, constraints, indexes, functions and views with the shipped ones, in a
 * database at this program's version. Reads only the catalogs and the shipped file, so that every
 * login may do it.
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

const SHOWN = 3

/**
 * Finds the list of migrations in the bookkeeping schema, even if its rows are hidden. A table of
 * another program has other columns.
 */
export const fromMigrations = ({ sync }: SchemaNames): RawBuilder<unknown> => sql`from pg_class
    where relname = 'migrations'
        and relkind = 'r'
        and relnamespace in (select oid from pg_namespace where nspname = ${sync})
        and 3 = (
            select count(*)
            from pg_attribute
            where attrelid = pg_class.oid
                and (
                    attname = 'version' and atttypid = 'pg_catalog.int4'::regtype
                    or attname in ('name', 'checksum') and atttypid = 'pg_catalog.text'::regtype
                )
        )`

/**
 * Throws MigrationError if the name of a table or view of ours is taken and nothing shows that it
 * is ours: the list of migrations is missing or known to be empty.
 */
export async function refuseUnknownTables(
  { names, query }: CatalogReader,
  isListEmpty = false,
): Promise<void> {
  const views = (await readViews()).map(({ schema, name }) => `${names[schema]}.${name}`)
  const found = await query(
    'look for tables in the way',
    sql<{ name: string }>`select nspname || '.' || relname as name
from pg_class
inner join pg_namespace
    on pg_namespace.oid = relnamespace
where nspname || '.' || relname = any(${[...(await readShippedTables(names)), ...views]}::text[])
    and (${isListEmpty} or not exists (select ${fromMigrations(names)}))
order by 1`,
  )
  if (found.length === 0) return
  const shown = found.slice(0, SHOWN).map(({ name }) => name)
  const rest = found.length - shown.length
  throw new MigrationError(
    `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${found.length === 1 ? 'has a name' : 'have names'} ` +
      `that this program needs, but nothing shows that it made them ` +
      `(${names.sync}.migrations lists none of its migrations). If another program did, set ` +
      `TRACKING_SCHEMA to a name of its own; if this one did, restore ${names.sync} from a backup, ` +
      `or drop the schemas ${Object.values(names).join(', ')} and run \`tracking-sync backfill\``,
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

/** If a whole table is missing or foreign, only the table is named. */
function isWithin(fact: string, isSo: (table: string) => boolean): boolean {
  const [, table] = /^(?:column|constraint) (\S+)\.[^.]+$/.exec(fact) ?? []
  return table !== undefined && isSo(`table ${table}`)
}

function firstLine(definition: string): string {
  return definition.split('\n')[0] ?? ''
}

/** `sql/schema.sql` for these schemas. The name of a session's setting is the same for all. */
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

/** PostgreSQL quotes a schema's name that is also a word of SQL; our functions always quote it. */
function unquoteSchemas(text: string, names: SchemaNames): string {
  let plain = text
  for (const name of Object.values(names)) plain = plain.replaceAll(`"${name}".`, `${name}.`)
  return plain
}

/** A schema as comparable facts: `column tracking.ports.name` → `text`. Without comments. */
type SchemaFacts = ReadonlyMap<string, string>

const TABLE = /^create (?:unlogged )?table (\S+) \($/
const INDEX = /^CREATE (?:UNIQUE )?INDEX (\S+) ON (\S+?)\.(?:.*)$/
const FUNCTION = /^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) ([^(]+)\(/
const CONSTRAINT = /^ {4}constraint (\S+) (.*?),?$/
const COLUMN = /^ {4}(\S+) (.*?),?$/

/** The line after a function's text: its own lines begin otherwise. */
const STATEMENT = /^(?:create |comment on |CREATE )/

function readSchemaFacts(schemaText: string): SchemaFacts {
  const facts = new Map<string, string>()
  let table: string | undefined
  let definition: string | undefined
  for (const line of schemaText.split('\n')) {
    if (definition !== undefined && !STATEMENT.test(line)) {
      facts.set(definition, `${facts.get(definition) ?? ''}\n${line}`.trimEnd())
      continue
    }
    definition = undefined
    const [, opened] = TABLE.exec(line) ?? []
    const [, index, schema] = INDEX.exec(line) ?? []
    const [, called] = FUNCTION.exec(line) ?? []
    if (opened !== undefined) {
      table = opened
      facts.set(`table ${table}`, line.startsWith('create unlogged') ? 'unlogged' : 'logged')
    } else if (line === ');') {
      table = undefined
    } else if (table !== undefined) {
      setMember(facts, table, line)
    } else if (index !== undefined) {
      facts.set(`index ${schema ?? ''}.${index}`, line.replace(/;$/, ''))
    } else if (called !== undefined) {
      definition = `function ${called}`
      facts.set(definition, line)
    }
  }
  return facts
}

function setMember(facts: Map<string, string>, table: string, line: string): void {
  const [, constraint, rule] = CONSTRAINT.exec(line) ?? []
  const [, column, type] = COLUMN.exec(line) ?? []
  if (constraint !== undefined) facts.set(`constraint ${table}.${constraint}`, rule ?? '')
  else if (column !== undefined) facts.set(`column ${table}.${column}`, type ?? '')
}

interface ViewComparison {
  readonly missing: readonly string[]
  readonly foreign: readonly string[]
}

/** Our missing views, and views of others on ours, which can make an upgrade fail. */
async function compareViews({ query, names }: CatalogReader): Promise<ViewComparison> {
  const installed = tableRef('sync.installed_views')
  const missing = await query(
    'look for our views',
    sql<{ name: string }>`select schema_name || '.' || view_name as name
    from ${installed} as installed
    where schema_name <> ${names.stored} and not exists (
        select from pg_class
        inner join pg_namespace
            on pg_namespace.oid = relnamespace
        where nspname = schema_name and relname = view_name and relkind in ('v', 'm')
    )
    order by 1`,
  )
  const foreign = await query(
    'look for views of others',
    sql<{ name: string; reads: string }>`select
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
    where own_schema.nspname = any(${Object.values(names)}::text[])
        and own.oid != view.oid
        and not exists (
            select from ${installed} as installed
            where schema_name = view_schema.nspname and view_name = view.relname
        )
    group by 1
    order by 1`,
  )
  return {
    missing: missing.map(({ name }) => `view ${name} is missing (run \`tracking-sync migrate\`)`),
    foreign: foreign.map(({ name, reads }) => `view ${name} (reads from ${reads})`),
  }
}
