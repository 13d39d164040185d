import { sql, type RawBuilder } from 'kysely'
import { resources } from '../../../source/records/index.js'
import type { Resource, Sighting } from '../../../source/records/resource.js'
import { vesselPositions } from '../../../source/records/vessel.js'
import type { DataTable } from '../../../warehouse/connection/schema-names.js'
import { containerChildren, madeFrom } from '../../../warehouse/rows/container-children.js'
import { historyColumns } from '../../../warehouse/rows/history.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import {
  allTrue,
  anyDistinct,
  columnList,
  haveSameKey,
  tableRef,
} from '../../../warehouse/connection/typed-database.js'

/** A column in which a row and a record differ; both as PostgreSQL writes the value. */
export interface ColumnDifference {
  readonly column: string
  readonly warehouse: string | null
  readonly service: string | null
}

interface Row {
  readonly are_equal: readonly boolean[]
  readonly stored: readonly (string | null)[]
  readonly sent: readonly (string | null)[]
}

/**
 * Compares a record with its live row, column by column, in PostgreSQL's own types: 850.00 equals
 * 850. Skips columns that the record does not carry. Undefined without a live row. One query; reads
 * only.
 */
export async function compareRow(
  warehouse: Warehouse,
  { resource, values, unmapped }: Sighting,
): Promise<ColumnDifference[] | undefined> {
  const present = resource.columns.filter((_, index) => values[index] !== undefined)
  const sent = present.map(({ name }) => values[resource.columnIndex.get(name) ?? -1])
  const [row] = await warehouse.query(
    `compare a row of ${resource.stream}`,
    compareStatement(resource, present, sent, unmapped),
  )
  if (row === undefined) return undefined
  const names = [...present.map(({ name }) => name), '_unmapped']
  return names.flatMap((column, index) =>
    row.are_equal[index] === true
      ? []
      : [{ column, warehouse: row.stored[index] ?? null, service: row.sent[index] ?? null }],
  )
}

function compareStatement(
  resource: Resource,
  present: Resource['columns'],
  values: readonly unknown[],
  unmapped: string | null,
): RawBuilder<Row> {
  const columns = present.map(({ name, type }, at) => ({
    stored: sql.id('stored', name),
    sent: sql`${values[at]}::text::${sql.raw(type)}`,
    name,
  }))
  const rest = sql`${unmapped}::text::jsonb`
  const keys = columns.filter(({ name }) => resource.keyColumns.includes(name))
  const areEqual = columns.map(({ stored, sent }) => sql`${stored} is not distinct from ${sent}`)
  return sql<Row>`select
    array[
        ${sql.join(areEqual)},
        coalesce(stored._unmapped, '{}') @> coalesce(${rest}, '{}')
    ] as are_equal,
    array[${sql.join(columns.map(({ stored }) => sql`${stored}::text`))}, stored._unmapped::text] as stored,
    array[${sql.join(columns.map(({ sent }) => sql`${sent}::text`))}, ${rest}::text] as sent
from ${tableRef(`data.${resource.stream}`)} as stored
where ${allTrue(keys.map(({ stored, sent }) => sql`${stored} = ${sent}`))}
    and stored._deleted_at is null`
}

/**
 * Keys of live rows in an order that depends only on `seed`: the same seed and the same rows give
 * the same sample. Reads the whole table.
 */
