import { resources } from '../../source/records/index.js'
import type { Resource, Sighting } from '../../source/records/resource.js'
import { vesselPositions } from '../../source/records/vessel.js'
import { quoteIdentifier, type TableName } from '../connection/schema-names.js'
import { containerChildren, madeFrom } from './container-children.js'
import { historyColumns } from './history.js'
import { anyDistinct } from './incoming-rows.js'
import type { Warehouse } from '../connection/warehouse.js'

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
 * 850. What the record does not carry is not compared. Undefined when there is no live row. One
 * query; reads only.
 */
export async function compareRow(
  warehouse: Warehouse,
  { resource, values, unmapped }: Sighting,
): Promise<ColumnDifference[] | undefined> {
  const present = resource.columns.filter((_, index) => values[index] !== undefined)
  const sent = present.map(({ name }) => values[resource.columnIndex.get(name) ?? -1])
  const [row] = await warehouse.query<Row>(
    `compare a row of ${resource.stream}`,
    compareSql(warehouse, resource, present),
    [...sent, unmapped],
  )
  if (row === undefined) return undefined
  const names = [...present.map(({ name }) => name), '_unmapped']
  return names.flatMap((column, index) =>
    row.are_equal[index] === true
      ? []
      : [{ column, warehouse: row.stored[index] ?? null, service: row.sent[index] ?? null }],
  )
}

function compareSql(
  { names }: Warehouse,
  resource: Resource,
  present: Resource['columns'],
): string {
  const columns = present.map(({ name, type }, index) => ({
    stored: `stored.${quoteIdentifier(name)}`,
    sent: `$${index + 1}::text::${type}`,
    name,
  }))
  const unmapped = `$${present.length + 1}::text::jsonb`
  const keys = columns.filter(({ name }) => resource.keyColumns.includes(name))
  return `select
    array[
        ${columns.map(({ stored, sent }) => `${stored} is not distinct from ${sent}`).join(',\n        ')},
        coalesce(stored._unmapped, '{}') @> coalesce(${unmapped}, '{}')
    ] as are_equal,
    array[${columns.map(({ stored }) => `${stored}::text`).join(', ')}, stored._unmapped::text] as stored,
    array[${columns.map(({ sent }) => `${sent}::text`).join(', ')}, ${unmapped}::text] as sent
from ${names.table(resource.stream)} as stored
where ${keys.map(({ stored, sent }) => `${stored} = ${sent}`).join(' and ')}
    and stored._deleted_at is null`
}

/**
 * Keys of live rows in an order that only `seed` decides: the same seed and the same rows, the same
 * sample. Reads the whole table.
 */
export async function sampleLiveKeys(
  warehouse: Warehouse,
  resource: Resource,
  count: number,
  seed: number,
): Promise<string[]> {
  const key = quoteIdentifier(resource.idColumn)
  const rows = await warehouse.query<{ id: string }>(
    `sample ${resource.stream}`,
    `select ${key} as id
from ${warehouse.names.table(resource.stream)}
where _deleted_at is null
order by md5($1::text || ${key}), ${key}
limit $2`,
    [String(seed), count],
  )
  return rows.map(({ id }) => id)
}

/**
 * Ids of places and vessels of a type that live rows point to and that have no live row themselves,
 * at most `limit`. Reads the tables that point to them.
 */
export async function findDanglingReferences(
  warehouse: Warehouse,
  target: Resource,
  limit: number,
): Promise<string[]> {
  const { names } = warehouse
  const pointing = resources.flatMap(({ stream, relationships }) =>
    [...relationships].flatMap(([name, spec]) => {
      const isOne = spec.kind === 'one' && spec.type === target.type
      if (!isOne && spec.kind !== 'polymorphic') return []
      const type = isOne ? '' : ` and ${quoteIdentifier(`${name}_type`)} = $1`
      return `select ${quoteIdentifier(`${name}_id`)} as id from ${names.table(stream)}
    where _deleted_at is null and ${quoteIdentifier(`${name}_id`)} is not null${type}`
    }),
  )
  if (pointing.length === 0) return []
  const key = quoteIdentifier(target.idColumn)
  const rows = await warehouse.query<{ id: string }>(
    `look for ${target.stream} without a row`,
    `select pointed.id
from (
    ${pointing.join('\n    union\n    ')}
) as pointed
where $1::text is not null
    and not exists (
        select from ${names.table(target.stream)} as stored
        where stored.${key} = pointed.id and stored._deleted_at is null
    )
order by pointed.id
limit $2`,
    [target.type, limit],
  )
  return rows.map(({ id }) => id)
}

