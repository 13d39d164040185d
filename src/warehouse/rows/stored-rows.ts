import { sql, type RawBuilder } from 'kysely'
import type { Resource, Sighting } from '../../source/records/resource.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import {
  differs,
  groupByPresence,
  incoming,
  incomingValues,
  presentColumns,
  shapeOf,
} from './incoming-rows.js'
import { hasDigest } from './row-digests.js'
import {
  anyTrue,
  columnList,
  keptStatement,
  keyText,
  lookUp,
  tableRef,
} from '../connection/typed-database.js'

/** The part of a stored row that decides whether a sighting must be written. */
export interface StoredRow {
  readonly fingerprint: string | null
  readonly observedAt: Date
  readonly isDeleted: boolean
  /** False when the row lacks a digest of this version. */
  readonly hasDigest: boolean
  /**
   * Containers only: the stored list of transport event ids; null if the service never sent one.
   */
  readonly transportEventIds: readonly string[] | null
}

interface Row {
  readonly key: string
  readonly _fingerprint: string | null
  readonly observed_ms: string
  readonly is_deleted: boolean
  readonly has_digest: boolean | null
  readonly transport_event_ids?: readonly string[] | null
}

/**
 * The stored rows of sightings of one resource, by key; keys without a row are absent. One query.
 */
export async function loadStoredRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Map<string, StoredRow>> {
  const indexes = resource.keyColumns.map((name) => resource.columnIndex.get(name) ?? -1)
  const keys = sightings.map(({ values }) => indexes.map((index) => values[index] ?? ''))
  return loadRowsByKey(session, resource, keys)
}

/** Like `loadStoredRows`, by the values of the key columns. */
export async function loadRowsByKey(
  session: Session,
  resource: Resource,
  keyValues: readonly (readonly string[])[],
): Promise<Map<string, StoredRow>> {
  if (keyValues.length === 0) return new Map()
  const keys = resource.keyColumns.map((_, index) => keyValues.map((values) => values[index]))
  const rows = await session.query(
    `compare ${resource.stream}`,
    keptStatement(`stored rows of ${resource.stream}`, [...keys, resource.readingMark], (values) =>
      storedRows(resource, values),
    ),
  )
  return new Map(
    rows.map((row) => [
      row.key,
      {
        fingerprint: row._fingerprint,
        observedAt: new Date(Number(row.observed_ms)),
        isDeleted: row.is_deleted,
        hasDigest: row.has_digest === true,
        transportEventIds: row.transport_event_ids ?? null,
      },
    ]),
  )
}

/** `values`: a list for each key column, then the reading mark. */
function storedRows(resource: Resource, values: readonly RawBuilder<unknown>[]): RawBuilder<Row> {
  const keys = resource.keyColumns
  const lists = keys.map((_, at) => sql`${values[at]}::text[]`)
  const eventIds = resource.stream === 'containers' ? sql`, stored.transport_event_ids` : sql``
  return sql`select ${keyText(keys, 'stored')} as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    ${hasDigest(sql`${values.at(-1)}::text`)} as has_digest${eventIds}
from unnest(${sql.join(lists)}) as wanted (${columnList(keys)})
cross join ${lookUp(tableRef(`data.${resource.stream}`), keys, 'wanted')} as stored`
}

/**
 * Keys of sightings that differ from their live row or lack one, regardless of stamps. Compares
 * values, not fingerprints: a record with few attributes can equal a row that was written from one
 * with many. One query per set of present columns; reads only.
 */
export async function findDifferingKeys(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Set<string>> {
  const differing = new Set<string>()
  for (const group of groupByPresence(sightings).values()) {
    const present = presentColumns(resource, group[0])
    const isComplete = group[0]?.isComplete ?? false
    const keys = resource.keyColumns
    const rows = await session.query(
      `compare ${resource.stream} by value`,
      keptStatement<{ key: string }>(
        `differing ${shapeOf(resource, present, isComplete)}`,
        incomingValues(resource, present, group),
        (values) => sql`with incoming as (
    ${incoming(present, values)}
)
select ${keyText(keys, 'incoming')} as key
from incoming
left join ${lookUp(tableRef(`data.${resource.stream}`), keys, 'incoming')} as stored
    on true
where stored._observed_at is null
    or stored._deleted_at is not null
    or ${differs(resource, present, isComplete, 'incoming')}`,
      ),
    )
    for (const { key } of rows) differing.add(key)
  }
  return differing
}

/** Ids of all rows of a small table that are not tombstoned, in order. */
export async function loadLiveKeys(warehouse: Warehouse, resource: Resource): Promise<string[]> {
  const key = sql.id(resource.idColumn)
  const table = tableRef(`data.${resource.stream}`)
  const rows = await warehouse.query(
    `list ${resource.stream}`,
    sql<{ id: string }>`select ${key} as id from ${table} where _deleted_at is null order by 1`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Sightings that lack a value which their row has, in a column or among the unmapped attributes.
 * One query per set of present columns; reads only.
 */
export async function findFullerRows(
  warehouse: Warehouse,
  sightings: readonly Sighting[],
): Promise<Set<Sighting>> {
  const fuller = new Set<Sighting>()
  for (const resource of new Set(sightings.map((one) => one.resource))) {
    const thin = sightings.filter((one) => one.resource === resource && !one.isComplete)
    for (const group of groupByPresence(thin).values()) {
      const present = new Set(presentColumns(resource, group[0]))
      const absent = resource.columns.filter((column) => !present.has(column))
      const key = sql.id(resource.idColumn)
      const rows = await warehouse.query(
        `look for fuller ${resource.stream}`,
        sql<{ place: number }>`select incoming.place::integer as place
from unnest(${group.map(({ key: id }) => id)}::text[],
    ${group.map(({ unmapped }) => unmapped)}::text[]) with ordinality as incoming (key, unmapped, place)
inner join ${tableRef(`data.${resource.stream}`)} as stored
    on stored.${key} = incoming.key
where ${anyTrue([
          ...absent.map(({ name }) => sql`${sql.id('stored', name)} is not null`),
          sql`coalesce(stored._unmapped, '{}')
    - array(select jsonb_object_keys(coalesce(incoming.unmapped::jsonb, '{}'))) != '{}'`,
        ])}`,
      )
      for (const { place } of rows) {
        const sighting = group[place - 1]
        if (sighting !== undefined) fuller.add(sighting)
      }
    }
  }
  return fuller
}
