import { createHash } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { QuarantineTable } from './tables.js'
import type { Session } from './warehouse.js'

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
  /** Path of the request, or the notification, it came from. */
  readonly source: string
}

/** Sets records aside. The same record of a stream is kept once and counted. */
export async function quarantineRecords(
  session: Session,
  records: readonly QuarantinedRecord[],
  syncRunId: number | null,
): Promise<void> {
  for (const record of records) {
    await session.sync
      .insertInto('quarantine')
      .values({
        stream: record.stream,
        resource_type: storable(record.resourceType),
        record_id: storable(record.recordId),
        reason: record.reason,
        pointer: record.pointer,
        payload: record.payload,
        payload_hash: createHash('sha256').update(record.payload).digest('base64url'),
        source: record.source,
        sync_run_id: syncRunId,
      })
      .onConflict((conflict) =>
        conflict.columns(['stream', 'payload_hash']).doUpdateSet({
          sightings: sql`quarantine.sightings + 1`,
          last_seen_at: sql`excluded.last_seen_at`,
          sync_run_id: syncRunId,
          reason: record.reason,
          pointer: record.pointer,
        }),
      )
      .execute()
  }
}

/** Ids in quarantine are often there because of what they hold; a JSON text shows it and can be stored. */
function storable(text: string | null): string | null {
  if (text === null) return null
  return /[\p{Cc}\p{Surrogate}]/u.test(text) ? JSON.stringify(text) : text.slice(0, 1000)
}

/** A record in quarantine, as it stands there. */
export interface QuarantineEntry extends QuarantinedRecord {
  readonly quarantineId: number
  readonly sightings: number
  readonly firstSeenAt: string
  readonly lastSeenAt: string
}

export interface QuarantineSelection {
  /** Absent: of every stream. */
  readonly stream?: string | undefined
  /** Absent: all that the rest selects. */
  readonly ids?: readonly number[] | undefined
  readonly limit?: number | undefined
}

/** Entries, the last seen first. Ids that are not there are passed over. */
export async function loadQuarantine(
  session: Session,
  { stream, ids, limit }: QuarantineSelection,
): Promise<QuarantineEntry[]> {
  let query = session.sync
    .selectFrom('quarantine')
    .selectAll()
    .orderBy('last_seen_at', 'desc')
    .orderBy('quarantine_id', 'desc')
  if (stream !== undefined) query = query.where('stream', '=', stream)
  if (ids !== undefined) query = query.where('quarantine_id', 'in', ids)
  if (limit !== undefined) query = query.limit(limit)
  return (await query.execute()).map(toEntry)
}

/** Takes entries out for good; returns the ids of those that were there. */
export async function dropQuarantine(session: Session, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await session.sync
    .deleteFrom('quarantine')
    .where('quarantine_id', 'in', ids)
    .returning('quarantine_id')
    .execute()
  return rows.map(({ quarantine_id }) => quarantine_id)
}

function toEntry(row: Selectable<QuarantineTable>): QuarantineEntry {
  return {
    quarantineId: row.quarantine_id,
    stream: row.stream,
    resourceType: row.resource_type,
    recordId: row.record_id,
    reason: row.reason,
    pointer: row.pointer,
    payload: row.payload,
    source: row.source,
    sightings: row.sightings,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  }
}
