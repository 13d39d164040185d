import type { Resource, Sighting } from '../../resources/resource.js'
import { copiedRow } from '../connection/copy-rows.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'
import type { WriteOptions } from './incoming-rows.js'

/**
 * Inserts the rows of sightings that have none yet, one per key, sorted. The same rows as
 * `upsertRows` makes of them, at half its cost: nothing is looked up, compared or returned. Throws
 * a WarehouseDataError with the code `ALREADY_THERE` where another writer was faster; then
 * nothing of the transaction is written.
 */
export async function insertRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  { names, syncRunId }: WriteOptions,
): Promise<void> {
  if (sightings.length === 0) return
  const columns = [...resource.columns.map(({ name }) => quoteIdentifier(name)), ...OWN_COLUMNS]
  const runId = syncRunId === null ? null : String(syncRunId)
  const rows = sightings.map(({ values, observedAt, ...sighting }) => {
    const seen = observedAt.toISOString()
    const { unmapped, coercions, fingerprint, digest } = sighting
    const own = [unmapped, coercions, fingerprint, digest, seen, seen, seen, runId]
    return copiedRow([...values, ...own])
  })
  await session.copy(
    `write ${resource.stream}`,
    `copy ${names.table(resource.stream)} (${columns.join(', ')}) from stdin`,
    rows.join(''),
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

/** 23505 unique_violation */
export const ALREADY_THERE = '23505'