export async function sampleLiveKeys(
  warehouse: Warehouse,
  resource: Resource,
  count: number,
  seed: number,
): Promise<string[]> {
  const key = sql.id(resource.idColumn)
  const rows = await warehouse.query(
    `sample ${resource.stream}`,
    sql<{ id: string }>`select ${key} as id
from ${tableRef(`data.${resource.stream}`)}
where _deleted_at is null
order by md5(${String(seed)}::text || ${key}), ${key}
limit ${count}`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Ids of places and vessels of a type that live rows point to and that lack a live row themselves,
 * at most `limit`. Reads the tables that point to them.
 */
export async function findDanglingReferences(
  warehouse: Warehouse,
  target: Resource,
  limit: number,
): Promise<string[]> {
  const pointing = resources.flatMap(({ stream, relationships }) =>
    [...relationships].flatMap(([name, spec]) => {
      const isOne = spec.kind === 'one' && spec.type === target.type
      if (!isOne && spec.kind !== 'polymorphic') return []
      const id = sql.id(`${name}_id`)
      const isOfType = isOne ? sql`true` : sql`${sql.id(`${name}_type`)} = ${target.type}`
      return sql`select ${id} as id from ${tableRef(`data.${stream}`)}
    where _deleted_at is null and ${id} is not null and ${isOfType}`
    }),
  )
  if (pointing.length === 0) return []
  const key = sql.id(target.idColumn)
  const rows = await warehouse.query(
    `look for ${target.stream} without a row`,
    sql<{ id: string }>`select pointed.id
from (
    ${sql.join(pointing, sql` union `)}
) as pointed
where not exists (
        select from ${tableRef(`data.${target.stream}`)} as stored
        where stored.${key} = pointed.id and stored._deleted_at is null
    )
order by pointed.id
limit ${limit}`,
  )
  return rows.map(({ id }) => id)
}

/** Positions of a vessel that the warehouse lacks or has with other values. */
export async function comparePositions(
  warehouse: Warehouse,
  { positions = [] }: Sighting,
): Promise<ColumnDifference[]> {
  const { table, columns } = vesselPositions
  const names = columns.map(({ name }) => name)
  const cast = columns.map(({ name, type }) => sql`${sql.id('raw', name)}::${sql.raw(type)}`)
  const lists = columns.map((_, at) => sql`${positions.map((row) => row[at] ?? null)}::text[]`)
  const rows = await warehouse.query(
    `compare ${table}`,
    sql<{ sent: string; stored: string | null }>`select sent::text as sent, stored::text as stored
from (
    select ${sql.join(cast)}
    from unnest(${sql.join(lists)}) as raw (${columnList(names)})
) as sent (${columnList(names)})
left join (select ${columnList(names)} from ${tableRef('data.vessel_positions')}) as stored
    on stored.vessel_id = sent.vessel_id and stored.position_at = sent.position_at
where stored.vessel_id is null or ${anyDistinct('stored', 'sent', names.slice(2))}
order by sent.position_at`,
  )
  return rows.map(({ sent, stored }) => ({ column: table, warehouse: stored, service: sent }))
}

/** Counts the rows of a table without tombstones. */
export async function countRows(warehouse: Warehouse, table: DataTable): Promise<number> {
  const [row] = await warehouse.query(
    `count ${table}`,
    sql<{ count: number }>`select count(*) as count from ${tableRef(`data.${table}`)}`,
  )
  return row?.count ?? 0
}

/** A table with its history. The open versions must equal the live rows. */
interface Versioned {
  readonly table: DataTable
  readonly history: DataTable
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  readonly isMarked: boolean
}

const VERSIONED: readonly Versioned[] = [
  ...resources.flatMap((resource) => {
    const { stream, historyTable, idColumn } = resource
    if (historyTable === undefined) return []
    const columns = historyColumns(resource)
    return { table: stream, history: historyTable, keys: [idColumn], columns, isMarked: true }
  }),
  ...containerChildren.map(({ table, historyTable, keyColumn, material }) => ({
    table,
    history: historyTable,
    keys: ['container_id', keyColumn],
    columns: material,
    isMarked: false,
  })),
]

export interface HistoryComparison {
  readonly table: string
  /** All open versions. */
  readonly compared: number
  /** Values in the open versions, without nulls. */
  readonly values: number
  /** Keys whose open version or live row is missing, or has other values. */
  readonly differing: readonly string[]
}

/** Compares the open versions of every history with the live rows. Reads whole tables. */
export async function compareHistories(warehouse: Warehouse): Promise<HistoryComparison[]> {
  const comparisons: HistoryComparison[] = []
  for (const { table, history, keys, columns, isMarked } of VERSIONED) {
    const list = columnList([...keys, ...columns])
    const key = keys.map(
      (name) => sql`coalesce(${sql.id('standing', name)}, ${sql.id('version', name)})`,
    )
    const [found] = await warehouse.query(
      `compare ${history}`,
      sql<{ compared: number; values: number; differing: string[] | null }>`select
    count(version)::integer as compared,
    coalesce(sum(num_nonnulls(${columnList(columns, 'version')})), 0)::integer as values,
    array_agg(${sql.join(key, sql` || ' ' || `)}) filter (where standing is distinct from version) as differing
from (
    select ${list} from ${tableRef(`data.${table}`)} where ${isMarked ? sql`_deleted_at is null` : sql`true`}
) as standing
full join (
    select ${list} from ${tableRef(`data.${history}`)} where valid_to is null
) as version
    on ${haveSameKey('standing', 'version', keys)}`,
    )
    const { compared = 0, values = 0, differing = null } = found ?? {}
    comparisons.push({ table: history, compared, values, differing: (differing ?? []).sort() })
  }
  return comparisons
}

/** Ids of the live transport events of a container, in order. */
export async function loadLiveEventIds(
  warehouse: Warehouse,
  containerId: string,
): Promise<string[]> {
  const rows = await warehouse.query(
    'list the transport events of a container',
    sql<{ id: string }>`select transport_event_id as id
from ${tableRef('data.transport_events')}
where container_id = ${containerId} and _deleted_at is null
order by transport_event_id`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Compares the stored deadlines, holds and fees of a container with what its row gives: the
 * differences, table by table, as JSON texts. Reads only.
 */
export async function compareDerived(
  warehouse: Warehouse,
  containerId: string,
): Promise<ColumnDifference[]> {
  const differences: ColumnDifference[] = []
  for (const child of containerChildren) {
    const columns = [child.keyColumn, ...child.material, ...child.immaterial]
    const rowsOf = (relation: RawBuilder<unknown>): RawBuilder<unknown> =>
      sql`(select jsonb_agg(to_jsonb(one) order by ${sql.id('one', child.keyColumn)})::text from (${relation}) as one)`
    const [row] = await warehouse.query(
      `compare ${child.table}`,
      sql<{ stored: string | null; made: string | null }>`select
    ${rowsOf(sql`select ${columnList(columns, 'standing')}
        from ${tableRef(`data.${child.table}`)} as standing
        where standing.container_id = ${containerId}`)} as stored,
    ${rowsOf(sql`select ${columnList(columns, 'child')}
        from ${tableRef('data.containers')} as parent
        cross join lateral ${madeFrom(child, 'parent')} as child
        where parent.container_id = ${containerId} and parent._deleted_at is null`)} as made`,
    )
    const { stored = null, made = null } = row ?? {}
    if (stored !== made) differences.push({ column: child.table, warehouse: stored, service: made })
  }
  return differences
}
