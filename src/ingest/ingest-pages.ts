import type { RawPage } from '../source/client/list-pages.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { containers, resources } from '../source/records/index.js'
import type { FieldDefinitions, Sighting } from '../source/records/resource.js'
import { EVENT_LIST_ENTRY, findResting } from '../warehouse/bookkeeping/refetch-queue.js'
import { commitBatch, OLDER_THAN_ROWS, type Batch } from './commit-batch.js'
import { decide, type Decision, type Known } from './decide.js'
import {
  askForEventListsAgain,
  askForRefusedLists,
  contradictsContainer,
  fetchWhatIsShown,
} from './fetch-transport-events.js'
import { isMetOften } from './fingerprint-memory.js'
import { mergeIntakes, pageOptions, readPage, type Intake } from './intake.js'
import { lookUp, refetchOf, settleDoubt } from './known-rows.js'
import { noteDigests, recognizeNothing } from './recognize-records.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'
import type { Ingest } from './run.js'

/** The further work of an answer's last transaction. */
type Closing = Partial<Pick<Batch, 'refetched' | 'eventLists' | 'checkpoint'>>

/** A walk over the pages of a list. `Stop`: reasons to end it early. */
export interface Walk<Stop extends string> {
  readonly stream: string
  readonly pages: AsyncIterable<RawPage>
  readonly fieldDefinitions?: FieldDefinitions | undefined
  /**
   * Looks at a page before it is stored; only the first one still has its records. Returns the
   * checkpoint that goes with it, or why the walk ends before it.
   */
  readonly admit: (page: RawPage, intake: Intake) => Promise<Closing | Stop>
  /** Notes a page that is stored. */
  readonly note: (page: RawPage, intake: Intake) => Promise<void>
}

/**
 * The way of every list into the warehouse:
 *
 *   RawPage → Sighting → Known → Decision → Batch → Outcome → Checkpoint
 *
 * The next page is read while the last one is stored, and its bytes are released. Returns why the
 * walk ended early.
 */
export async function ingestPages<Stop extends string>(
  run: Ingest,
  walk: Walk<Stop>,
): Promise<Stop | undefined> {
  const { recognize = recognizeNothing } = run.source
  let before: Intake | undefined
  const read = async (page: RawPage): Promise<{ page: RawPage; intake: Intake }> => {
    const isFirst = before === undefined
    const options = { ...pageOptions(walk.stream, page), fieldDefinitions: walk.fieldDefinitions }
    const recognized = await recognize(page.document, before)
    before = await readPage(page.document, options, recognized)
    // The records are the largest thing that a run holds.
    const document = isFirst ? page.document : { ...page.document, primary: [], included: [] }
    return { page: { ...page, document }, intake: before }
  }
  for await (const { page, intake } of readAhead(walk.pages, read)) {
    const closing = await walk.admit(page, intake)
    if (typeof closing === 'string') return closing
    await ingestAnswer(run, intake, closing)
    await walk.note(page, intake)
  }
  return undefined
}

/**
 * Each item changed. The next one is fetched and changed while the caller works on the last. When
 * the caller stops or fails, the item under way is awaited, so that no rejection is left without a
 * handler.
 */
async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  change: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const iterator = items[Symbol.asyncIterator]()
  const advance = async (): Promise<IteratorResult<Result, undefined>> => {
    const item = await iterator.next()
    if (item.done === true) return { done: true, value: undefined }
    return { done: false, value: await change(item.value) }
  }
  let next = advance()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = advance()
      // It is awaited above or below; until then a failure must not count as unhandled.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await iterator.return?.()
  }
}

/**
 * Compares an answer with the warehouse and writes the differences: rows, histories, quarantine and
 * counts in one transaction; then, in batches, the containers whose list of transport events
 * changed, together with those events. A record that equals its row is not written, and an answer
 * without a difference takes no transaction at all.
 */
