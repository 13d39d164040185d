import { sql } from 'kysely'
import { tableRef } from '../../../warehouse/connection/typed-database.js'
import {
  readShippedSchema,
  unquoteSchemas,
  type CatalogReader,
} from '../../../warehouse/schema/shipped-tables.js'
import { describeSchema } from './describe-schema.js'

/** Differences of the schemas from this program's migrations, each a sentence. */
export interface SchemaComparison {
  /** Missing or altered objects of ours: statements may fail or be slow. */
  readonly broken: readonly string[]
  /** Objects of others. Tolerated: we never touch them. */
  readonly foreign: readonly string[]
}

/**
 * Compares tables, columns, constraints, indexes, functions and views with the shipped ones, in a
 * database at this program's version. Reads only the catalogs and the shipped file, so that every
 * login may do it.
 */
export async function compareSchema(reader: CatalogReader): Promise<SchemaComparison> {
  const expected = readSchemaFacts(await readShippedSchema(reader.names))
  const found = readSchemaFacts(unquoteSchemas(await describeSchema(reader), reader.names))
  const views = await compareViews(reader)
  return {
    broken: [...brokenFacts(expected, found), ...views.missing],
    foreign: [...foreignFacts(expected, found), ...views.foreign],
  }
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
