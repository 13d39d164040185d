import { ApiContractError, ApiRequestError, ApiUnavailableError, toError } from '../base/errors.js'
import {
  chooseContainersToCheck,
  recordTransportEventChecks,
} from '../warehouse/bookkeeping/transport-event-checks.js'
import {
  findContainersWithUnlistedEvents,
  loadListedEventIds,
  tombstoneWithdrawnEvents,
  type TransportEventList,
} from '../warehouse/rows/transport-event-lists.js'
import {
  askForEventListsAgain,
  contradictsContainer,
  fetchTransportEvents,
  type FetchedEvents,
} from '../ingest/fetch-transport-events.js'
import { mergeIntakes } from '../ingest/intake.js'
import { retryWarehouse } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { storeIntake } from '../ingest/store-intake.js'

/**
 * Reads the transport events of a few containers again whose list of event ids has not changed: an
 * event can change under its id, and where events do not come included nothing else would show it.
 * Those read longest ago come first, so every container has its turn. One request each, or more
 * where events fill several pages.
 *
 * A run that made other requests than its list pages, for example to try what the service includes,
 * leaves the check to the next: so a sync of an unchanged account stays within two requests more
 * than its pages.
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
  await settle(run, containerIds, fetched)
}

/**
 * Requests a run spends on transport events that no list names; what is left is asked for by the
 * next.
 */
const UNLISTED_PER_RUN = 100

/**
 * Asks for the transport events of containers that do not list an event which has a live row: a
 * notification told of it, and it was withdrawn before the container was read. One request each. A
 * container whose answer is wrong costs the others nothing, and fails this part of the run.
 */
export async function checkUnlistedEvents(run: Run): Promise<void> {
  const containerIds = await retryWarehouse(run, () =>
    findContainersWithUnlistedEvents(run.warehouse, run.warehouse.names, UNLISTED_PER_RUN),
  )
  const failures: Error[] = []
  for (const containerId of containerIds) {
    run.signal.throwIfAborted()
    try {
      await settle(run, [containerId], await fetchTransportEvents(run, [containerId]))
    } catch (thrown) {
      if (!isAboutThese(thrown)) throw thrown
      failures.push(toError(thrown))
      await settle(run, [containerId], [])
    }
  }
  const [first] = failures
  if (first !== undefined) throw first
}

const LISTS: ReadonlySet<string> = new Set(['shipments', 'containers', 'tracking_requests'])

function hasMadeOtherRequests({ ledger }: Run): boolean {
  return ledger
    .states()
    .some(({ stream, counts }) => LISTS.has(stream) && counts.requests > counts.pages)
}

/**
 * An answer that is wrong for one container must not keep the others from their turn: it fails this
 * run and not every run after it.
 */
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

/**
 * Stores what was read, marks what was withdrawn and notes the check. A run killed before this
 * checks the same containers again.
 */
async function settle(
  run: Run,
  containerIds: readonly string[],
  fetched: readonly FetchedEvents[],
): Promise<void> {
  const { warehouse, syncRunId } = run
  await storeIntake(run, mergeIntakes(fetched.flatMap(({ intake }) => intake ?? [])))
  // One that could not be believed comes again with the next round of checks.
  const lists: TransportEventList[] = []
  for (const events of fetched) lists.push(...(await believedList(run, events)))
  const { count: tombstoned } = await retryWarehouse(run, () =>
    warehouse.transaction('note a check of transport events', async (session) => {
      await recordTransportEventChecks(session, containerIds)
      return tombstoneWithdrawnEvents(session, warehouse.names, lists, syncRunId)
    }),
  )
  if (tombstoned > 0) run.ledger.add(new Map([['transport_events', { tombstoned }]]))
}

/**
 * Of a container that is gone, what its row lists: whether the row goes too is for the passes to
 * find out.
 */
async function believedList(
  run: Run,
  { containerId, list, goneAt }: FetchedEvents,
): Promise<TransportEventList[]> {
  const isDoubtful = list?.transportEventIds.length === 0
  if (list !== undefined && !isDoubtful) return [list]
  const observedAt = list?.observedAt ?? goneAt
  if (observedAt === undefined) return []
  const { warehouse } = run
  const named = await retryWarehouse(run, () =>
    loadListedEventIds(warehouse, warehouse.names, containerId),
  )
  if (list !== undefined && contradictsContainer(list, named)) {
    await askForEventListsAgain(run, [containerId])
  }
  return [{ containerId, transportEventIds: named, observedAt }]
}
