import type { Resource, Sighting } from '../../resources/resource.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import { containerChildren, madeFrom } from './container-children.js'
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

/** Those of the given keys that have no live row, in their order. One query; reads only. */
export async function findKeysWithoutRow(
  warehouse: Warehouse,
  resource: Resource,
  keys: readonly string[],
): Promise<string[]> {
  const key = quoteIdentifier(resource.idColumn)
  const rows = await warehouse.query<{ id: string }>(
    `look for ${resource.stream} without a row`,
    `select shown.id
from unnest($1::text[]) with ordinality as shown (id, place)
where not exists (
    select from ${warehouse.names.table(resource.stream)} as stored
    where stored.${key} = shown.id and stored._deleted_at is null
)
order by shown.place`,
    [keys],
  )
  return rows.map(({ id }) => id)
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
