import type { Resource, Sighting } from '../../source/records/resource.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import {
  differsSql,
  groupByPresence,
  incomingParameters,
  incomingSql,
  lookUpSql,
  presentColumns,
} from './incoming-rows.js'
import { hasDigestSql } from './row-digests.js'

/** What the warehouse has of a row, enough to decide whether a sighting must travel. */
export interface StoredRow {
  readonly fingerprint: string | null
  readonly observedAt: Date
  readonly isDeleted: boolean
  /** False when the row lacks a digest of this version. */
  readonly hasDigest: boolean
  /** Containers only: the stored list of transport event ids; null when none was ever sent. */
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

/** The stored rows of sightings of one resource, by key; absent where there is none. One query. */
export async function loadStoredRows(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Map<string, StoredRow>> {
  const indexes = resource.keyColumns.map((name) => resource.columnIndex.get(name) ?? -1)
  const keys = sightings.map(({ values }) => indexes.map((index) => values[index] ?? ''))
  return loadRowsByKey(session, names, resource, keys)
}

/** The same by the values of the key columns. */
export async function loadRowsByKey(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  keyValues: readonly (readonly string[])[],
): Promise<Map<string, StoredRow>> {
  if (keyValues.length === 0) return new Map()
  const keys = resource.keyColumns.map((_, index) => keyValues.map((values) => values[index]))
  const rows = await session.query<Row>(
    `compare ${resource.stream}`,
    storedRowsSql(names, resource),
    [...keys, resource.readingMark],
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

function storedRowsSql(names: SchemaNames, resource: Resource): string {
  const columns = resource.keyColumns.map(quoteIdentifier)
  const table = names.table(resource.stream)
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`)
  const eventIds = resource.stream === 'containers' ? ', stored.transport_event_ids' : ''
  return `select ${columns.map((column) => `stored.${column}`).join(` || ' ' || `)} as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    ${hasDigestSql(`$${columns.length + 1}::text`)} as has_digest${eventIds}
from unnest(${arrays.join(', ')}) as wanted (${columns.join(', ')})
cross join ${lookUpSql(table, columns, 'wanted')} as stored`
}

/**
 * Keys of sightings that differ from their live row, or have none, whatever the stamps. Compares
 * values, not fingerprints: a record with few attributes can equal a row that was written from one
 * with many. One query per set of present columns; reads only.
 */
export async function findDifferingKeys(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Set<string>> {
  const differing = new Set<string>()
  const table = names.table(resource.stream)
  for (const group of groupByPresence(sightings).values()) {
    const present = presentColumns(resource, group[0])
    const keys = resource.keyColumns.map(quoteIdentifier)
    const rows = await session.query<{ key: string }>(
      `compare ${resource.stream} by value`,
      `with incoming as (
    ${incomingSql(present)}
)
select ${keys.map((key) => `incoming.${key}`).join(` || ' ' || `)} as key
from incoming
left join ${lookUpSql(table, keys, 'incoming')} as stored
    on true
where stored._observed_at is null
    or stored._deleted_at is not null
    or ${differsSql(resource, present, group[0]?.isComplete ?? false, 'incoming')}`,
      incomingParameters(resource, present, group),
    )
    for (const { key } of rows) differing.add(key)
  }
  return differing
}

/** Ids of all rows of a small table that are not tombstoned, in order. */
export async function loadLiveKeys(warehouse: Warehouse, resource: Resource): Promise<string[]> {
  const key = quoteIdentifier(resource.idColumn)
  const table = warehouse.names.table(resource.stream)
  const rows = await warehouse.query<{ id: string }>(
    `list ${resource.stream}`,
    `select ${key} as id from ${table} where _deleted_at is null order by 1`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Sightings whose row says something in a column, or under a name without one, that they do not
 * carry. One query per set of present columns; reads only.
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
      const isFuller = absent.map(({ name }) => `stored.${quoteIdentifier(name)} is not null or `)
      const key = quoteIdentifier(resource.idColumn)
      const rows = await warehouse.query<{ place: number }>(
        `look for fuller ${resource.stream}`,
        `select incoming.place::integer as place
from unnest($1::text[], $2::text[]) with ordinality as incoming (key, unmapped, place)
inner join ${warehouse.names.table(resource.stream)} as stored
    on stored.${key} = incoming.key
where ${isFuller.join('')}coalesce(stored._unmapped, '{}')
    - array(select jsonb_object_keys(coalesce(incoming.unmapped::jsonb, '{}'))) != '{}'`,
        [group.map(({ key: id }) => id), group.map(({ unmapped }) => unmapped)],
      )
      for (const { place } of rows) {
        const sighting = group[place - 1]
        if (sighting !== undefined) fuller.add(sighting)
      }
    }
  }
  return fuller
}
