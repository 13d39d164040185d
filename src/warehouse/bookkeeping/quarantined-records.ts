import { createHash } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import { givenRows, type GivenColumns } from '../connection/given-rows.js'
import type { QuarantineTable } from '../connection/tables.js'
import type { Session } from '../connection/warehouse.js'

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

/** Sets records aside, in one statement. The same record of a stream is kept once and counted. */
export async function quarantineRecords(
  session: Session,
  records: readonly QuarantinedRecord[],
  syncRunId: number | null,
): Promise<void> {
  if (records.length === 0) return
  const columns = toColumns(countEqual(records))
  const names = Object.keys(columns) as (keyof GivenRecord)[]
  await session.sync
    .insertInto('quarantine')
    .columns(['sync_run_id', ...names])
    .expression((build) =>
      build
        .selectFrom(givenRows<GivenRecord>(columns))
        .select([
          sql`${syncRunId}::bigint`.as('sync_run_id'),
          ...names.map((name) => `given.${name}` as const),
        ]),
    )
    .onConflict((conflict) =>
      conflict.columns(['stream', 'payload_hash']).doUpdateSet((row) => ({
        sightings: sql`quarantine.sightings + excluded.sightings`,
        last_seen_at: row.ref('excluded.last_seen_at'),
        sync_run_id: row.ref('excluded.sync_run_id'),
        reason: row.ref('excluded.reason'),
        pointer: row.ref('excluded.pointer'),
      })),
    )
    .execute()
}

type GivenRecord = Pick<
  Selectable<QuarantineTable>,
  | 'stream'
  | 'resource_type'
  | 'record_id'
  | 'reason'
  | 'pointer'
  | 'payload'
  | 'payload_hash'
  | 'source'
  | 'sightings'
>

interface CountedRecord {
  readonly record: QuarantinedRecord
  readonly hash: string
  readonly sightings: number
}

/** One for each stream and payload. */
function countEqual(records: readonly QuarantinedRecord[]): CountedRecord[] {
  const rows = new Map<string, CountedRecord>()
  for (const record of records) {
    const hash = createHash('sha256').update(record.payload).digest('base64url')
    const key = `${record.stream} ${hash}`
    rows.set(key, { record, hash, sightings: 1 + (rows.get(key)?.sightings ?? 0) })
  }
  return [...rows.values()]
}

function toColumns(rows: readonly CountedRecord[]): GivenColumns<GivenRecord> {
  const text = (read: (record: QuarantinedRecord) => string | null) =>
    ['text', rows.map(({ record }) => read(record))] as const
  return {
    stream: text(({ stream }) => stream),
    resource_type: text(({ resourceType }) => storable(resourceType)),
    record_id: text(({ recordId }) => storable(recordId)),
    reason: text(({ reason }) => reason),
    pointer: text(({ pointer }) => pointer),
    payload: text(({ payload }) => payload),
    payload_hash: ['text', rows.map(({ hash }) => hash)],
    source: text(({ source }) => source),
    sightings: ['bigint', rows.map(({ sightings }) => sightings)],
  }
}

/**
 * Ids in quarantine are often there because of what they hold; a JSON text shows it and can be
 * stored.
 */
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
  if (ids !== undefined) query = query.where('quarantine_id', '=', anyOfIds(ids))
  if (limit !== undefined) query = query.limit(limit)
  return (await query.execute()).map(toEntry)
}

function anyOfIds(ids: readonly number[]) {
  return sql<number>`any(${ids}::bigint[])`
}

/** Takes entries out for good; returns the ids of those that were there. */
export async function dropQuarantine(session: Session, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await session.sync
    .deleteFrom('quarantine')
    .where('quarantine_id', '=', anyOfIds(ids))
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
