import type { Selectable } from 'kysely'
import { anyOfIds, type QuarantineEntry } from '../../warehouse/bookkeeping/quarantined-records.js'
import type { SyncTables } from '../../warehouse/connection/tables.js'
import type { Session } from '../../warehouse/connection/warehouse.js'

/** Absent members select everything. */
export interface QuarantineSelection {
  readonly stream?: string | undefined
  readonly ids?: readonly number[] | undefined
  readonly limit?: number | undefined
}

/** Entries, last seen first. Ignores unknown ids. */
export async function loadQuarantine(
  session: Session,
  { stream, ids, limit }: QuarantineSelection,
): Promise<QuarantineEntry[]> {
  let query = session.db
    .selectFrom('sync.quarantine')
    .selectAll()
    .orderBy('last_seen_at', 'desc')
    .orderBy('quarantine_id', 'desc')
  if (stream !== undefined) query = query.where('stream', '=', stream)
  if (ids !== undefined) query = query.where('quarantine_id', '=', anyOfIds(ids))
  if (limit !== undefined) query = query.limit(limit)
  return (await query.execute()).map(toEntry)
}

function toEntry(row: Selectable<SyncTables['quarantine']>): QuarantineEntry {
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
