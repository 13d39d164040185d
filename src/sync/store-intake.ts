import { WarehouseDataError } from '../errors.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { containers, resources } from '../resources/index.js'
import type { FlatRecord } from '../resources/resource.js'
import {
  compareWithStored,
  writeBatch,
  type BatchCounts,
  type ComparedSighting,
} from '../warehouse/write-batch.js'
import type { QuarantinedRecord } from '../warehouse/quarantine.js'
import { postponeRefetch } from '../warehouse/refetch-queue.js'
import type { Sighting } from '../warehouse/sighting.js'
import type { TransportEventList } from '../warehouse/transport-event-lists.js'
import { fetchTransportEvents, type FetchedEvents } from './fetch-transport-events.js'
import { mergeIntakes, type Intake } from './intake.js'
import type { Run } from './run.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'

/** What is to be written in one transaction, and its counts so far. */
interface Draft {
  readonly compared: ComparedSighting[]
  readonly eventLists: TransportEventList[]
  readonly quarantined: QuarantinedRecord[]
  readonly deltas: Map<string, CountsDelta>
  readonly refetched?: ResourceIdentifier
}

/**
 * Containers whose transport events must be fetched are written this many at a time, each with its events in one transaction: a
 * killed run repeats at most these requests.
 */
const CONTAINERS_PER_FETCH = 20

/**
 * Compares what an answer holds with the warehouse and writes what differs: rows, histories, quarantine and counts in one
 * transaction; then, in batches, the containers whose list of transport events changed, together with those events. What equals its
 * row is not written, and when nothing differs there is no transaction at all.
 */
export async function storeIntake(
  run: Run,
  intake: Intake,
  refetched?: ResourceIdentifier,
): Promise<void> {
  const draft = await compareIntake(run, intake, refetched)
  const { ready, pending } = sortOut(draft, intake)
  await writeDraft(run, { ...draft, compared: ready.compared, eventLists: ready.eventLists })
  for (let start = 0; start < pending.length; start += CONTAINERS_PER_FETCH) {
    await storeWithEvents(run, pending.slice(start, start + CONTAINERS_PER_FETCH))
    run.signal.throwIfAborted()
  }
}

async function compareIntake(
  run: Run,
  intake: Intake,
  refetched?: ResourceIdentifier,
): Promise<Draft> {
  const deltas = new Map<string, CountsDelta>()
  const compared: ComparedSighting[] = []
  for (const { stream } of intake.quarantined) {
    addToDelta(deltas, stream, { fetched: 1, quarantined: 1 })
  }
  for (const resource of resources) {
    const sightings = intake.sightings.get(resource.stream) ?? []
    if (sightings.length === 0) continue
    const unmet = sightings.filter(({ record }) => !run.memory.has(record))
    const comparison = await compareWithStored(run.warehouse, resource, unmet)
    addToDelta(deltas, resource.stream, {
      fetched: sightings.length,
      duplicate: sightings.length - unmet.length + comparison.duplicates,
      unchanged: comparison.unchanged,
      stale: comparison.stale,
    })
    compared.push(...comparison.changed)
    if (isMetOften(resource.stream)) run.memory.remember(recordsOf(comparison.equal))
  }
  const draft = { compared, eventLists: [], quarantined: [...intake.quarantined], deltas }
  return refetched === undefined ? draft : { ...draft, refetched }
}

/** Reference resources come again with every page; shipments, containers and their events once in a run. */
function isMetOften(stream: string): boolean {
  return !['shipments', 'containers', 'transport_events', 'tracking_requests'].includes(stream)
}

function recordsOf(sightings: readonly Sighting[]): FlatRecord[] {
  return sightings.map(({ record }) => record)
}

type EventNeed = 'none' | 'included' | 'fetch'

/** Parts what can be written now from the containers whose transport events must be fetched first. */
function sortOut(
  draft: Draft,
  intake: Intake,
): { ready: Pick<Draft, 'compared' | 'eventLists'>; pending: ComparedSighting[] } {
  const includedEvents = new Set(
    (intake.sightings.get('transport_events') ?? []).map(({ record }) => record.key),
  )
  const compared: ComparedSighting[] = []
  const eventLists: TransportEventList[] = []
  const pending: ComparedSighting[] = []
  for (const candidate of draft.compared) {
    const { record, observedAt, isComplete } = candidate.sighting
    const listed = intake.transportEventIds.get(record.key)
    const isContainer = record.resource === containers && isComplete
    const need = isContainer ? decideEventNeed(candidate, listed, includedEvents) : 'none'
    if (need === 'fetch') pending.push(candidate)
    else compared.push(candidate)
    if (need === 'included') {
      eventLists.push({ containerId: record.key, transportEventIds: listed ?? [], observedAt })
    }
  }
  return { ready: { compared, eventLists }, pending }
}

/**
 * Events are fetched only when the container's list of event ids differs from the stored one, or is absent although the container
 * changed. Not when all of them came included.
 */
