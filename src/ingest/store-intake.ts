import type { ResourceIdentifier } from '../jsonapi/document.js'
import { containers, resources, transportEvents } from '../resources/index.js'
import type { FlatRecord, Resource } from '../resources/resource.js'
import { EVENT_LIST_ENTRY } from '../warehouse/bookkeeping/refetch-queue.js'
import { noteDigests } from '../warehouse/rows/row-digests.js'
import type { Sighting } from '../warehouse/rows/sighting.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import { compareWithStored, type ComparedSighting } from '../warehouse/rows/write-batch.js'
import {
  askForEventListsAgain,
  contradictsContainer,
  fetchTransportEvents,
  type FetchedEvents,
} from './fetch-transport-events.js'
import { isMetOften } from './fingerprint-memory.js'
import { mergeIntakes, shownKeys, type Intake } from './intake.js'
import type { RecognizedRecord } from './recognized-record.js'
import { retryWarehouse } from './retry-warehouse.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'
import { findIncomplete, isComparedByValue, withoutEventList } from './thorough.js'
import {
  OLDER_THAN_ROWS,
  recordsOf,
  writeDraft,
  type Draft,
  type Occasion,
  type StoringRun,
} from './write-draft.js'

/**
 * Containers whose transport events must be fetched are written this many at a time, each with its
 * events in one transaction: a killed run repeats at most these requests.
 */
const CONTAINERS_PER_FETCH = 20

/**
 * Compares what an answer holds with the warehouse and writes what differs: rows, histories,
 * quarantine and counts in one transaction; then, in batches, the containers whose list of
 * transport events changed, together with those events. What equals its row is not written, and
 * when nothing differs there is no transaction at all.
 */
export async function storeIntake(
  run: StoringRun,
  intake: Intake,
  occasion: Occasion = {},
): Promise<void> {
  const draft = await compareIntake(run, intake)
  const incomplete = await findIncomplete(run, draft.compared)
  const { ready, pending } = sortOut(draft, intake, incomplete)
  ready.eventLists.push(...(occasion.eventLists ?? []))
  // They count as fetched with the batch that writes them, which a failure may prevent.
  if (pending.length > 0) addToDelta(draft.deltas, containers.stream, { fetched: -pending.length })
  const isAll = pending.length === 0
  await writeDraft(run, { ...draft, ...ready, occasion: isAll ? occasion : {} })
  for (let start = 0; start < pending.length; start += CONTAINERS_PER_FETCH) {
    run.signal.throwIfAborted()
    const end = start + CONTAINERS_PER_FETCH
    const isLast = end >= pending.length
    const listed = intake.transportEventIds
    await storeWithEvents(run, pending.slice(start, end), listed, isLast ? occasion : {})
  }
}

async function compareIntake(run: StoringRun, intake: Intake): Promise<Draft> {
  const deltas = new Map<string, CountsDelta>()
  const compared: ComparedSighting[] = []
  const doubtful: Sighting[] = []
  run.drift.notice(intake)
  for (const { stream } of intake.quarantined) {
    addToDelta(deltas, stream, { fetched: 1, quarantined: 1 })
  }
  for (const resource of resources) {
    const recognized = intake.recognized?.get(resource.stream) ?? []
    countRecognized(deltas, resource, recognized)
    const sightings = intake.sightings.get(resource.stream) ?? []
    if (sightings.length === 0) continue
    const unmet = sightings.filter(({ record }) => !run.memory.has(record))
    const comparison = await retryWarehouse(run, () =>
      compareWithStored(run.warehouse, resource, unmet, isComparedByValue(run)),
    )
    addToDelta(deltas, resource.stream, {
      fetched: sightings.length,
      duplicate: sightings.length - unmet.length + comparison.duplicates,
      unchanged: comparison.unchanged,
      stale: comparison.stale.length,
    })
    await fillDigests(run, resource, comparison.undigested)
    compared.push(...comparison.changed)
    doubtful.push(...comparison.stale)
    if (isMetOften(resource.stream)) run.memory.remember(recordsOf(comparison.equal))
  }
  return {
    compared,
    doubtful: toRefetches(run, doubtful),
    eventLists: [],
    quarantined: [...intake.quarantined],
    deltas,
    occasion: {},
  }
}

/**
 * What was known by its bytes is fetched and equal; of what comes again with every page the run has
 * met an equal one.
 */
function countRecognized(
  deltas: Map<string, CountsDelta>,
  resource: Resource,
  recognized: readonly RecognizedRecord[],
): void {
  const fetched = recognized.length
  if (fetched === 0) return
  const isMet = isMetOften(resource.stream)
  const unchanged = isMet ? 0 : new Set(recognized.map(({ key }) => key)).size
  addToDelta(deltas, resource.stream, { fetched, unchanged, duplicate: fetched - unchanged })
}

