import pLimit from 'p-limit'
import { ApiNotFoundError } from '../base/errors.js'
import { EVENT_LIST_ENTRY, queueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import { mergeIntakes, readRawRecords, type Intake } from './intake.js'
import { tryRead } from './read-by-id.js'
import { REQUESTS_AT_ONCE, type Ingest, type Reading } from './run.js'

export interface FetchedEvents {
  readonly containerId: string
  readonly intake: Intake
  /**
   * Undefined when the pages cannot prove which events there are: the list was short, rows moved
   * from page to page while it was read, or a record was set aside or of another type.
   */
  readonly list?: TransportEventList
  /** The reason why the service does not show them. */
  readonly refusal?: string
  /** The answer that the container does not exist. */
  readonly gone?: ApiNotFoundError
}

/** Reads the transport events of several containers, a few at a time: at least one request each. */
export function fetchTransportEvents(
  run: Reading,
  containerIds: readonly string[],
  fetchOne = fetchEventsOf,
): Promise<FetchedEvents[]> {
  return pLimit(REQUESTS_AT_ONCE).map(containerIds, (id) => fetchOne(run, id))
}

export async function fetchEventsOf(run: Reading, containerId: string): Promise<FetchedEvents> {
  const { signal, purpose, service, settings } = run.source
  const { ledger } = run.notes
  const intakes: Intake[] = []
  const seen = new Set<string>()
  let first: { readonly observedAt: Date; readonly total: number | undefined } | undefined
  let isDoubtful = false
  const pages = service.listTransportEvents(containerId, {
    signal,
    purpose,
    counter: ledger.counter('transport_events'),
    pageSize: settings.pageSize,
  })
  try {
    for await (const page of pages) {
      first ??= page
      const intake = readRawRecords(page.document, {
        stream: 'transport_events',
        source: `/containers/${containerId}/transport_events`,
        observedAt: page.observedAt,
        containerId,
      })
      intakes.push(intake)
      ledger.listed('transport_events', page.rows, 'transport_event')
      const sightings = intake.sightings.get('transport_events') ?? []
      const ids = new Set(sightings.map(({ key }) => key.slice(containerId.length + 1)))
      // A record of another type, as after a renaming, may be an event of ours: then the list does
      // not tell which events are gone.
      const isWhole =
        intake.quarantined.length === 0 && page.rows.every(({ type }) => type === 'transport_event')
      // A row on two pages has pushed another off both; one that left has pulled another past them.
      const hasMoved = page.total !== first.total || [...ids].some((id) => seen.has(id))
      isDoubtful ||= page.isShort || hasMoved || !isWhole
      for (const id of ids) seen.add(id)
    }
  } catch (thrown) {
    if (!(thrown instanceof ApiNotFoundError)) throw thrown
    return { containerId, intake: mergeIntakes([]), gone: thrown }
  }
  const intake = mergeIntakes(intakes)
  if (first === undefined || isDoubtful) return { containerId, intake }
  const list = { containerId, transportEventIds: [...seen], observedAt: first.observedAt }
  return { containerId, intake, list }
}

/**
 * Whether a list of transport events is empty although the container itself names some. Either
 * answer may be the wrong one: nothing is withdrawn, and the list is requested again.
 */
export function contradictsContainer(list: TransportEventList, named: readonly string[]): boolean {
  return list.transportEventIds.length === 0 && named.length > 0
}

/** The reason why a list that contradicts its container is in the refetch queue. */
export const LIST_WITHOUT_EVENTS =
  'the container lists transport events and its list of transport events is empty'

/**
 * Like `fetchTransportEvents`; a container whose events the service hides costs only itself.
 * If several in a row look like an outage, the ledger notes a failure, and the others are left out.
 */
export function fetchWhatIsShown(
  run: Reading,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  return fetchTransportEvents(run, containerIds, fetchOrRefusal)
}

async function fetchOrRefusal(run: Reading, containerId: string): Promise<FetchedEvents> {
  const { ledger } = run.notes
  const refused = (refusal: string): FetchedEvents => {
    return { containerId, intake: mergeIntakes([]), refusal }
  }
  if (ledger.isServiceFailing) return refused('the service failed to show others')
  const fetched = await tryRead(
    run,
    () => fetchEventsOf(run, containerId),
    (error) => ledger.failures.push({ stream: 'transport_events', error }),
  )
  return fetched instanceof Error ? refused(fetched.message) : fetched
}

/** Queues the lists of transport events that the service did not show, each with its reason. */
export async function askForRefusedLists(
  run: Pick<Ingest, 'sink' | 'notes'>,
  fetched: readonly FetchedEvents[],
): Promise<void> {
  for (const { containerId, refusal } of fetched) {
    if (refusal === undefined) continue
    const message = 'the transport events of a container cannot be read'
    run.notes.logger.warn(message, { containerId, refusal })
    await askAgain(run, [containerId], refusal)
  }
}

/** Queues the lists of transport events of containers that contradict them. */
export async function askForEventListsAgain(
  run: Pick<Ingest, 'sink' | 'notes'>,
  containerIds: readonly string[],
): Promise<void> {
  const [first] = containerIds
  if (first === undefined) return
  run.notes.logger.warn(LIST_WITHOUT_EVENTS, { containers: containerIds.length, first })
  await askAgain(run, containerIds, LIST_WITHOUT_EVENTS)
}

const ASK_AGAIN_MS = 3_600_000

function askAgain(
  { sink }: Pick<Ingest, 'sink'>,
  containerIds: readonly string[],
  why: string,
): Promise<void> {
  const entries = containerIds.map((id) => ({ type: EVENT_LIST_ENTRY, id }))
  return sink.transact('ask for lists of transport events again', (session) =>
    queueRefetches(session, entries, why, ASK_AGAIN_MS),
  )
}
