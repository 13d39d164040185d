import { createHash } from 'node:crypto'
import { sql } from 'kysely'
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
