import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Session } from '../connection/warehouse.js'
import { tableRef, textLists } from '../connection/typed-database.js'

/** A record that could not become a row, and why. */
export interface QuarantinedRecord {
  readonly stream: string
  readonly resourceType: string | null
  readonly recordId: string | null
  readonly reason: string
  /** JSON pointer into the record; empty for the record as a whole. */
  readonly pointer: string
  /** The record as JSON text. */
  readonly payload: string
  /** Path of the request, or the notification, that the record came from. */
  readonly source: string
}

/** Sets records aside, in one statement. Equal records of a stream are one entry with a count. */
export async function quarantineRecords(
  session: Session,
  records: readonly QuarantinedRecord[],
  syncRunId: number | null,
): Promise<void> {
  if (records.length === 0) return
  const rows = countEqual(records)
  await session.query(
    'set records aside',
    sql`insert into ${tableRef('sync.quarantine')} as stored
    (
        sync_run_id, stream, resource_type, record_id, reason, pointer, payload, source,
        payload_hash, sightings
    )
select ${syncRunId}::bigint, given.*
from unnest(
    ${textLists(rows, ['stream', 'resourceType', 'recordId', 'reason', 'pointer', 'payload', 'source', 'hash'])},
    ${rows.map(({ sightings }) => sightings)}::bigint[]
) as given
on conflict (stream, payload_hash) do update
set
    sightings = stored.sightings + excluded.sightings,
    last_seen_at = excluded.last_seen_at,
    sync_run_id = excluded.sync_run_id,
    reason = excluded.reason,
    pointer = excluded.pointer`,
  )
}

interface CountedRecord extends QuarantinedRecord {
  readonly hash: string
  readonly sightings: number
}

/** One for each stream and payload. */
function countEqual(records: readonly QuarantinedRecord[]): CountedRecord[] {
  const rows = new Map<string, CountedRecord>()
  for (const record of records) {
    const hash = createHash('sha256').update(record.payload).digest('base64url')
    const key = `${record.stream} ${hash}`
    const sightings = 1 + (rows.get(key)?.sightings ?? 0)
    const [resourceType, recordId] = [storable(record.resourceType), storable(record.recordId)]
    rows.set(key, { ...record, resourceType, recordId, hash, sightings })
  }
  return [...rows.values()]
}

/** An id may hold characters that PostgreSQL refuses: a JSON text of it can be stored. */
function storable(text: string | null): string | null {
  if (text === null) return null
  return /[\p{Cc}\p{Surrogate}]/u.test(text) ? JSON.stringify(text) : text.slice(0, 1000)
}

export interface QuarantineEntry extends QuarantinedRecord {
  readonly quarantineId: number
  readonly sightings: number
  readonly firstSeenAt: string
  readonly lastSeenAt: string
}

export type OutlivedEntry = Pick<
  QuarantineEntry,
  'quarantineId' | 'resourceType' | 'recordId' | 'payload'
>

const MOST_OUTLIVED = 1_000
/** Characters: a payload can be as large as an answer. */
const MOST_OF_PAYLOAD = 20_000

/**
 * Entries of these streams that this run has not seen, oldest first, with the beginning of their
 * payload. Skips entries without the type and id of their record.
 */
export function loadOutlived(
  session: Session,
  streams: readonly string[],
  syncRunId: number,
): Promise<OutlivedEntry[]> {
  const beganAt = session.db
    .selectFrom('sync.sync_runs')
    .select('started_at')
    .where('sync_run_id', '=', syncRunId)
  return session.db
    .selectFrom('sync.quarantine')
    .select([
      'quarantine_id as quarantineId',
      'resource_type as resourceType',
      'record_id as recordId',
      sql<string>`left(payload, ${MOST_OF_PAYLOAD})`.as('payload'),
    ])
    .where('stream', '=', sql<string>`any(${streams}::text[])`)
    .where('last_seen_at', '<', beganAt)
    .where('resource_type', 'is not', null)
    .where('record_id', 'is not', null)
    .orderBy('quarantine_id')
    .limit(MOST_OUTLIVED)
    .execute()
}

export function anyOfIds(ids: readonly number[]) {
  return sql<number>`any(${ids}::bigint[])`
}

/** Deletes entries; returns the ids that existed. */
export async function dropQuarantine(session: Session, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await session.db
    .deleteFrom('sync.quarantine')
    .where('quarantine_id', '=', anyOfIds(ids))
    .returning('quarantine_id')
    .execute()
  return rows.map(({ quarantine_id }) => quarantine_id)
}
