import pLimit from 'p-limit'
import {
  ApiAuthError,
  ApiContractError,
  ApiNotFoundError,
  ApiUnavailableError,
  isAboutOneRecord,
  toError,
} from '../base/errors.js'
import { SimulatedCrash } from '../base/failpoint.js'
import { backoffMs } from '../base/retry.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { resourceOfType } from '../source/records/index.js'
import { REFERENCE_TYPES } from '../source/records/resource.js'
import { loadRowsByKey } from '../warehouse/rows/stored-rows.js'
import { tombstoneRows } from '../warehouse/rows/tombstones.js'
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
  fetchTransportEvents,
  LIST_WITHOUT_EVENTS,
} from './fetch-transport-events.js'
import { mergeIntakes, setAsideOf, type Intake } from './intake.js'
import { readById } from './read-by-id.js'
import { REQUESTS_AT_ONCE, type Ingest } from './run.js'
import { ingestAnswer } from './ingest-pages.js'
import type { Sink } from './sink.js'

type Entry = ResourceIdentifier & Partial<ClaimedRefetch>

const REFERENCES: ReadonlySet<string> = new Set(REFERENCE_TYPES)

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
  await unlessGone(run, entry, async () => {
    if (entry.type === EVENT_LIST_ENTRY) await readEventList(run, entry)
    else await readRecord(run, entry)
  })
}

/**
 * The same for several entries. References, of which a first load reads hundreds, are read side by
 * side and stored together, in one transaction instead of one for each; then the others, one after
 * the other. When a read fails, or the run is told to stop, the records read before are stored.
 */
export async function readRefetches(run: Ingest, entries: readonly Entry[]): Promise<void> {
  const read: { readonly entry: Entry; readonly intake: Intake }[] = []
  let failure: { readonly thrown: unknown } | undefined
  const readOne = async (entry: Entry): Promise<void> => {
    if (failure !== undefined || run.source.signal.aborted || run.notes.ledger.isServiceFailing)
      return
    try {
      const answer = await unlessGone(run, entry, () => readById(run, entry))
      if (answer !== undefined) read.push({ entry, intake: answer.intake })
    } catch (thrown) {
      failure ??= { thrown }
    }
  }
  // Not side by side: each writes the counts of the run.
  const store = async (): Promise<void> => {
    const held = read.filter(({ entry, intake }) => holdsRecord(intake, entry))
    if (held.length > 0) {
      const refetched = held.map(({ entry }) => entry)
      const intake = mergeIntakes(held.map((one) => one.intake))
      for (const sightings of intake.sightings.values()) run.sink.memory.note(sightings)
      await ingestAnswer(believingNoHash(run), intake, { refetched })
    }
    for (const { entry, intake } of read) {
      if (!holdsRecord(intake, entry)) await storeWithoutRecord(run, intake, entry)
    }
  }
  // The first vessel shows whether the account may see positions: the others must wait for it.
  const limit = pLimit(run.source.settings.vesselPositions ? 1 : REQUESTS_AT_ONCE)
  const isReference = ({ type }: Entry): boolean => REFERENCES.has(type)
  await Promise.all(entries.filter(isReference).map((entry) => limit(() => readOne(entry))))
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
    const isOver = run.source.signal.aborted || run.notes.ledger.isServiceFailing
    if (!isReference(entry) && !isOver) await readRefetch(run, entry)
  }
}

/** A read by id must find the truth. */
function believingNoHash(run: Ingest): Ingest {
  return run.sink.mode === 'sync' ? { ...run, sink: run.sink.byValue() } : run
}

/** Undefined when the record is gone or cannot be read; the queue then says so. */
async function unlessGone<Result>(
  run: Ingest,
  entry: Entry,
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await read()
    run.notes.ledger.noteRead()
    return result
  } catch (caught) {
    if (run.source.signal.aborted || !isAboutOneRecord(caught)) throw caught
    run.notes.ledger.noteRead(caught)
    const thrown = toError(caught)
    const isGone = thrown instanceof ApiNotFoundError || thrown instanceof ApiContractError
    const isSettling = (isGone || thrown instanceof ApiAuthError) && REFERENCES.has(entry.type)
    const isDropped = isSettling ? await isSettled(run, entry, thrown) : isGone
    run.notes.logger.warn(
      isDropped ? 'a record to refetch is gone' : 'a record cannot be refetched',
      {
        type: entry.type,
        id: entry.id,
        error: thrown,
      },
    )
    await run.sink.retry(() =>
      isDropped
        ? removeRefetches(run.sink.warehouse, [entry])
        : postponeRefetch(run.sink.warehouse, entry, thrown.message, restOf(entry, thrown)),
    )
    return undefined
  }
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
async function isSettled(run: Ingest, entry: Entry, thrown: Error): Promise<boolean> {
  const { warehouse, syncRunId, mode } = run.sink
  const resource = resourceOfType(entry.type)
  const rows = await run.sink.retry(() => loadRowsByKey(warehouse, resource, [[entry.id]]))
  const isPointedTo = await isNamed(run.sink, entry)
  if (rows.size === 0) return !isPointedTo
  const observedAt = thrown instanceof ApiNotFoundError ? thrown.observedAt : undefined
  if (observedAt === undefined || isPointedTo) return true
  const gone = [{ key: entry.id, observedAt }]
  const marked = await run.sink.retry(() =>
    warehouse.transaction('mark a place or vessel as gone', (session) =>
      tombstoneRows(session, resource, gone, { syncRunId, mode }),
    ),
  )
  run.notes.ledger.add(new Map([[resource.stream, { tombstoned: marked.length }]]))
  return true
}

/** A reference is not needed once no row points to it. */
function isNamed(sink: Sink, { id }: Entry): Promise<boolean> {
  return sink.retry(() => isReferenced(sink.warehouse, id))
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
  const isDropped = REFERENCES.has(entry.type) && !(await isNamed(run.sink, entry))
  await run.sink.retry(() =>
    isDropped
      ? removeRefetches(run.sink.warehouse, [entry])
      : postponeRefetch(run.sink.warehouse, entry, why),
  )
}

async function readEventList(run: Ingest, entry: Entry): Promise<void> {
  const [events] = await fetchTransportEvents(run, [entry.id])
  // The container is gone: the passes find out its fate.
  if (events?.intake === undefined) {
    return run.sink.retry(() => removeRefetches(run.sink.warehouse, [entry]))
  }
  const intake = mergeIntakes(events.intake)
  if (events.list === undefined) {
    await ingestAnswer(run, intake)
    const why = 'the list of events changed while it was read'
    return run.sink.retry(() => postponeRefetch(run.sink.warehouse, entry, why, UNPROVEN_WAIT_MS))
  }
  // The list holds past events only; an expected one that the container itself names was not
  // withdrawn.
  const named = await run.sink.retry(() => loadListedEventIds(run.sink.warehouse, entry.id))
  if (contradictsContainer(events.list, named)) {
    return run.sink.retry(() => postponeRefetch(run.sink.warehouse, entry, LIST_WITHOUT_EVENTS))
  }
  const transportEventIds = [...events.list.transportEventIds, ...named]
  await ingestAnswer(run, intake, {
    refetched: [entry],
    eventLists: [{ ...events.list, transportEventIds }],
  })
}
