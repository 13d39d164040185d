import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { containers, resources } from '../source/records/index.js'
import type { Sighting } from '../source/records/resource.js'
import { recordDigests } from '../warehouse/rows/row-digests.js'
import { EVENT_LIST_ENTRY, findResting } from '../warehouse/bookkeeping/refetch-queue.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import type { Batch } from '../warehouse/rows/write-batch.js'
import { decide, type Known } from './decide.js'
import {
  askForEventListsAgain,
  contradictsContainer,
  askForRefusedLists,
  fetchWhatIsShown,
} from './fetch-transport-events.js'
import { isMetOften } from './fingerprint-memory.js'
import { mergeIntakes, type Intake } from './intake.js'
import { findDiffering, loadKnown, refetchOf } from './known-rows.js'
import type { Ingest } from './run.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'
import { OLDER_THAN_ROWS, storeBatch } from './store-batch.js'
import type { Sink } from './sink.js'

/**
 * Containers whose transport events must be fetched are written this many at a time, each with its
 * events in one transaction: a killed run repeats at most these requests.
 */
const CONTAINERS_PER_FETCH = 20

/** The further work of an intake's last transaction. */
type Closing = Partial<Pick<Batch, 'refetched' | 'eventLists' | 'checkpoint'>>

/**
 * Compares an answer with the warehouse and writes the differences: rows, histories, quarantine and
 * counts in one transaction; then, in batches, the containers whose list of transport events
 * changed, together with those events. A record that equals its row is not written, and an answer
 * without a difference takes no transaction at all.
 */
export async function storeIntake(
  run: Ingest,
  intake: Intake,
  closing: Closing = {},
): Promise<void> {
  const { batch, known, fetchEvents } = await compare(run, intake)
  const isPending = ({ resource, key }: Sighting): boolean =>
    resource === containers && fetchEvents.has(key)
  const pending = batch.sightings.filter(isPending)
  const sightings = batch.sightings.filter((sighting) => !isPending(sighting))
  const first = pending.length === 0 ? closing : {}
  const eventLists = [...batch.eventLists, ...(first.eventLists ?? [])]
  // They count as fetched with the batch that writes them, which a failure may prevent.
  const counts = new Map(batch.counts)
  if (pending.length > 0) addToDelta(counts, containers.stream, { fetched: -pending.length })
  await storeBatch(run, { ...batch, ...first, sightings, eventLists, counts })
  for (let start = 0; start < pending.length; start += CONTAINERS_PER_FETCH) {
    run.source.signal.throwIfAborted()
    const end = start + CONTAINERS_PER_FETCH
    const last = end >= pending.length ? closing : {}
    await storeWithEvents(run, pending.slice(start, end), { intake, known, closing: last })
  }
}

const NOTHING_KNOWN: Known = { rows: new Map(), passes: new Map() }

interface Compared {
  readonly batch: Batch
  readonly known: Known
  /** Containers of the batch whose transport events must be fetched first. */
  readonly fetchEvents: ReadonlySet<string>
}

async function compare(run: Ingest, intake: Intake): Promise<Compared> {
  const { warehouse, memory, mode, syncRunId } = run.sink
  const { names } = warehouse
  run.notes.drift.notice(intake)
  for (const sightings of intake.sightings.values()) memory.note(sightings)
  const unmet = { ...intake, sightings: new Map<string, readonly Sighting[]>() }
  for (const [stream, sightings] of intake.sightings) {
    const others = sightings.filter((one) => !memory.has(one))
    if (others.length > 0) unmet.sightings.set(stream, others)
  }
  const options = { mode, isLoad: run.notes.ledger.isLoading('containers') }
  const known =
    unmet.sightings.size === 0
      ? NOTHING_KNOWN
      : await run.sink.retry(() =>
          warehouse.read('load known rows', (session) =>
            loadKnown(session, names, [unmet], options),
          ),
        )
  const decision = decide([unmet], known, mode)
  const { withoutRow } = decision
  const { sightings, eventLists } = decision.rounds[0] ?? { sightings: [], eventLists: [] }
  const stale = await run.sink.retry(() => findDiffering(warehouse, names, decision.doubtful))
  const isStale = new Set(stale)
  const equal = [...decision.equal, ...decision.doubtful.filter((one) => !isStale.has(one))]
  await fillDigests(run.sink, equal, known)
  memory.remember(equal)
  const batch = {
    syncRunId,
    mode,
    sightings,
    withoutRow,
    eventLists,
    quarantined: intake.quarantined,
    doubtful: toRefetches(run, stale),
    refetched: [],
    counts: countsOf(intake, { equal, stale, written: sightings }),
  }
  return { batch, known, fetchEvents: decision.fetchEvents }
}

/**
 * A recognized record equals its row, or, if it comes with every page, one that the run has met.
 */
