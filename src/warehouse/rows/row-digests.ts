import { sql, type RawBuilder } from 'kysely'
import type { RawRecord } from '../../source/jsonapi/raw-record.js'
import {
  FINGERPRINT_IN_DIGEST,
  READING_MARK_LENGTH,
  type Resource,
  type Sighting,
} from '../../source/records/resource.js'
import type { Session } from '../connection/warehouse.js'
import {
  columnList,
  haveSameKey,
  keptStatement,
  lookUp,
  tableRef,
} from '../connection/typed-database.js'

/**
 * A row keeps a digest of the bytes it was last written from (`Sighting.digest`), so that an
 * unchanged record is recognized by its bytes and need not be parsed. A digest counts only while
 * its end equals the beginning of the row's fingerprint: a writer that knows nothing of digests,
 * such as an older version, still sets the fingerprint.
 */

/**
 * Whether the digest of `stored` comes from this version and fits the row; `mark`: `readingMark`.
 */
export function hasDigest(mark: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(left(stored._digest, ${LENGTH_OF_MARK}) = ${mark}
        and right(stored._digest, ${LENGTH_OF_FINGERPRINT}) = left(stored._fingerprint, ${LENGTH_OF_FINGERPRINT}))`
}

const LENGTH_OF_MARK = sql.lit(READING_MARK_LENGTH)
const LENGTH_OF_FINGERPRINT = sql.lit(FINGERPRINT_IN_DIGEST)

/** JSON text escapes this character. */
const SEPARATOR = '\u001f'

/**
 * The places of raw records that no live row was written from. `shown` has the key values of each.
 * One query, one index look-up for each record; reads only.
 */
export async function findUnknownRecords(
  session: Session,
  resource: Resource,
  shown: ReadonlyMap<RawRecord, readonly string[]>,
): Promise<ReadonlySet<number>> {
  if (shown.size === 0) return new Set()
  const keyValues = [...shown.values()]
  const keys = resource.keyColumns
  // One text each: of an array the driver would scan every element for characters to escape.
  const lists = [
    ...keys.map((_, at) => keyValues.map((values) => values[at]).join(SEPARATOR)),
    [...shown.keys()].map(({ digest }) => digest).join(SEPARATOR),
  ]
  const rows = await session.query(
    `recognize ${resource.stream}`,
    keptStatement<{ place: number }>(
      `unknown ${resource.stream}`,
      [...lists, resource.readingMark],
      (values) => sql`select (shown.place - 1)::int as place
from unnest(${sql.join(lists.map((_, at) => sql`string_to_array(${values[at]}, chr(31))`))})
    with ordinality as shown (${columnList(keys)}, digest, place)
left join ${lookUp(tableRef(`data.${resource.stream}`), keys, 'shown')} as stored
    on true
where (stored._digest = ${values.at(-1)}::text || shown.digest || left(stored._fingerprint, ${LENGTH_OF_FINGERPRINT})
    and stored._deleted_at is null) is not true`,
    ),
  )
  return new Set(rows.map(({ place }) => place))
}

/**
 * Records the digests of sightings whose rows equal them and lack one, as after an upgrade. Skips
 * rows that have changed meanwhile or that another writer has locked. Runs in the caller's
 * transaction. Idempotent.
 */
export async function recordDigests(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<void> {
  if (sightings.length === 0) return
  const keys = resource.keyColumns
  const columns = [...keys, 'fingerprint', 'digest']
  const table = tableRef(`data.${resource.stream}`)
  await session.query(
    `record digests of ${resource.stream}`,
    keptStatement(
      `record digests ${resource.stream}`,
      [
        ...keys.map((name) => {
          const index = resource.columnIndex.get(name) ?? -1
          return sightings.map(({ values }) => values[index] ?? null)
        }),
        sightings.map(({ fingerprint }) => fingerprint),
        sightings.map(({ digest }) => digest),
      ],
      (values) => sql`with equal as (
    select *
    from unnest(${sql.join(values.map((value) => sql`${value}::text[]`))}) as equal (${columnList(columns)})
),

free as (
    select ${columnList(keys, 'stored')}, equal.digest
    from equal
    cross join lateral (
        select candidate.*
        from ${table} as candidate
        where ${haveSameKey('candidate', 'equal', keys)}
            and candidate._fingerprint = equal.fingerprint
            and candidate._deleted_at is null
        for no key update skip locked
    ) as stored
)

update ${table} as stored
set _digest = equal.digest
from free as equal
where ${haveSameKey('stored', 'equal', keys)}`,
    ),
  )
}
