import pLimit from 'p-limit'
import {
  ApiAuthError,
  ApiContractError,
  ApiNotFoundError,
  ApiUnavailableError,
} from '../base/errors.js'
import { SimulatedCrash } from '../base/failpoint.js'
import { backoffMs } from '../base/retry.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { resourceOfType } from '../source/records/index.js'
import { isReferenceType } from '../source/records/resource.js'
import { loadRowsByKey } from '../warehouse/rows/stored-rows.js'
import { loadListedEventIds } from '../warehouse/rows/transport-event-lists.js'
import { isReferenced } from '../warehouse/bookkeeping/reference-checks.js'
import {
  EVENT_LIST_ENTRY,
  postponeRefetch,
  removeRefetches,
  type ClaimedRefetch,
} from '../warehouse/bookkeeping/refetch-queue.js'
import {
  contradictsContainer,
  fetchEventsOf,
  LIST_WITHOUT_EVENTS,
} from './fetch-transport-events.js'
import { ingestAnswer } from './ingest-pages.js'
import { mergeIntakes, setAsideOf, type Intake } from './intake.js'
import { markGone } from './mark-gone.js'
import { readById, tryRead } from './read-by-id.js'
import { REQUESTS_AT_ONCE, type Ingest } from './run.js'
import type { Sink } from './sink.js'

type Entry = ResourceIdentifier & Partial<ClaimedRefetch>

/**
 * A list of events that proved nothing, because rows moved while it was read, is read again after
 * this time.
 */
const UNPROVEN_WAIT_MS = 60_000

/**
 * Reads the record or list of an entry of the refetch queue, stores it by the rule of all writes,
 * and takes the entry off the queue in the same transaction. It costs one request, and one for the
 * events of a container whose list of them changed.
 *
 * A record that is gone (404) is never invented: the entry goes and nothing is written. If it still
 * has a row, the row is left to the passes of the runs, which alone mark rows as gone. A reference
 * that is gone is requested again after a day at the earliest, as long as rows point to it. An
 * entry that cannot be read rests with its reason. A failure of the account or the service as a
 * whole is thrown, and the entry stays.
 */
export async function readRefetch(run: Ingest, entry: Entry): Promise<void> {
  const isList = entry.type === EVENT_LIST_ENTRY
  const read = () => (isList ? readEventList(run, entry) : readRecord(run, entry))
  const refusal = await tryRead(run, read)
  if (refusal instanceof Error) await settleRefusal(run, entry, refusal)
}

/**
 * The same for several entries. References, of which a first load reads hundreds, are read side by
 * side and stored together, in one transaction instead of one for each; then the others, one after
 * the other. When a read fails, or the run is told to stop, the records read before are stored.
 */
export async function readRefetches(run: Ingest, entries: readonly Entry[]): Promise<void> {
  const { source, sink, notes } = run
  const isOver = (): boolean => source.signal.aborted || notes.ledger.isServiceFailing
  const answers: { readonly entry: Entry; readonly intake: Intake }[] = []
  let failure: { readonly thrown: unknown } | undefined
  const readOne = async (entry: Entry): Promise<void> => {
    if (failure !== undefined || isOver()) return
    try {
      const answer = await tryRead(run, () => readById(run, entry))
      if (answer instanceof Error) await settleRefusal(run, entry, answer)
      else answers.push({ entry, intake: answer.intake })
    } catch (thrown) {
      failure ??= { thrown }
    }
  }
  // Not side by side: each writes the counts of the run.
  const store = async (): Promise<void> => {
    const usable = answers.filter(({ entry, intake }) => holdsRecord(intake, entry))
    if (usable.length > 0) {
      const refetched = usable.map(({ entry }) => entry)
      const intake = mergeIntakes(usable.map((one) => one.intake))
      for (const sightings of intake.sightings.values()) sink.memory.note(sightings)
      // A read by id must find the truth: it believes no hash.
      const storing = sink.mode === 'sync' ? { ...run, sink: sink.byValue() } : run
      await ingestAnswer(storing, intake, { refetched })
    }
    for (const { entry, intake } of answers) {
      if (!holdsRecord(intake, entry)) await storeWithoutRecord(run, intake, entry)
    }
  }
  // The first vessel shows whether the account may see positions: the others must wait for it.
  const limit = pLimit(source.settings.vesselPositions ? 1 : REQUESTS_AT_ONCE)
  await limit.map(entries.filter(isReference), readOne)
  if (failure !== undefined) {
    const { thrown } = failure
    if (thrown instanceof SimulatedCrash) throw thrown
    // Report the first failure.
    await store().catch((second: unknown) => {
      if (second instanceof SimulatedCrash) throw second
    })
    throw thrown
  }
  await store()
  for (const entry of entries) {
    if (!isReference(entry) && !isOver()) await readRefetch(run, entry)
  }
}