function countsOf(
  intake: Intake,
  parts: Readonly<Record<'equal' | 'stale' | 'written', readonly Sighting[]>>,
): Map<string, CountsDelta> {
  const counts = new Map<string, CountsDelta>()
  for (const { stream } of intake.quarantined) {
    addToDelta(counts, stream, { fetched: 1, quarantined: 1 })
  }
  for (const { stream } of resources) {
    const keys = intake.recognized.get(stream) ?? []
    const recognized = isMetOften(stream) ? 0 : new Set(keys).size
    const fetched = keys.length + (intake.sightings.get(stream)?.length ?? 0)
    if (fetched === 0) continue
    const count = (part: readonly Sighting[]): number =>
      part.filter(({ resource }) => resource.stream === stream).length
    const unchanged = recognized + count(parts.equal)
    const stale = count(parts.stale)
    const duplicate = fetched - unchanged - stale - count(parts.written)
    addToDelta(counts, stream, { fetched, duplicate, unchanged, stale })
  }
  return counts
}

/** Lets the next run recognize these records by their bytes. */
async function fillDigests(sink: Sink, equal: readonly Sighting[], { rows }: Known): Promise<void> {
  const undigested = equal.filter(
    ({ resource, key, digest }) =>
      digest !== null && rows.get(resource.stream)?.get(key)?.hasDigest === false,
  )
  if (undigested.length === 0) return
  const { warehouse } = sink
  await sink.retry(() =>
    warehouse.transaction('record digests', async (session) => {
      for (const resource of resources) {
        const own = undigested.filter((one) => one.resource === resource)
        await recordDigests(session, warehouse.names, resource, own)
      }
    }),
  )
}

/** If more than this many of one answer look stale, suspect the clock, not the records. */
const MOST_REFETCHES = 20

/**
 * Records that differ from a row seen later. A record that is not refetched makes its stream
 * distrusted.
 */
function toRefetches(
  { notes: { ledger } }: Ingest,
  stale: readonly Sighting[],
): ResourceIdentifier[] {
  const refetches = new Map<string, ResourceIdentifier>()
  for (const entry of stale.flatMap((sighting) => refetchOf(sighting) ?? [])) {
    refetches.set(`${entry.type} ${entry.id}`, entry)
  }
  const isSuspect = refetches.size > MOST_REFETCHES
  for (const sighting of stale) {
    const isRefetched = !isSuspect && refetchOf(sighting) !== undefined
    if (!isRefetched) ledger.distrust(sighting.resource.stream, OLDER_THAN_ROWS)
  }
  return isSuspect ? [] : [...refetches.values()]
}

async function storeWithEvents(
  run: Ingest,
  pending: readonly Sighting[],
  { intake, known, closing }: { intake: Intake; known: Known; closing: Closing },
): Promise<void> {
  const ids = pending.map(({ key }) => key)
  const resting = await run.sink.retry(() => findResting(run.sink.warehouse, EVENT_LIST_ENTRY, ids))
  const fetched = await fetchWhatIsShown(
    run,
    ids.filter((id) => !resting.has(id)),
  )
  run.sink.reachFailpoint('events_received')
  const { batch } = await compare(run, mergeIntakes(fetched.flatMap((one) => one.intake ?? [])))
  const counts = new Map(batch.counts)
  addToDelta(counts, containers.stream, { fetched: pending.length })
  const rows = known.rows.get(containers.stream)
  const lists = new Map(fetched.map(({ containerId, list }) => [containerId, list]))
  const withEvents = pending.map((sighting) => {
    const isDead = rows?.get(sighting.key)?.isDeleted === true
    return lists.get(sighting.key) === undefined ? withoutList(sighting, isDead) : sighting
  })
  const eventLists: TransportEventList[] = [...(closing.eventLists ?? [])]
  const contradictory: string[] = []
  for (const list of [...lists.values()].filter((one) => one !== undefined)) {
    const listed = intake.transportEventIds.get(list.containerId) ?? []
    // A list has past events only; one that the container itself still names was not withdrawn.
    eventLists.push({ ...list, transportEventIds: [...list.transportEventIds, ...listed] })
    if (contradictsContainer(list, listed)) contradictory.push(list.containerId)
  }
  await storeBatch(run, {
    ...batch,
    ...closing,
    sightings: [...withEvents, ...batch.sightings],
    eventLists,
    counts,
  })
  await askForEventListsAgain(run, contradictory)
  await askForRefusedLists(run, fetched)
}

/**
 * A container whose events are not all known, or that vanished before they were fetched, is stored
 * without its list of event ids: the next run then finds the list changed and asks again. A list
 * that is left from before its tombstone goes as well.
 */
function withoutList(sighting: Sighting, isDead: boolean): Sighting {
  const index = containers.columnIndex.get('transport_event_ids')
  const noList = isDead ? null : undefined
  const values = sighting.values.map((value, at) => (at === index ? noList : value))
  return { ...sighting, values, fingerprint: '', digest: null }
}
