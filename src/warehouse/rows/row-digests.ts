import type { RawRecord } from '../../source/jsonapi/raw-record.js'
import {
  FINGERPRINT_IN_DIGEST,
  READING_MARK_LENGTH,
  type Resource,
  type Sighting,
} from '../../source/records/resource.js'
import { lookUpSql } from './incoming-rows.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Rows keep a digest of the bytes that they were last written from (`Sighting.digest`): a record
 * that has not changed is recognized by its bytes and need not be parsed. A digest counts only
 * while it ends as the row's fingerprint begins: a writer that knows nothing of digests, such as
 * the version before, still sets the fingerprint.
 */

/** Whether `stored` has a digest of this version and of the row as it is; `mark`: `readingMark`. */
export function hasDigestSql(mark: string): string {
  return `(left(stored._digest, ${READING_MARK_LENGTH}) = ${mark}
        and right(stored._digest, ${FINGERPRINT_IN_DIGEST}) = left(stored._fingerprint, ${FINGERPRINT_IN_DIGEST}))`
}

/** No JSON text holds it as it is. */
const SEPARATOR = '\u001f'

/**
 * Of raw records with the values of their key columns, the places of those that no live row was
 * made of. One query, one look into the index for each record; reads only.
 */
export async function findUnknownRecords(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  shown: ReadonlyMap<RawRecord, readonly string[]>,
): Promise<ReadonlySet<number>> {
  if (shown.size === 0) return new Set()
  const keyValues = [...shown.values()]
  const keys = resource.keyColumns.map(quoteIdentifier)
  // One text each: in an array the driver would look for what to escape in every element.
  const lists = [...keys, 'digest'].map((_, index) => `string_to_array($${index + 1}, chr(31))`)
  const mark = `$${lists.length + 1}::text`
  const table = names.table(resource.stream)
  const rows = await session.query<{ place: number }>(
    `recognize ${resource.stream}`,
    `select (shown.place - 1)::int as place
from unnest(${lists.join(', ')}) with ordinality as shown (${keys.join(', ')}, digest, place)
left join ${lookUpSql(table, keys, 'shown')} as stored
    on true
where (stored._digest = ${mark} || shown.digest || left(stored._fingerprint, ${FINGERPRINT_IN_DIGEST})
    and stored._deleted_at is null) is not true`,
    [
      ...resource.keyColumns.map((_, index) =>
        keyValues.map((values) => values[index]).join(SEPARATOR),
      ),
      [...shown.keys()].map(({ digest }) => digest).join(SEPARATOR),
      resource.readingMark,
    ],
  )
  return new Set(rows.map(({ place }) => place))
}

/**
 * Records the digests of sightings whose rows equal them and have none, as after an upgrade. Skips
 * a row that has changed meanwhile or that another writer holds. Inside the caller's transaction.
 * Idempotent.
 */
export async function recordDigests(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<void> {
  if (sightings.length === 0) return
  const keys = resource.keyColumns.map(quoteIdentifier)
  const arrays = [...keys, 'fingerprint', 'digest'].map((_, index) => `$${index + 1}::text[]`)
  const table = names.table(resource.stream)
  const isSame = keys.map((key) => `stored.${key} = equal.${key}`).join(' and ')
  await session.query(
    `record digests of ${resource.stream}`,
    `with equal as (
    select *
    from unnest(${arrays.join(', ')}) as equal (${[...keys, 'fingerprint', 'digest'].join(', ')})
),

free as (
    select ${keys.map((key) => `stored.${key}`).join(', ')}, equal.digest
    from equal
    cross join lateral (
        select candidate.*
        from ${table} as candidate
        where ${keys.map((key) => `candidate.${key} = equal.${key}`).join(' and ')}
            and candidate._fingerprint = equal.fingerprint
            and candidate._deleted_at is null
        for no key update skip locked
    ) as stored
)

update ${table} as stored
set _digest = equal.digest
from free as equal
where ${isSame}`,
    [
      ...resource.keyColumns.map((name) => {
        const index = resource.columnIndex.get(name) ?? -1
        return sightings.map(({ values }) => values[index] ?? null)
      }),
      sightings.map(({ fingerprint }) => fingerprint),
      sightings.map(({ digest }) => digest),
    ],
  )
}
