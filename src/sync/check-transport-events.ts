import {
  chooseContainersToCheck,
  recordTransportEventChecks,
} from '../warehouse/bookkeeping/transport-event-checks.js'
import {
  areListsInDoubt,
  chooseLeastChecked,
  findContainersWithUnlistedEvents,
  settleListsInDoubt,
} from '../warehouse/rows/unlisted-events.js'
import {
  loadListedEventIds,
  tombstoneWithdrawnEvents,
  type TransportEventList,
} from '../warehouse/rows/transport-event-lists.js'
import {
  askForEventListsAgain,
  askForRefusedLists,
  contradictsContainer,
  fetchWhatIsShown,
  type FetchedEvents,
} from '../ingest/fetch-transport-events.js'
import { mergeIntakes } from '../ingest/intake.js'
import type { Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import type { Sink } from '../ingest/sink.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/**
 * Reads the transport events of a few containers whose list of event ids has not changed: an event
 * can change under its id, and without included events nothing else would show it. Longest unread
 * first. One request each, or more where events fill several pages.
 *
 * A run that made other requests than its list pages, for example to try what the service includes,
 * leaves the check to the next: so a sync of an unchanged account needs at most two requests more
 * than its pages.
 */
export async function checkTransportEvents(run: Run): Promise<void> {
  const limit = run.source.settings.transportEventChecksPerSync ?? 0
  if (limit === 0 || hasMadeOtherRequests(run)) return
  const containerIds = await run.sink.retry((warehouse) =>
    chooseContainersToCheck(warehouse, limit),
  )
  if (containerIds.length > 0) await check(run, containerIds)
}

/** Most requests of a run for unlisted transport events; the next run continues. */
const UNLISTED_PER_RUN = 100

/**
 * Reads the transport events of containers with a live event that they do not list: a notification
 * reported it, and the service withdrew it before the container was read. One request each.
 */
export async function checkUnlistedEvents(run: Run): Promise<void> {
  for (const containerId of await chooseUnlisted(run.sink)) {
    run.source.signal.throwIfAborted()
    await check(run, [containerId])
  }
}

/** A backfill examines all earlier containers, other runs those in doubt. */
async function chooseUnlisted(sink: Sink<number>): Promise<string[]> {
  const ids: string[] = []
  if (await sink.retry(areListsInDoubt)) {
    const settle = 'settle lists of transport events'
    ids.push(...(await settleListsInDoubt((work) => sink.transact(settle, work))))
  }
  if (sink.mode === 'backfill') {
    const find = (warehouse: Warehouse) =>
      findContainersWithUnlistedEvents(warehouse, sink.syncRunId)
    ids.push(...(await sink.retry(find)))
  }
  return sink.retry((warehouse) => chooseLeastChecked(warehouse, ids, UNLISTED_PER_RUN))
}

const LISTS: ReadonlySet<string> = new Set(['shipments', 'containers', 'tracking_requests'])

function hasMadeOtherRequests({ notes: { ledger } }: Run): boolean {
  return ledger
    .states()
    .some(({ stream, counts }) => LISTS.has(stream) && counts.requests > counts.pages)
}

/**
 * Reads and stores the events, marks withdrawn ones and records the check; after a kill the next
 * run checks the same containers again. A wrong answer counts as a check too; the refetch queue
 * asks for its container again.
 */
async function check(run: Run, containerIds: readonly string[]): Promise<void> {
  const { sink, notes } = run
  const fetched = await fetchWhatIsShown(run, containerIds)
  sink.reachFailpoint('events_received')
  await ingestAnswer(run, mergeIntakes(fetched.map(({ intake }) => intake)))
  const lists: TransportEventList[] = []
  for (const events of fetched) lists.push(...(await believedList(run, events)))
  const { count: tombstoned } = await sink.transact('record a check of events', async (session) => {
    await recordTransportEventChecks(session, containerIds)
    return tombstoneWithdrawnEvents(session, lists, sink.syncRunId)
  })
  if (tombstoned > 0) notes.ledger.count('transport_events', { tombstoned })
  await askForRefusedLists(run, fetched)
}

/**
 * The list that the answer proves. If it is empty, or the container is gone, the list in the
 * container's row: the passes find out whether that row goes too. Nothing of a list that proves
 * nothing: the next round checks its container again.
 */
async function believedList(
  run: Run,
  { containerId, list, gone }: FetchedEvents,
): Promise<TransportEventList[]> {
  if (list !== undefined && list.transportEventIds.length > 0) return [list]
  const observedAt = list?.observedAt ?? gone?.observedAt
  if (observedAt === undefined) return []
  const named = await run.sink.retry((warehouse) => loadListedEventIds(warehouse, containerId))
  if (list !== undefined && contradictsContainer(list, named)) {
    await askForEventListsAgain(run, [containerId])
  }
  return [{ containerId, transportEventIds: named, observedAt }]
}
