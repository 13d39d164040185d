import type { Resource } from '../../resources/resource.js'
import { lookUpSql } from './incoming-rows.js'
import { hasDigestSql } from './row-digests.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Sighting } from './sighting.js'
import type { Session } from '../connection/warehouse.js'
import type { SchemaNames } from '../connection/schema-names.js'

/** What the warehouse has of a row, enough to decide whether a sighting must travel. */
export interface StoredRow {
  readonly fingerprint: string | null
  readonly observedAt: Date
  readonly isDeleted: boolean
  /** False when the row does not tell, in the way this version does, of which bytes it was made. */
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

/**
 * The stored rows of some sightings of one resource, by key. One query whatever the number of sightings; rows that do not
 * exist are absent from the map.
 */
export async function loadStoredRows(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Map<string, StoredRow>> {
  const indexes = resource.keyColumns.map((name) => resource.columnIndex.get(name) ?? -1)
  const keys = sightings.map(({ record }) => indexes.map((index) => record.values[index] ?? ''))
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
