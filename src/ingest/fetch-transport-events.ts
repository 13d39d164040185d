import pLimit from 'p-limit'
import { ApiNotFoundError, isAboutOneRecord, toError } from '../base/errors.js'
import { EVENT_LIST_ENTRY, queueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import { readRawRecords, type Intake } from './intake.js'
import { REQUESTS_AT_ONCE, type Ingest, type Reading } from './run.js'

/**
 * The transport events of one container. `list` is undefined when the pages cannot prove which
 * events there are: the list was short, rows moved from page to page while it was read, or a record
 * was set aside or of another type.
 */
export interface FetchedEvents {
  readonly containerId: string
  /** Undefined when the container is gone at the source; its list is empty then. */
  readonly intake: readonly Intake[] | undefined
  readonly list: TransportEventList | undefined
  /** The reason why the service does not show them; the intake is empty then. */
  readonly refusal?: string
  /** When the service answered that the container does not exist. */
  readonly goneAt?: Date | undefined
}

/** Reads the transport events of several containers, a few at a time: at least one request each. */
export async function fetchTransportEvents(
  run: Reading,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  const limit = pLimit(REQUESTS_AT_ONCE)
  return Promise.all(containerIds.map((id) => limit(() => fetchOfContainer(run, id))))
}

async function fetchOfContainer(run: Reading, containerId: string): Promise<FetchedEvents> {
  const intake: Intake[] = []
  const transportEventIds = new Set<string>()
  let observedAt: Date | undefined
  let isDoubtful = false
  const pages = run.source.service.listTransportEvents(containerId, {
    signal: run.source.signal,
    purpose: run.source.purpose,
    counter: run.notes.ledger.counter('transport_events'),
    pageSize: run.source.settings.pageSize,
  })
  try {
    for await (const page of pages) {
      observedAt ??= page.observedAt
      const source = `/containers/${containerId}/transport_events`
      const answer = readRawRecords(page.document, {
        stream: 'transport_events',
        source,
        observedAt: page.observedAt,
        containerId,
      })
      intake.push(answer)
      const ids = new Set(
        (answer.sightings.get('transport_events') ?? []).map(({ key }) =>
          key.slice(containerId.length + 1),
        ),
      )
      run.notes.ledger.listed('transport_events', page.rows, 'transport_event')
      // A record of another type, as after a renaming, may be an event of ours: then the list does
      // not tell which events are gone.
      const isWhole =
        answer.quarantined.length === 0 && page.rows.every(({ type }) => type === 'transport_event')
      // A row on two pages has pushed another off both.
      const hasMoved = [...ids].some((id) => transportEventIds.has(id))
      isDoubtful ||= page.isShort || hasMoved || !isWhole
      for (const id of ids) transportEventIds.add(id)
    }
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError) {
      return { containerId, intake: undefined, list: undefined, goneAt: thrown.observedAt }
    }
    throw thrown
  }
  if (observedAt === undefined || isDoubtful) return { containerId, intake, list: undefined }
  const list = { containerId, transportEventIds: [...transportEventIds], observedAt }
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
 * The same; a container whose events the service does not show costs only itself. When several in a
 * row look like an outage, the ledger notes a failure of the run, and the rest is not requested.
 */
export async function fetchWhatIsShown(
  run: Reading,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  const { ledger } = run.notes
  const { signal } = run.source
  const limit = pLimit(REQUESTS_AT_ONCE)
  const fetchOne = async (containerId: string): Promise<FetchedEvents> => {
    if (ledger.isServiceFailing) return refused(containerId, 'the service failed to show others')
    try {
      const fetched = await fetchOfContainer(run, containerId)
      ledger.noteRead()
      return fetched
    } catch (thrown) {
      if (signal.aborted || !isAboutOneRecord(thrown)) throw thrown
      const error = toError(thrown)
      if (ledger.noteRead(thrown)) ledger.failures.push({ stream: 'transport_events', error })
      return refused(containerId, error.message)
    }
  }
  return Promise.all(containerIds.map((id) => limit(() => fetchOne(id))))
}

function refused(containerId: string, refusal: string): FetchedEvents {
  return { containerId, intake: [], list: undefined, refusal }
}

const ASK_AGAIN_MS = 3_600_000

/** Queues the lists of transport events that the service did not show, each with its reason. */
export async function askForRefusedLists(
  { sink, notes }: Pick<Ingest, 'sink' | 'notes'>,
  fetched: readonly FetchedEvents[],
): Promise<void> {
  for (const { containerId, refusal } of fetched) {
    if (refusal === undefined) continue
    notes.logger.warn('the transport events of a container cannot be read', {
      containerId,
      refusal,
    })
    const entries = [{ type: EVENT_LIST_ENTRY, id: containerId }]
    await sink.transact('ask for lists of transport events again', (session) =>
      queueRefetches(session, entries, refusal, ASK_AGAIN_MS),
    )
  }
}

/**
 * Queues the lists of transport events of containers that contradict them, to be read in an hour.
 */
export async function askForEventListsAgain(
  { sink, notes }: Pick<Ingest, 'sink' | 'notes'>,
  containerIds: readonly string[],
): Promise<void> {
  if (containerIds.length === 0) return
  notes.logger.warn(LIST_WITHOUT_EVENTS, {
    containers: containerIds.length,
    first: containerIds[0],
  })
  const entries = containerIds.map((id) => ({ type: EVENT_LIST_ENTRY, id }))
  await sink.transact('ask for lists of transport events again', (session) =>
    queueRefetches(session, entries, LIST_WITHOUT_EVENTS, ASK_AGAIN_MS),
  )
}
