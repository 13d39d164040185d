import { loadLiveKeys } from '../warehouse/live-keys.js'
import { claimRefetches } from '../warehouse/refetch-queue.js'
import { vessels } from '../resources/index.js'
import { readRefetches } from './read-refetch.js'
import { retryWarehouse } from './retry-warehouse.js'
import type { Run } from './run.js'

/** Few enough to be read before others take the claim for a dead one's, at the slowest pace. A run that is killed reads so many again. */
const ENTRIES_PER_CLAIM = 10

/**
 * Reads by id what is queued: what rows point to and the warehouse does not have (ports, terminals, vessels; an account knows a few hundred of them, each is
 * read once), and records that are in doubt. Workers beside the run may read the same queue; each entry is read by one.
 */
export async function readMissingReferences(run: Run): Promise<void> {
  for (;;) {
    const { warehouse } = run
    const entries = await retryWarehouse(run, () =>
      claimRefetches(warehouse, warehouse.names, 'sync', ENTRIES_PER_CLAIM),
    )
    if (entries.length === 0) return
    await readRefetches(run, entries)
    run.signal.throwIfAborted()
  }
}

/** Reads the position history of every vessel: one request each. Throws the ApiAuthError of an account that may not see them. */
export async function readVesselPositions(run: Run): Promise<void> {
  const { ledger } = run
  const ids = await retryWarehouse(run, () => loadLiveKeys(run.warehouse, vessels))
  for (let start = 0; start < ids.length; start += ENTRIES_PER_CLAIM) {
    if (ledger.positionsRefusal !== undefined) break
    const some = ids.slice(start, start + ENTRIES_PER_CLAIM)
    await readRefetches(
      run,
      some.map((id) => ({ type: 'vessel', id })),
    )
    run.signal.throwIfAborted()
  }
  if (ledger.positionsRefusal !== undefined) throw ledger.positionsRefusal
}
