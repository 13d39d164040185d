import { CopiedRows } from '../connection/copy-rows.js'
import {
  quoteIdentifier,
  type SchemaNames,
  type Schemas,
  type TableName,
} from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'
import { readShippedTables } from '../schema/compare-schema.js'
import { holdsStoredRows } from '../schema/shipped-views.js'

type Reader = Pick<Session, 'query' | 'names'>

/** A table of ours, as it is moved. */
export interface MovedTable {
  /** With its schema, for people. */
  readonly name: string
  readonly schema: keyof Schemas
  readonly table: string
  /** In their order. */
  readonly columns: readonly string[]
  /** Whose values come from a sequence. */
  readonly identity: string | undefined
  /** Tables that its rows refer to, by `name`. */
  readonly parents: readonly string[]
}

/** Of the place and not of the data: the target has its own. */
const STAYING: readonly TableName[] = [
  'migrations',
  'installed_views',
  'lease',
  'request_budget',
  'stored_views',
  'time_zones',
]

interface TableRow {
  readonly nspname: string
  readonly relname: string
  readonly columns: readonly string[]
  readonly identity: string | null
  readonly parents: readonly string[]
}

/** Our tables with rows to move; those that others refer to come first. */
export async function listMovedTables({ query, names }: Reader): Promise<readonly MovedTable[]> {
  const staying = STAYING.map((name) => names.table(name).replaceAll('"', ''))
  const shipped = (await readShippedTables(names)).filter((name) => !staying.includes(name))
  const rows = await query<TableRow>(
    'list the tables',
    `select
    nspname::text,
    relname::text,
    (
        select array_agg(attname::text order by attnum)
        from pg_attribute
        where attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = ''
    ) as columns,
    (
        select attname::text
        from pg_attribute
        where attrelid = class.oid and attnum > 0 and attidentity <> ''
    ) as identity,
    array(
        select parent_schema.nspname || '.' || parent.relname
        from pg_constraint
        inner join pg_class as parent on parent.oid = confrelid
        inner join pg_namespace as parent_schema on parent_schema.oid = parent.relnamespace
        where conrelid = class.oid and contype = 'f'
    ) as parents
from pg_class as class
inner join pg_namespace on pg_namespace.oid = relnamespace
where relkind = 'r' and nspname = any($1::text[]) and nspname || '.' || relname = any($2::text[])
order by nspname, relname`,
    [movedSchemas(names), shipped],
  )
  const tables = rows.map(({ nspname, relname, columns, identity, parents }): MovedTable => {
    const schema = SCHEMAS.find((one) => names[one] === nspname) ?? 'data'
    const name = `${nspname}.${relname}`
    return { name, schema, table: relname, columns, identity: identity ?? undefined, parents }
  })
  return parentsFirst(tables)
}

const SCHEMAS = ['data', 'sync', 'analytics'] as const

const movedSchemas = (names: SchemaNames): string[] => SCHEMAS.map((schema) => names[schema])

/** References form no circle. */
function parentsFirst(tables: readonly MovedTable[]): MovedTable[] {
  const sorted = new Set<MovedTable>()
  const add = (table: MovedTable): void => {
    for (const parent of table.parents) {
      const found = tables.find(({ name }) => name === parent)
      if (found !== undefined && found !== table) add(found)
    }
    sorted.add(table)
  }
  tables.forEach(add)
  return [...sorted]
}

/**
 * Tables in our schemas that are not ours, by name: nobody moves them. The rows of stored views are
 * ours, and are stored anew from what was moved.
 */
export async function listForeignTables({ query, names }: Reader): Promise<readonly string[]> {
  const rows = await query<{ schema: string; table: string }>(
    'list the tables of others',
    `select nspname::text as schema, relname::text as table
from pg_class
inner join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'p', 'm') and nspname = any($1::text[])
    and not nspname || '.' || relname = any($2::text[])
order by nspname, relname`,
    [movedSchemas(names), await readShippedTables(names)],
  )
  return rows
    .filter(({ schema, table }) => schema !== names.sync || !holdsStoredRows(table))
    .map(({ schema, table }) => `${schema}.${table}`)
}

/** Equal contents mean equal rows, on any two servers and in any order. */
export interface Contents {
  readonly rows: number
  readonly digest: string
}

export function isSame(one: Contents, other: Contents): boolean {
  return one.rows === other.rows && one.digest === other.digest
}

/** Reads all of it. */
export async function readContents(session: Session, table: MovedTable): Promise<Contents> {
  const [contents] = await session.query<Contents>(
    `count ${table.name}`,
    `select
    count(*) as rows,
    coalesce(sum(
        ('x' || encode(substr(sha256(convert_to(
            row(${table.columns.map(quoteIdentifier).join(', ')})::text, 'UTF8'
        )), 1, 8), 'hex'))::bit(64)::bigint::numeric
    ), 0) as digest
from ${session.names.in(table.schema, table.table)}`,
  )
  if (contents === undefined) throw new Error('an aggregate has one row')
  return contents
}

/** About as much as is in memory at once; a row may be as large as a delivery. */
const PIECE_BYTES = 4 * 1024 * 1024
const FIRST_PIECE_ROWS = 100
const MOST_PIECE_ROWS = 5_000

/** Copies all rows, in the two transactions. `onRows` hears of every piece. */
export async function copyTable(
  table: MovedTable,
  source: Session,
  target: Session,
  onRows: (count: number) => void,
): Promise<void> {
  const reading = `read ${table.name}`
  await source.query(
    reading,
    `declare moved no scroll cursor for
select ${table.columns.map(quoteIdentifier).join('::text, ')}::text
from ${source.names.in(table.schema, table.table)}`,
  )
  const into = `${target.names.in(table.schema, table.table)} (${table.columns.map(quoteIdentifier).join(', ')})`
  for (let wanted = FIRST_PIECE_ROWS; ;) {
    const rows = await source.query<Record<string, string | null>>(
      reading,
      `fetch ${wanted} from moved`,
    )
    if (rows.length === 0) break
    const copied = new CopiedRows()
    for (const row of rows) copied.addRow(Object.values(row), [])
    const { length } = copied.bytes
    await target.copy(`write ${table.name}`, `copy ${into} from stdin`, copied)
    onRows(rows.length)
    const fitting = Math.floor((PIECE_BYTES * rows.length) / length)
    wanted = Math.min(Math.max(fitting, 1), MOST_PIECE_ROWS)
  }
  await source.query(reading, 'close moved')
}

/** The next value of the target's sequence is what the source's would have been. */
export async function copySequence(
  { name, schema, table, identity }: MovedTable,
  source: Session,
  target: Session,
): Promise<void> {
  if (identity === undefined) return
  const [state] = await source.query<{ last_value: number | null }>(
    `read the sequence of ${name}`,
    `select last_value
from pg_sequences
where format('%I.%I', schemaname, sequencename)::regclass
    = pg_get_serial_sequence($1, $2)::regclass`,
    [source.names.in(schema, table), identity],
  )
  await target.query(
    `set the sequence of ${name}`,
    `select setval(
    pg_get_serial_sequence($1, $2), coalesce($3::bigint, 1), $3::bigint is not null
)`,
    [target.names.in(schema, table), identity, state?.last_value ?? null],
  )
}
