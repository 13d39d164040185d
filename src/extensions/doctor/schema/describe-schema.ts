import { sql } from 'kysely'
import { holdsStoredRows } from '../../../warehouse/schema/shipped-views.js'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'

/** A column in the catalogs. */
export interface CatalogColumn {
  readonly name: string
  /** PostgreSQL's own name of the type, `text[]` or `timestamp with time zone`. */
  readonly type: string
  readonly collation: string | null
  readonly isNotNull: boolean
  /** Text of the default; null without one. */
  readonly default: string | null
  /** `always` or `by default` for an identity column, else null. */
  readonly identity: string | null
  readonly comment: string | null
}

/** A table or view of ours. */
export interface CatalogRelation {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'materialized view'
  /** Unlogged: empty after a crash of the server. */
  readonly isUnlogged: boolean
  readonly comment: string | null
  readonly columns: readonly CatalogColumn[]
  /** `name: definition`, by name. Not-null constraints are part of their column. */
  readonly constraints: readonly string[]
  /** Statements of the indexes without a constraint, by name. */
  readonly indexes: readonly string[]
}

export interface CatalogSchema {
  readonly name: string
  readonly comment: string | null
  readonly relations: readonly CatalogRelation[]
  /** Definitions of functions and procedures, in order of signature. */
  readonly functions: readonly string[]
}

/**
 * The contents of our schemas, from the catalogs. Independent of the server's version. Reads only.
 */
export async function readCatalog(reader: CatalogReader): Promise<CatalogSchema[]> {
  const { names } = reader
  const found = await reader.query(
    'read the schemas',
    sql<{
      name: string
      comment: string | null
    }>`select nspname as name, obj_description(oid, 'pg_namespace') as comment
    from pg_namespace
    where nspname = any(${Object.values(names)}::text[])
    order by nspname collate "C"`,
  )
  const schemas: CatalogSchema[] = []
  for (const { name, comment } of found) {
    schemas.push({
      name,
      comment,
      relations: await readRelations(reader, name),
      functions: await readFunctions(reader, name),
    })
  }
  return schemas
}

async function readRelations({ query }: CatalogReader, schema: string): Promise<CatalogRelation[]> {
  const columns = await query(
    'read the columns',
    sql<CatalogColumn & { readonly relation: string }>`select
    class.relname as relation,
    attribute.attname as name,
    format_type(attribute.atttypid, attribute.atttypmod) as type,
    case when attribute.attcollation != type.typcollation
        then (select collname from pg_collation where oid = attribute.attcollation)
    end as collation,
    attribute.attnotnull as "isNotNull",
    pg_get_expr(attrdef.adbin, attrdef.adrelid) as "default",
    case attribute.attidentity when 'a' then 'always' when 'd' then 'by default' end as identity,
    col_description(class.oid, attribute.attnum) as comment
from pg_class as class
inner join pg_attribute as attribute
    on attribute.attrelid = class.oid
inner join pg_type as type
    on type.oid = attribute.atttypid
left join pg_attrdef as attrdef
    on attrdef.adrelid = class.oid and attrdef.adnum = attribute.attnum
where class.relnamespace = (select oid from pg_namespace where nspname = ${schema}::text)
    and class.relkind in ('r', 'p', 'v', 'm')
    and attribute.attnum > 0
    and not attribute.attisdropped
order by class.relname collate "C", attribute.attnum`,
  )
  const relations = await query(
    'read the tables and views',
    sql<Omit<CatalogRelation, 'columns'>>`select
    ${schema}::text as schema,
    class.relname as name,
    case class.relkind
        when 'v' then 'view' when 'm' then 'materialized view' else 'table'
    end as kind,
    class.relpersistence = 'u' as "isUnlogged",
    obj_description(class.oid, 'pg_class') as comment,
    array(
        select conname || ': ' || pg_get_constraintdef(oid)
        from pg_constraint
        where conrelid = class.oid and contype != 'n'
        order by conname collate "C"
    ) as constraints,
    array(
        select pg_get_indexdef(index.indexrelid)
        from pg_index as index
        inner join pg_class as index_class
            on index_class.oid = index.indexrelid
        where index.indrelid = class.oid
            and not exists (select from pg_constraint where conindid = index.indexrelid)
        order by index_class.relname collate "C"
    ) as indexes
from pg_class as class
where class.relnamespace = (select oid from pg_namespace where nspname = ${schema}::text)
    and class.relkind in ('r', 'p', 'v', 'm')
order by class.relname collate "C"`,
  )
  return relations.map((relation) => ({
    ...relation,
    columns: columns.filter((column) => column.relation === relation.name),
  }))
}

async function readFunctions(reader: CatalogReader, schema: string): Promise<string[]> {
  const rows = await reader.query(
    'read the functions',
    sql<{ definition: string }>`select pg_get_functiondef(oid) as definition
    from pg_proc
    where pronamespace = (select oid from pg_namespace where nspname = ${schema}::text)
        and prokind in ('f', 'p')
    order by oid::regprocedure::text collate "C"`,
  )
  return rows.map(({ definition }) => definition)
}

/**
 * The text of `sql/schema.sql`: our schemas as SQL, without views, which have files of their own,
 * and without tables of stored ones. A test compares it with a migrated database.
 */
export async function describeSchema(reader: CatalogReader): Promise<string> {
  const schemas = (await readCatalog(reader)).map((schema) => ({
    ...schema,
    relations: schema.relations.filter(
      ({ kind, name }) => kind === 'table' && !holdsStoredRows(name),
    ),
  }))
  const title = '-- What a migrated database holds. Written by `npm run db:dump`; do not edit.'
  return `${title}\n\n${formatCatalog(schemas)}`
}

/** The tables and functions of the catalog as SQL for people to read. */
function formatCatalog(schemas: readonly CatalogSchema[]): string {
  const statements: string[] = []
  for (const schema of schemas) {
    statements.push(`create schema ${schema.name};`)
    if (schema.comment !== null) {
      statements.push(`comment on schema ${schema.name} is ${quoteText(schema.comment)};`)
    }
    for (const relation of schema.relations) statements.push(formatRelation(relation))
    for (const definition of schema.functions) statements.push(`${definition.trim()};`)
  }
  return `${statements.join('\n\n')}\n`
}

function formatRelation(relation: CatalogRelation): string {
  const name = `${relation.schema}.${relation.name}`
  const members = [
    ...relation.columns.map(formatColumn),
    ...relation.constraints.map((constraint) => `    constraint ${constraint.replace(': ', ' ')}`),
  ]
  const create = `create ${relation.isUnlogged ? 'unlogged ' : ''}table ${name}`
  const lines = [`${create} (`, members.join(',\n'), ');']
  const comments = relation.columns.flatMap((column) =>
    column.comment === null
      ? []
      : [`comment on column ${name}.${column.name} is ${quoteText(column.comment)};`],
  )
  const own =
    relation.comment === null ? [] : [`comment on table ${name} is ${quoteText(relation.comment)};`]
  return [...lines, ...relation.indexes.map((index) => `${index};`), ...own, ...comments].join('\n')
}

function formatColumn(column: CatalogColumn): string {
  const parts = [`    ${column.name} ${column.type}`]
  if (column.collation !== null) parts.push(`collate "${column.collation}"`)
  if (column.isNotNull) parts.push('not null')
  if (column.default !== null) parts.push(`default ${column.default}`)
  if (column.identity !== null) parts.push(`generated ${column.identity} as identity`)
  return parts.join(' ')
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