/** So that the next run knows these records by their bytes. */
async function fillDigests(
  run: StoringRun,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<void> {
  if (sightings.length === 0) return
  const { warehouse } = run
  await retryWarehouse(run, () =>
    warehouse.transaction('note digests', (session) =>
      noteDigests(session, warehouse.names, resource, sightings),
    ),
  )
}

/**
 * If more than this many of one answer look older than their rows, suspect a clock and not the
 * records; reading each again would cost hours.
 */
const MOST_REFETCHES = 20

/**
 * What to read again for sightings older than their rows: the record, or for a transport event the
 * list of its container.
 */
function toRefetches(run: StoringRun, stale: readonly Sighting[]): ResourceIdentifier[] {
  const refetches = new Map<string, ResourceIdentifier>()
  const unread: Sighting[] = []
  for (const sighting of stale) {
    const entry = refetchOf(sighting.record)
    if (entry === undefined) unread.push(sighting)
    else refetches.set(`${entry.type} ${entry.id}`, entry)
  }
  const isSuspect = refetches.size > MOST_REFETCHES
  distrust(run, isSuspect ? stale : unread)
  return isSuspect ? [] : [...refetches.values()]
}

function refetchOf({ resource, key }: FlatRecord): ResourceIdentifier | undefined {
  if (resource === transportEvents) {
    return { type: EVENT_LIST_ENTRY, id: key.slice(0, key.indexOf(' ')) }
  }
  return resource.path === undefined ? undefined : { type: resource.type, id: key }
}

/**
 * What differs from its row, is older than it and is not read again: the warehouse is not what the
 * source says.
 */
function distrust({ ledger }: StoringRun, stale: readonly Sighting[]): void {
  for (const { record } of stale) ledger.distrust(record.resource.stream, OLDER_THAN_ROWS)
}

type EventNeed = 'none' | 'included' | 'fetch'

/**
 * Parts what can be written now from the containers whose transport events must be fetched first.
 */
function sortOut(
  draft: Draft,
  intake: Intake,
  incomplete: ReadonlySet<string>,
): { ready: Pick<Draft, 'compared' | 'eventLists'>; pending: ComparedSighting[] } {
  const includedEvents =
    draft.compared.length === 0 ? new Set<string>() : new Set(shownKeys(intake, 'transport_events'))
  const compared: ComparedSighting[] = []
  const eventLists: TransportEventList[] = []
  const pending: ComparedSighting[] = []
  for (const candidate of draft.compared) {
    const { record, observedAt, isComplete } = candidate.sighting
    const listed = intake.transportEventIds.get(record.key)
    const isContainer = record.resource === containers && isComplete
    const known = incomplete.has(record.key) ? withoutEventList(candidate) : candidate
    const need = isContainer ? decideEventNeed(known, listed, includedEvents) : 'none'
    if (need === 'fetch') pending.push(candidate)
    else compared.push(candidate)
    if (need === 'included') {
      eventLists.push({ containerId: record.key, transportEventIds: listed ?? [], observedAt })
    }
  }
  return { ready: { compared, eventLists }, pending }
}

/**
 * Events are fetched only when the container's list of event ids differs from the stored one by an
 * event that neither came included nor was in the stored list, or is absent although the container
 * changed. A list of which everything is known tells by itself what was withdrawn (`included`).
 */
export function decideEventNeed(
  { sighting, stored }: ComparedSighting,
  listed: readonly string[] | undefined,
  includedEvents: ReadonlySet<string>,
): EventNeed {
  if (listed === undefined) return 'fetch'
  const known = stored?.isDeleted === false ? (stored.transportEventIds ?? []) : []
  if (stored?.isDeleted === false && equalLists(known, listed)) return 'none'
  const containerId = sighting.record.key
  const isKnown = (id: string): boolean =>
    known.includes(id) || includedEvents.has(`${containerId} ${id}`)
  return listed.every(isKnown) ? 'included' : 'fetch'
}

/** Both are sorted. */
function equalLists(one: readonly string[], two: readonly string[]): boolean {
  return one.length === two.length && one.every((id, index) => id === two[index])
}

async function storeWithEvents(
  run: StoringRun,
  pending: readonly ComparedSighting[],
  listed: Intake['transportEventIds'],
  occasion: Occasion,
): Promise<void> {
  const ids = pending.map(({ sighting }) => sighting.record.key)
  const fetched = await fetchTransportEvents(run, ids)
  run.reachFailpoint('events_received')
  const draft = await compareIntake(
    run,
    mergeIntakes(fetched.flatMap(({ intake }) => intake ?? [])),
  )
  addToDelta(draft.deltas, containers.stream, { fetched: pending.length })
  const byId = new Map(fetched.map((events) => [events.containerId, events]))
  const withEvents = pending.map((candidate) => asFetched(candidate, byId))
  await writeDraft(run, {
    ...draft,
    compared: [...withEvents, ...draft.compared],
    eventLists: fetched.flatMap(({ containerId, list }) =>
      list === undefined ? [] : withListed(list, listed.get(containerId) ?? []),
    ),
    occasion,
  })
  const contradictory = fetched.flatMap(({ containerId, list }) =>
    list !== undefined && contradictsContainer(list, listed.get(containerId) ?? [])
      ? [containerId]
      : [],
  )
  await askForEventListsAgain(run, contradictory)
}

/**
 * The list of events holds past ones only; an expected one that the container itself still names
 * was not withdrawn.
 */
function withListed(list: TransportEventList, listed: readonly string[]): TransportEventList {
  return { ...list, transportEventIds: [...list.transportEventIds, ...listed] }
}

/**
 * A container whose events are not all known, or that vanished between the list and its events, is
 * stored without its list of event ids: the next run then finds the list changed and asks again. A
 * list that is left from before its tombstone goes as well.
 */
function asFetched(
  candidate: ComparedSighting,
  byId: ReadonlyMap<string, FetchedEvents>,
): ComparedSighting {
  const { sighting, stored } = candidate
  if (byId.get(sighting.record.key)?.list !== undefined) return candidate
  const index = containers.columnIndex.get('transport_event_ids')
  const noList = stored?.isDeleted === true ? null : undefined
  const values = sighting.record.values.map((value, at) => (at === index ? noList : value))
  const record = { ...sighting.record, values, fingerprint: '', digest: null }
  return { sighting: { ...sighting, record }, stored }
}
