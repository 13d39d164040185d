import { sql } from 'kysely'
import { quoteIdentifier, type SchemaNames } from '../../src/warehouse/connection/schema-names.js'
import type { Session } from '../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

/** Where rows are read from: a warehouse, or one transaction of it. */
export interface RowReader extends Pick<Session, 'query'> {
  readonly names: SchemaNames
}

/** How many rows were compared, and in how many of them each column had a value. */
export interface Tally {
  rows: number
  readonly values: Map<string, number>
}

export type Row = Readonly<Record<string, unknown>>

export interface TableSnapshot {
  /** PostgreSQL's name of each column's type. */
  readonly types: ReadonlyMap<string, string>
  readonly rows: readonly Row[]
  /** The rows compared of it so far. */
  readonly tally: Tally
}

/**
 * Notes a row that is compared in all columns but some and our own (`_…`). Null and an empty list
 * are not a value.
 */
export function countRow(
  table: TableSnapshot | undefined,
  row: Row,
  ignored: readonly string[] = [],
): void {
  if (table === undefined) return
  const { tally } = table
  tally.rows += 1
  for (const [column, value] of Object.entries(row)) {
    if (value === null || (Array.isArray(value) && value.length === 0)) continue
    if (column.startsWith('_') || ignored.includes(column)) continue
    tally.values.set(column, (tally.values.get(column) ?? 0) + 1)
  }
}

/** Every data table with all of its rows, in no order: one query for the columns, one per table. */
export async function loadTables(reader: RowReader): Promise<Map<string, TableSnapshot>> {
  const columns = await reader.query(
    'read the columns',
    sql<{
      table: string
      column: string
      type: string
    }>`select class.relname as table, attribute.attname as column,
        format_type(attribute.atttypid, attribute.atttypmod) as type
    from pg_class as class
    inner join pg_namespace as namespace on namespace.oid = class.relnamespace
    inner join pg_attribute as attribute on attribute.attrelid = class.oid
    where namespace.nspname = ${reader.names.data} and class.relkind in ('r', 'p')
        and attribute.attnum > 0 and not attribute.attisdropped
    order by class.relname, attribute.attnum`,
  )
  const tables = new Map<string, { types: Map<string, string>; rows: Row[]; tally: Tally }>()
  for (const { table, column, type } of columns) {
    const known = tables.get(table) ?? {
      types: new Map<string, string>(),
      rows: [],
      tally: { rows: 0, values: new Map<string, number>() },
    }
    known.types.set(column, type)
    tables.set(table, known)
  }
  for (const [name, table] of tables) {
    table.rows = await reader.query(
      `read ${name}`,
      sql<Row>`select * from ${sql.raw(dataTable(reader, name))}`,
    )
  }
  return tables
}

function dataTable({ names }: RowReader, table: string): string {
  return names.in('data', table)
}

/** Count and digest of every table, by name; equal snapshots mean equal rows. */
export type RowSnapshot = Readonly<Record<string, string>>

/**
 * The tables that every run writes to; all others stay as they are when nothing happened at the
 * source.
 */
const RUN_TABLES = [
  'sync_runs',
  'sync_run_streams',
  'checkpoints',
  'pass_positions',
  'transport_event_checks',
  'reference_checks',
  'pass_shares',
  'lease',
  'request_budget',
  'schema_drift',
  'seen_attributes',
]

/**
 * Data and bookkeeping, the rows about runs excepted. A row written again with equal values counts
 * as another one: it is identified by its place and the transaction that wrote it. Throws when
 * there is nothing to compare, but not for tests that prove the absence of rows.
 */
export async function snapshotRows(
  reader: RowReader,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<RowSnapshot> {
  const { names } = reader
  const tables = await reader.query(
    'list the tables',
    sql<{
      schema: string
      name: string
    }>`select schemaname as schema, tablename as name from pg_tables
    where schemaname in (${names.data}, ${names.sync}) and tablename != all (${RUN_TABLES}::text[]) order by 1, 2`,
  )
  const digests = tables.map(
    ({ schema, name }) =>
      `select '${name}' as name, count(*) || ' rows ' ||
        coalesce(sum(hashtextextended(stored.ctid::text || ' ' || stored.xmin::text, 0))::text, '')
        as summary
      from ${quoteIdentifier(schema)}.${quoteIdentifier(name)} as stored`,
  )
  const rows = await reader.query(
    'digest the tables',
    rawStatement<{ name: string; summary: string }>(digests.join(' union all ')),
  )
  const snapshot = Object.fromEntries(rows.map(({ name, summary }) => [name, summary]))
  const isEmpty = rowCount(snapshot, 'containers') + rowCount(snapshot, 'tracking_requests') === 0
  if (isEmpty && !mayBeEmpty) throw new Error('A snapshot of nothing proves nothing.')
  return snapshot
}

/** Rows of a table, by the snapshot's own words. */
export function rowCount(snapshot: RowSnapshot, table: string): number {
  return Number.parseInt(snapshot[table] ?? '', 10)
}