/** Positions of a vessel that the service sends and the warehouse has not, or has otherwise. */
export async function comparePositions(
  warehouse: Warehouse,
  { positions = [] }: Sighting,
): Promise<ColumnDifference[]> {
  const { table, columns } = vesselPositions
  const names = columns.map(({ name }) => quoteIdentifier(name))
  const cast = columns.map(({ name, type }) => `raw.${quoteIdentifier(name)}::${type}`)
  const rows = await warehouse.query<{ sent: string; stored: string | null }>(
    `compare ${table}`,
    `select sent::text as sent, stored::text as stored
from (
    select ${cast.join(', ')}
    from unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) as raw (${names.join(', ')})
) as sent (${names.join(', ')})
left join (select ${names.join(', ')} from ${warehouse.names.table('vessel_positions')}) as stored
    on stored.vessel_id = sent.vessel_id and stored.position_at = sent.position_at
where stored.vessel_id is null or ${anyDistinct('stored', 'sent', names.slice(2))}
order by sent.position_at`,
    columns.map((_, at) => positions.map((row) => row[at] ?? null)),
  )
  return rows.map(({ sent, stored }) => ({ column: table, warehouse: stored, service: sent }))
}

/** Rows of a table that knows no tombstones. */
export async function countRows(warehouse: Warehouse, table: TableName): Promise<number> {
  const [row] = await warehouse.query<{ count: number }>(
    `count ${table}`,
    `select count(*) as count from ${warehouse.names.table(table)}`,
  )
  return row?.count ?? 0
}

/** A table with its history: their open versions must be its live rows. */
interface Versioned {
  readonly table: TableName
  readonly history: TableName
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
  /** Open versions, all of them. */
  readonly compared: number
  /** Values in them, nulls apart. */
  readonly values: number
  /** Keys of rows whose open version is missing, too much, or says something else. */
  readonly differing: readonly string[]
}

/** Compares the open versions of every history with the live rows. Reads whole tables. */
export async function compareHistories(warehouse: Warehouse): Promise<HistoryComparison[]> {
  const comparisons: HistoryComparison[] = []
  for (const { table, history, keys, columns, isMarked } of VERSIONED) {
    const list = [...keys, ...columns].map(quoteIdentifier)
    const key = keys.map(
      (name) => `coalesce(standing.${quoteIdentifier(name)}, version.${quoteIdentifier(name)})`,
    )
    const [found] = await warehouse.query<{
      compared: number
      values: number
      differing: string[] | null
    }>(
      `compare ${history}`,
      `select
    count(version)::integer as compared,
    coalesce(sum(num_nonnulls(${columns.map((name) => `version.${quoteIdentifier(name)}`).join(', ')})), 0)::integer as values,
    array_agg(${key.join(` || ' ' || `)}) filter (where standing is distinct from version) as differing
from (
    select ${list.join(', ')} from ${warehouse.names.table(table)}${isMarked ? ' where _deleted_at is null' : ''}
) as standing
full join (
    select ${list.join(', ')} from ${warehouse.names.table(history)} where valid_to is null
) as version
    on ${keys.map((name) => `standing.${quoteIdentifier(name)} = version.${quoteIdentifier(name)}`).join(' and ')}`,
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
  const rows = await warehouse.query<{ id: string }>(
    'list the transport events of a container',
    `select transport_event_id as id
from ${warehouse.names.table('transport_events')}
where container_id = $1 and _deleted_at is null
order by transport_event_id`,
    [containerId],
  )
  return rows.map(({ id }) => id)
}

/**
 * Where deadlines, holds and fees of a container differ from what its row makes of them now: table
 * by table, as JSON texts. Reads only.
 */
export async function compareDerived(
  warehouse: Warehouse,
  containerId: string,
): Promise<ColumnDifference[]> {
  const { names } = warehouse
  const differences: ColumnDifference[] = []
  for (const child of containerChildren) {
    const key = quoteIdentifier(child.keyColumn)
    const columns = [child.keyColumn, ...child.material, ...child.immaterial].map(quoteIdentifier)
    const rowsOf = (relation: string): string =>
      `(select jsonb_agg(to_jsonb(one) order by one.${key})::text from (${relation}) as one)`
    const list = (side: string): string => columns.map((name) => `${side}.${name}`).join(', ')
    const [row] = await warehouse.query<{ stored: string | null; made: string | null }>(
      `compare ${child.table}`,
      `select
    ${rowsOf(`select ${list('standing')}
        from ${names.table(child.table)} as standing
        where standing.container_id = $1`)} as stored,
    ${rowsOf(`select ${list('child')}
        from ${names.table('containers')} as parent
        cross join lateral ${madeFrom(names, child, 'parent')} as child
        where parent.container_id = $1 and parent._deleted_at is null`)} as made`,
      [containerId],
    )
    const { stored = null, made = null } = row ?? {}
    if (stored !== made) differences.push({ column: child.table, warehouse: stored, service: made })
  }
  return differences
}
