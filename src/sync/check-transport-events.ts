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
  const containerIds = await run.sink.retry(() =>
    chooseContainersToCheck(run.sink.warehouse, limit),
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
  const { warehouse, syncRunId, mode } = sink
  const areInDoubt = await sink.retry(() => areListsInDoubt(warehouse))
  const found = areInDoubt
    ? await settleListsInDoubt((work) => sink.transact('settle lists of transport events', work))
    : []
  const others =
    mode === 'backfill'
      ? await sink.retry(() => findContainersWithUnlistedEvents(warehouse, syncRunId))
      : []
  const all = [...found, ...others]
  return sink.retry(() => chooseLeastChecked(warehouse, all, UNLISTED_PER_RUN))
}

const LISTS: ReadonlySet<string> = new Set(['shipments', 'containers', 'tracking_requests'])

function hasMadeOtherRequests({ notes: { ledger } }: Run): boolean {
  return ledger
    .states()
    .some(({ stream, counts }) => LISTS.has(stream) && counts.requests > counts.pages)
}

/** A wrong answer counts as a check too; the refetch queue asks for its container again. */
async function check(run: Run, containerIds: readonly string[]): Promise<void> {
  const fetched = await fetchWhatIsShown(run, containerIds)
  run.sink.reachFailpoint('events_received')
  await record(run, containerIds, fetched)
  await askForRefusedLists(run, fetched)
}

/**
 * Stores the events, marks withdrawn ones and records the check. After a kill the next run checks
 * the same containers again.
 */
async function record(
  run: Run,
  containerIds: readonly string[],
  fetched: readonly FetchedEvents[],
): Promise<void> {
  const { syncRunId } = run.sink
  await ingestAnswer(run, mergeIntakes(fetched.flatMap(({ intake }) => intake ?? [])))
  const lists: TransportEventList[] = []
  for (const events of fetched) lists.push(...(await believedList(run, events)))
  const { count: tombstoned } = await run.sink.transact(
    'record a check of events',
    async (session) => {
      await recordTransportEventChecks(session, containerIds)
      return tombstoneWithdrawnEvents(session, lists, syncRunId)
    },
  )
  if (tombstoned > 0) run.notes.ledger.add(new Map([['transport_events', { tombstoned }]]))
}

/**
 * The list that the answer proves. If it is empty, or the container is gone, the list in the
 * container's row: the passes find out whether that row goes too. Nothing of a list that proves
 * nothing: the next round checks its container again.
 */
async function believedList(
  run: Run,
  { containerId, list, goneAt }: FetchedEvents,
): Promise<TransportEventList[]> {
  if (list !== undefined && list.transportEventIds.length > 0) return [list]
  const observedAt = list?.observedAt ?? goneAt
  if (observedAt === undefined) return []
  const { warehouse } = run.sink
  const named = await run.sink.retry(() => loadListedEventIds(warehouse, containerId))
  if (list !== undefined && contradictsContainer(list, named)) {
    await askForEventListsAgain(run, [containerId])
  }
  return [{ containerId, transportEventIds: named, observedAt }]
}
