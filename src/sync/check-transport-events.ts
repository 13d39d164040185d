import { ApiContractError, ApiRequestError, ApiUnavailableError } from '../errors.js'
import {
  chooseContainersToCheck,
  noteTransportEventChecks,
} from '../warehouse/transport-event-checks.js'
import { tombstoneWithdrawnEvents } from '../warehouse/transport-event-lists.js'
import { fetchTransportEvents, type FetchedEvents } from './fetch-transport-events.js'
import { mergeIntakes } from './intake.js'
import { retryWarehouse } from './retry-warehouse.js'
import type { Run } from './run.js'
import { storeIntake } from './store-intake.js'

/**
 * Reads the transport events of a few containers again whose list of event ids has not changed: an event can change under its id, and where events
 * do not come included nothing else would show it. Those read longest ago come first, so every container has its turn. One request each, or more
 * where events fill several pages.
 *
 * A run that made other requests than its list pages, for example to try what the service includes, leaves the check to the next: so a sync of an
 * unchanged account stays within two requests more than its pages.
 */
export async function checkTransportEvents(run: Run): Promise<void> {
  const limit = run.settings.transportEventChecksPerSync ?? 0
  if (limit === 0 || hasMadeOtherRequests(run)) return
  const containerIds = await retryWarehouse(run, () =>
    chooseContainersToCheck(run.warehouse, limit),
  )
  if (containerIds.length === 0) return
  const fetched = await fetchOrPassOver(run, containerIds)
  run.reachFailpoint('events_received')
  await storeIntake(run, mergeIntakes(fetched.flatMap(({ intake }) => intake ?? [])))
  await settle(run, containerIds, fetched)
}

const LISTS: ReadonlySet<string> = new Set(['shipments', 'containers', 'tracking_requests'])

function hasMadeOtherRequests({ ledger }: Run): boolean {
  return ledger
    .states()
    .some(({ stream, counts }) => LISTS.has(stream) && counts.requests > counts.pages)
}

/** An answer that is wrong for one container must not keep the others from their turn: it fails this run and not every run after it. */
async function fetchOrPassOver(
  run: Run,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  try {
    return await fetchTransportEvents(run, containerIds)
  } catch (thrown) {
    if (isAboutThese(thrown)) await settle(run, containerIds, [])
    throw thrown
  }
}

/** Not a service that cannot be reached, or that lets nobody in. */
function isAboutThese(thrown: unknown): boolean {
  if (thrown instanceof ApiUnavailableError) return thrown.context.wasSent !== false
  return thrown instanceof ApiContractError || thrown instanceof ApiRequestError
}

/** Marks what was withdrawn and notes the check. A run killed before this checks the same containers again. */
async function settle(
  run: Run,
  containerIds: readonly string[],
  fetched: readonly FetchedEvents[],
): Promise<void> {
  const { warehouse, syncRunId } = run
  const lists = fetched.flatMap(({ list }) => list ?? [])
  // One that could not be believed comes again with the next round of checks.
  const { count: tombstoned } = await retryWarehouse(run, () =>
    warehouse.transaction('note a check of transport events', async (session) => {
      await noteTransportEventChecks(session, containerIds)
      return tombstoneWithdrawnEvents(session, warehouse.names, lists, syncRunId)
    }),
  )
  if (tombstoned > 0) run.ledger.add(new Map([['transport_events', { tombstoned }]]))
}