function decideEventNeed(
  { sighting, stored }: ComparedSighting,
  listed: readonly string[] | undefined,
  includedEvents: ReadonlySet<string>,
): EventNeed {
  if (listed === undefined) return 'fetch'
  const isListKnown =
    stored?.isDeleted === false && equalLists(stored.transportEventIds ?? [], listed)
  if (isListKnown) return 'none'
  const containerId = sighting.record.key
  return listed.every((id) => includedEvents.has(`${containerId} ${id}`)) ? 'included' : 'fetch'
}

/** Both are sorted. */
function equalLists(one: readonly string[], two: readonly string[]): boolean {
  return one.length === two.length && one.every((id, index) => id === two[index])
}

async function storeWithEvents(run: Run, pending: readonly ComparedSighting[]): Promise<void> {
  const ids = pending.map(({ sighting }) => sighting.record.key)
  const fetched = await fetchTransportEvents(run, ids)
  const draft = await compareIntake(
    run,
    mergeIntakes(fetched.flatMap(({ intake }) => intake ?? [])),
  )
  const byId = new Map(fetched.map((events) => [events.containerId, events]))
  const withEvents = pending.map((candidate) => asFetched(candidate, byId))
  await writeDraft(run, {
    ...draft,
    compared: [...withEvents, ...draft.compared],
    eventLists: fetched.flatMap(({ list }) => list ?? []),
  })
}

/**
 * A container that vanished between the list and its events is stored without its list of event ids: the next run then finds
 * the list changed and asks again.
 */
function asFetched(
  candidate: ComparedSighting,
  byId: ReadonlyMap<string, FetchedEvents>,
): ComparedSighting {
  const { sighting, stored } = candidate
  if (byId.get(sighting.record.key)?.intake !== undefined) return candidate
  const index = containers.columnIndex.get('transport_event_ids')
  const values = sighting.record.values.map((value, at) => (at === index ? undefined : value))
  const record = { ...sighting.record, values, fingerprint: '' }
  return { sighting: { ...sighting, record }, stored }
}

async function writeDraft(run: Run, draft: Draft): Promise<void> {
  const { compared, eventLists, quarantined, deltas, refetched } = draft
  const isNothingNew = compared.length === 0 && eventLists.length === 0 && quarantined.length === 0
  if (isNothingNew && refetched === undefined) {
    run.ledger.add(deltas)
    return
  }
  const references = run.memory.unknownReferences(
    compared.flatMap(({ sighting }) => sighting.record.references),
  )
  const { syncRunId } = run
  try {
    const written = await writeBatch(
      run.warehouse,
      {
        syncRunId,
        source: 'sync',
        sightings: compared,
        eventLists,
        quarantined,
        references,
        ...(refetched === undefined ? {} : { refetched }),
      },
      (counts) => run.ledger.preview(withWritten(deltas, counts)),
    )
    run.ledger.add(withWritten(deltas, written))
  } catch (thrown) {
    if (!(thrown instanceof WarehouseDataError) || compared.length === 0) throw thrown
    await writeAround(run, draft, thrown)
    return
  }
  run.memory.rememberReferences(references)
  run.memory.remember(
    recordsOf(compared.map(({ sighting }) => sighting)).filter(({ resource }) =>
      isMetOften(resource.stream),
    ),
  )
}

/**
 * PostgreSQL refused a value that our own rules let through. The batch is halved until the record that holds it is found and
 * set aside; all others land.
 */
async function writeAround(run: Run, draft: Draft, refusal: WarehouseDataError): Promise<void> {
  const { compared } = draft
  const [culprit] = compared
  if (compared.length === 1 && culprit !== undefined) {
    const { record } = culprit.sighting
    const { stream, type } = record.resource
    const deltas = new Map(draft.deltas)
    addToDelta(deltas, stream, { quarantined: 1 })
    const quarantined = [
      ...draft.quarantined,
      {
        stream,
        resourceType: type,
        recordId: record.key,
        reason: refusal.message,
        pointer: '',
        payload: stringifyExactJson({ values: record.values, unmapped: record.unmapped }),
        source: 'refused by the database',
      },
    ]
    const { refetched, ...rest } = draft
    await writeDraft(run, { ...rest, compared: [], deltas, quarantined })
    if (refetched !== undefined) await postponeRefetch(run.warehouse, refetched, refusal.message)
    return
  }
  const middle = Math.ceil(compared.length / 2)
  const rest = { eventLists: [], quarantined: [], deltas: new Map<string, CountsDelta>() }
  await writeDraft(run, { ...rest, compared: compared.slice(0, middle) })
  await writeDraft(run, { ...draft, compared: compared.slice(middle) })
}

function withWritten(
  deltas: ReadonlyMap<string, CountsDelta>,
  written: ReadonlyMap<string, BatchCounts>,
): Map<string, CountsDelta> {
  const sum = new Map(deltas)
  for (const [stream, counts] of written) addToDelta(sum, stream, { ...counts })
  return sum
}