export async function ingestAnswer(
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
  await commitBatch(run, { ...batch, ...first, sightings, eventLists, counts })
  for (let start = 0; start < pending.length; start += CONTAINERS_PER_FETCH) {
    run.source.signal.throwIfAborted()
    const end = start + CONTAINERS_PER_FETCH
    const last = end >= pending.length ? closing : {}
    await ingestWithEvents(run, pending.slice(start, end), { intake, known, closing: last })
  }
}

/**
 * Containers whose transport events must be fetched are written this many at a time, each with its
 * events in one transaction: a killed run repeats at most these requests.
 */
const CONTAINERS_PER_FETCH = 20

/** The batch of an answer, and its containers whose transport events must be fetched first. */
async function compare(
  run: Ingest,
  intake: Intake,
): Promise<{ batch: Batch; known: Known; fetchEvents: ReadonlySet<string> }> {
  const { sink, notes } = run
  const { syncRunId, mode, memory } = sink
  notes.drift.notice(intake)
  for (const sightings of intake.sightings.values()) memory.note(sightings)
  const { unmet, known } = await lookUp(run, intake)
  const decision = await settleDoubt(sink, decide([unmet], known, mode))
  const { withoutRow, fetchEvents } = decision
  await noteDigests(sink, decision.equal, known)
  memory.remember(decision.equal)
  const { sightings, eventLists } = decision.rounds[0] ?? { sightings: [], eventLists: [] }
  const batch = {
    syncRunId,
    mode,
    sightings,
    withoutRow,
    eventLists,
    quarantined: intake.quarantined,
    doubtful: toRefetches(run, decision.doubtful),
    refetched: [],
    counts: countsOf(intake, decision, sightings),
  }
  return { batch, known, fetchEvents }
}

/**
 * A recognized record equals its row, or, if it comes with every page, one that the run has met.
 */
function countsOf(
  intake: Intake,
  { equal, doubtful }: Decision,
  written: readonly Sighting[],
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
    const unchanged = recognized + count(equal)
    const stale = count(doubtful)
    const duplicate = fetched - unchanged - stale - count(written)
    addToDelta(counts, stream, { fetched, duplicate, unchanged, stale })
  }
  return counts
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

/** Asks for the events of some containers, and writes both. */
async function ingestWithEvents(
  run: Ingest,
  pending: readonly Sighting[],
  { intake, known, closing }: { intake: Intake; known: Known; closing: Closing },
): Promise<void> {
  const { sink } = run
  const ids = pending.map(({ key }) => key)
  const resting = await sink.retry((warehouse) => findResting(warehouse, EVENT_LIST_ENTRY, ids))
  const fetched = await fetchWhatIsShown(
    run,
    ids.filter((id) => !resting.has(id)),
  )
  sink.reachFailpoint('events_received')
  const { batch } = await compare(run, mergeIntakes(fetched.map((one) => one.intake)))
  const counts = new Map(batch.counts)
  addToDelta(counts, containers.stream, { fetched: pending.length })
  const rows = known.rows.get(containers.stream)
  const lists = new Map(
    fetched.flatMap(({ containerId, list }) => (list === undefined ? [] : [[containerId, list]])),
  )
  const owners = pending.map((sighting) => {
    const isDead = rows?.get(sighting.key)?.isDeleted === true
    return lists.has(sighting.key) ? sighting : withoutList(sighting, isDead)
  })
  const eventLists = [...(closing.eventLists ?? [])]
  const contradictory: string[] = []
  for (const [containerId, list] of lists) {
    const listed = intake.transportEventIds.get(containerId) ?? []
    // A list has past events only; one that the container itself still names was not withdrawn.
    eventLists.push({ ...list, transportEventIds: [...list.transportEventIds, ...listed] })
    if (contradictsContainer(list, listed)) contradictory.push(containerId)
  }
  const sightings = [...owners, ...batch.sightings]
  await commitBatch(run, { ...batch, ...closing, sightings, eventLists, counts })
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