function isReference({ type }: Entry): boolean {
  return isReferenceType(type)
}

/** The record is gone or cannot be read: the queue drops its entry or says so. */
async function settleRefusal(run: Ingest, entry: Entry, refusal: Error): Promise<void> {
  const isGone = refusal instanceof ApiNotFoundError || refusal instanceof ApiContractError
  const isSettling = (isGone || refusal instanceof ApiAuthError) && isReference(entry)
  const isDropped = isSettling ? await isSettled(run, entry, refusal) : isGone
  const { type, id } = entry
  const message = isDropped ? 'a record to refetch is gone' : 'a record cannot be refetched'
  run.notes.logger.warn(message, { type, id, error: refusal })
  if (isDropped) await drop(run.sink, entry)
  else await postpone(run.sink, entry, refusal.message, restOf(entry, refusal))
}

function drop(sink: Sink, entry: Entry): Promise<void> {
  return sink.retry((warehouse) => removeRefetches(warehouse, [entry]))
}

function postpone(sink: Sink, entry: Entry, why: string, waitMs?: number): Promise<void> {
  return sink.retry((warehouse) => postponeRefetch(warehouse, entry, why, waitMs))
}

const DAY_MS = 24 * 3_600_000

/** A read that may work again soon is tried again soon, and then at longer and longer intervals. */
function restOf({ attempts = 0 }: Entry, thrown: Error): number {
  if (!(thrown instanceof ApiUnavailableError)) return DAY_MS
  return backoffMs(attempts + 1, 60_000, DAY_MS)
}

/**
 * Settles a place or vessel that the service does not show by id. A 404 marks its row, unless
 * another row points to it: the service has rail terminals only beside other records, without an
 * address. The id is requested again when its check is due. Without a row it is settled when no row
 * points to it.
 */
async function isSettled(run: Ingest, entry: Entry, refusal: Error): Promise<boolean> {
  const resource = resourceOfType(entry.type)
  const rows = await run.sink.retry((warehouse) => loadRowsByKey(warehouse, resource, [[entry.id]]))
  const isPointedTo = await isNamed(run.sink, entry)
  if (rows.size === 0) return !isPointedTo
  const observedAt = refusal instanceof ApiNotFoundError ? refusal.observedAt : undefined
  if (observedAt !== undefined && !isPointedTo) {
    await markGone(run, resource, [{ key: entry.id, observedAt }])
  }
  return true
}

/** A reference is not needed once no row points to it. */
function isNamed(sink: Sink, { id }: Entry): Promise<boolean> {
  return sink.retry((warehouse) => isReferenced(warehouse, id))
}

async function readRecord(run: Ingest, entry: Entry): Promise<void> {
  const { intake } = await readById(run, entry)
  if (holdsRecord(intake, entry)) await ingestAnswer(run, intake, { refetched: [entry] })
  else await storeWithoutRecord(run, intake, entry)
}

function holdsRecord(intake: Intake, { type, id }: Entry): boolean {
  const sightings = intake.sightings.get(resourceOfType(type).stream) ?? []
  return sightings.some(({ key }) => key === id)
}

/**
 * The record was set aside, or another one came. A later run may meet no reference to it, so only
 * the queue remembers that it is missing.
 */
async function storeWithoutRecord(run: Ingest, intake: Intake, entry: Entry): Promise<void> {
  await ingestAnswer(run, setAsideOf(intake))
  const why = 'the answer does not hold the record, see quarantine'
  const isDropped = isReference(entry) && !(await isNamed(run.sink, entry))
  await (isDropped ? drop(run.sink, entry) : postpone(run.sink, entry, why))
}

async function readEventList(run: Ingest, entry: Entry): Promise<void> {
  const { intake, list, gone } = await fetchEventsOf(run, entry.id)
  // The passes find out the fate of the container.
  if (gone !== undefined) return drop(run.sink, entry)
  if (list === undefined) {
    await ingestAnswer(run, intake)
    const why = 'the list of events changed while it was read'
    return postpone(run.sink, entry, why, UNPROVEN_WAIT_MS)
  }
  // The list holds past events only; an expected one that the container itself names was not
  // withdrawn.
  const named = await run.sink.retry((warehouse) => loadListedEventIds(warehouse, entry.id))
  if (contradictsContainer(list, named)) return postpone(run.sink, entry, LIST_WITHOUT_EVENTS)
  const transportEventIds = [...list.transportEventIds, ...named]
  const eventLists = [{ ...list, transportEventIds }]
  await ingestAnswer(run, intake, { refetched: [entry], eventLists })
}
