import { containers } from '../resources/index.js'
import { putBackFutureStamps } from '../warehouse/rows/future-stamps.js'
import { findIncompleteEventLists } from '../warehouse/rows/transport-event-lists.js'
import type { ComparedSighting } from '../warehouse/rows/write-batch.js'
import { retryWarehouse } from './retry-warehouse.js'
import type { Run } from './run.js'
import type { StoringRun } from './write-draft.js'

/**
 * Before the first request: stamps that lie in the future would keep what the run sees from their
 * rows.
 */
export async function overrideFutureStamps(run: Run): Promise<void> {
  if (run.isThorough !== true) return
  const { warehouse } = run
  const rows = await retryWarehouse(run, () =>
    warehouse.transaction('put back stamps that lie in the future', (session) =>
      putBackFutureStamps(session, warehouse.names),
    ),
  )
  if (rows > 0) run.logger.warn('rows were stamped in the future; they count as seen now', { rows })
}

/** What is equal by its fingerprint travels too. */
export function isComparedByValue(run: StoringRun): boolean {
  return run.source === 'webhook' || run.isThorough === true
}

/**
 * Containers whose list of events must not be believed: some of the rows it names are missing. One
 * query, in a thorough run only.
 */
export async function findIncomplete(
  run: StoringRun,
  compared: readonly ComparedSighting[],
): Promise<ReadonlySet<string>> {
  const keys = compared
    .filter(({ sighting, stored }) => sighting.record.resource === containers && stored)
    .map(({ sighting }) => sighting.record.key)
  if (run.isThorough !== true || keys.length === 0) return new Set()
  const { warehouse } = run
  return retryWarehouse(run, () => findIncompleteEventLists(warehouse, warehouse.names, keys))
}

/** As if the container's list of events were not known. */
export function withoutEventList({ sighting, stored }: ComparedSighting): ComparedSighting {
  return { sighting, stored: stored && { ...stored, transportEventIds: null } }
}
