import { sql } from 'kysely'
import type { Resource, Sighting } from '../../source/records/resource.js'
import { CopiedRows } from '../connection/copy-rows.js'
import type { Session } from '../connection/warehouse.js'
import type { WriteOptions } from './incoming-rows.js'
import { columnList, tableRef } from '../connection/typed-database.js'

/**
 * Inserts the rows of sightings without a row, one per key, sorted. Makes the same rows as
 * `upsertRows` at half its cost: it looks up, compares and returns nothing. Throws with a code of
 * `TO_BE_UPSERTED` where it cannot insert; the transaction then writes nothing.
 */
export async function insertRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  { syncRunId }: WriteOptions,
): Promise<void> {
  if (sightings.length === 0) return
  const columns = [...resource.columns.map(({ name }) => name), ...OWN_COLUMNS]
  const runId = syncRunId === null ? null : String(syncRunId)
  const rows = new CopiedRows()
  let last: Date | undefined
  let seen = ''
  for (const sighting of sightings) {
    const { unmapped, coercions, fingerprint, digest, observedAt } = sighting
    // All records of an answer were seen at one instant.
    if (observedAt !== last) seen = observedAt.toISOString()
    last = observedAt
    const own = [unmapped, coercions, fingerprint, digest, seen, seen, seen, runId]
    rows.addRow(sighting.values, own)
  }
  await session.copy(
    `write ${resource.stream}`,
    sql`copy ${tableRef(`data.${resource.stream}`)} (${columnList(columns)}) from stdin`,
    rows,
  )
}

const OWN_COLUMNS = [
  '_unmapped',
  '_coercions',
  '_fingerprint',
  '_digest',
  '_observed_at',
  '_first_seen_at',
  '_changed_at',
  '_sync_run_id',
]

/**
 * Codes after which `upsertRows` must write the batch. 23505 unique_violation: another writer was
 * faster. 0A000 feature_not_supported: the table has row-level security for customers, and only its
 * owner may copy into it. XX000 internal_error: a node of Citus refused a copied row; an insert
 * tells the reason.
 */
export const TO_BE_UPSERTED: ReadonlySet<unknown> = new Set(['23505', '0A000', 'XX000'])
