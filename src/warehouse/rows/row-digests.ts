import { sql, type RawBuilder } from 'kysely'
import type { RawRecord } from '../../source/jsonapi/raw-record.js'
import {
  FINGERPRINT_IN_DIGEST,
  READING_MARK_LENGTH,
  type Resource,
  type Sighting,
} from '../../source/records/resource.js'
import type { Session } from '../connection/warehouse.js'
import { append } from './incoming-rows.js'
import { columnList, haveSameKey, keptStatement, tableRef } from '../connection/typed-database.js'

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

/** JSON text escapes these characters. */
const BETWEEN_OWNERS = '\u001f'
const BETWEEN_RECORDS = '\u001e'

/**
 * The owners of raw records whose live rows are not just those written from these records. The
 * first column of a key is the owner: of a transport event its container, of all else the record
 * itself. `shown` has the key values of each record. One query; reads only. The rows of an owner
 * lie together, and finding them once takes a third of the time of a look-up for each.
 */
export async function findUnlikeOwners(
  session: Session,
  { stream, keyColumns, readingMark }: Resource,
  shown: ReadonlyMap<RawRecord, readonly string[]>,
): Promise<ReadonlySet<string | undefined>> {
  const owners = new Map<string, string[]>()
  for (const [{ digest }, [owner = '', id]] of shown) {
    append(owners, owner, id === undefined ? digest : id + BETWEEN_RECORDS + digest)
  }
  // One text each: of an array the driver would scan every element for characters to escape.
  const lists = [
    [...owners.keys()].join(BETWEEN_OWNERS),
    [...owners.values()].map((own) => own.sort().join(BETWEEN_RECORDS)).join(BETWEEN_OWNERS),
  ]
  const [ownerColumn = '', ...others] = keyColumns
  const digest = sql`left(right(_digest, -${LENGTH_OF_MARK}), -${LENGTH_OF_FINGERPRINT})`
  const rows = await session.query(
    `recognize ${stream}`,
    keptStatement<{ owner: string }>(
      `unlike ${stream}`,
      [...lists, readingMark],
      ([keys, records, mark]) => sql`select shown.owner
from unnest(string_to_array(${keys}, chr(31)), string_to_array(${records}, chr(31)))
    as shown (owner, records)
cross join lateral (
    select string_agg(
        concat_ws(chr(30), ${sql.join([...others.map((name) => sql.id(name)), digest])}),
        chr(30) order by ${sql.id(others[0] ?? ownerColumn)} collate "C"
    ) as records
    from ${tableRef(`data.${stream}`)} as stored
    where stored.${sql.id(ownerColumn)} = shown.owner
        and _deleted_at is null
        and ${hasDigest(sql`${mark}::text`)}
) as known
where known.records is distinct from shown.records`,
    ),
  )
  return new Set(rows.map(({ owner }) => owner))
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
