import { ConnectorError, WarehouseDataError } from '../base/errors.js'
import { stringifyExactJson } from '../source/jsonapi/exact-json.js'
import { resourceOfType } from '../source/records/index.js'
import type { Sighting } from '../source/records/resource.js'
import { EVENT_LIST_ENTRY, postponeRefetch } from '../warehouse/bookkeeping/refetch-queue.js'
import { TO_BE_UPSERTED } from '../warehouse/rows/insert-rows.js'
import { writeBatch, type Batch, type BatchCounts } from '../warehouse/rows/write-batch.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'
import type { Ingest } from './run.js'
import type { Sink } from './sink.js'

type Refetched = Batch['refetched'][number]

/** The reason to distrust a stream whose records differ from newer rows. */
export const OLDER_THAN_ROWS =
  'records differ from rows that are stamped later than they were read: a clock was wrong. ' +
  'Check the clocks of the database and of this machine, then run `tracking-sync backfill`'

const LATER_MS = 600_000

/**
 * Writes a batch in one transaction, and an empty batch in none. A record that PostgreSQL refuses
 * is set aside, and everything else is written: then in several transactions, of which the last one
 * closes the batch; but each answered entry of the refetch queue goes with its record.
 */
export async function storeBatch(run: Ingest, batch: Batch): Promise<void> {
  const isDoubtful = (entry: Refetched): boolean => batch.doubtful.some((one) => isSame(one, entry))
  const inDoubt = batch.refetched.filter(isDoubtful)
  // Don't requeue a record we have just refetched because it looked stale: the same clock would put
  // it in doubt again at once.
  await write(run, {
    ...batch,
    refetched: batch.refetched.filter((entry) => !isDoubtful(entry)),
    doubtful: batch.doubtful.filter((one) => !inDoubt.some((entry) => isSame(one, entry))),
  })
  for (const entry of inDoubt) {
    const isList = entry.type === EVENT_LIST_ENTRY
    const stream = isList ? 'transport_events' : resourceOfType(entry.type).stream
    run.notes.ledger.distrust(stream, OLDER_THAN_ROWS)
    await postpone(run.sink, entry, OLDER_THAN_ROWS, LATER_MS)
  }
}

async function write(run: Ingest, batch: Batch): Promise<void> {
  const { memory, reachFailpoint } = run.sink
  const { ledger } = run.notes
  const { sightings, counts } = batch
  const isNothingNew = [sightings, batch.doubtful, batch.eventLists, batch.quarantined].every(
    ({ length }) => length === 0,
  )
  if (isNothingNew && batch.refetched.length === 0 && batch.checkpoint === undefined) {
    ledger.add(counts)
    return
  }
  const references = memory.unknownReferences(sightings)
  try {
    const written = await run.sink.retry(() =>
      writeBatch(run.sink.warehouse, batch, {
        references,
        reachFailpoint,
        // A batch that only moves the checkpoint leaves the counts to the end of the run.
        describe: (outcome) =>
          isNothingNew ? [] : ledger.preview(withWritten(counts, outcome, sightings)),
      }),
    )
    ledger.add(withWritten(counts, written, sightings))
    reachFailpoint('after_commit')
  } catch (thrown) {
    const code = thrown instanceof ConnectorError ? thrown.context.code : undefined
    if (TO_BE_UPSERTED.has(code) && batch.withoutRow.size > 0) {
      // A webhook came first, the warehouse holds events of a container that it does not hold, or
      // this login may not copy.
      await write(run, { ...batch, withoutRow: new Set() })
      return
    }
    if (!(thrown instanceof WarehouseDataError) || sightings.length === 0) throw thrown
    const [culprit, ...others] = sightings
    if (culprit !== undefined && others.length === 0) await setAside(run, batch, culprit, thrown)
    else await writeHalves(run, batch)
    return
  }
  memory.rememberReferences(references)
  memory.remember(sightings)
}

/** PostgreSQL refused a value that our own rules let through. */
async function setAside(
  run: Ingest,
  batch: Batch,
  culprit: Sighting,
  refusal: WarehouseDataError,
): Promise<void> {
  const { key, values, unmapped } = culprit
  const { stream, type } = culprit.resource
  const counts = new Map(batch.counts)
  addToDelta(counts, stream, { quarantined: 1 })
  const refused = {
    stream,
    resourceType: type,
    recordId: key,
    reason: refusal.message,
    pointer: '',
    payload: stringifyExactJson({ values, unmapped }),
    source: 'refused by the database',
  }
  await write(run, {
    ...batch,
    sightings: [],
    counts,
    quarantined: [...batch.quarantined, refused],
    refetched: batch.refetched.filter((entry) => !isAnswer(culprit, entry)),
  })
  for (const entry of batch.refetched.filter((one) => isAnswer(culprit, one))) {
    await postpone(run.sink, entry, refusal.message)
  }
}

/** Halves the batch until the refused record is found; each queue entry goes with its record. */
async function writeHalves(run: Ingest, batch: Batch): Promise<void> {
  const middle = Math.ceil(batch.sightings.length / 2)
  const sightings = batch.sightings.slice(0, middle)
  const isInFirst = (entry: Refetched): boolean => sightings.some((one) => isAnswer(one, entry))
  const { syncRunId, mode } = batch
  await write(run, {
    syncRunId,
    mode,
    sightings,
    withoutRow: batch.withoutRow,
    refetched: batch.refetched.filter(isInFirst),
    eventLists: [],
    quarantined: [],
    doubtful: [],
    counts: new Map(),
  })
  await write(run, {
    ...batch,
    sightings: batch.sightings.slice(middle),
    refetched: batch.refetched.filter((entry) => !isInFirst(entry)),
  })
}

function postpone(sink: Sink, entry: Refetched, why: string, waitMs?: number): Promise<void> {
  return sink.retry(() => postponeRefetch(sink.warehouse, entry, why, waitMs))
}

function isAnswer({ resource, key }: Sighting, entry: Refetched): boolean {
  return isSame({ type: resource.type, id: key }, entry)
}

function isSame(one: Pick<Refetched, 'type' | 'id'>, other: Refetched): boolean {
  return one.type === other.type && one.id === other.id
}

function withWritten(
  counts: ReadonlyMap<string, CountsDelta>,
  written: ReadonlyMap<string, BatchCounts>,
  sightings: readonly Sighting[],
): Map<string, CountsDelta> {
  const sum = new Map(counts)
  for (const [stream, outcome] of written) addToDelta(sum, stream, { ...outcome })
  for (const { resource, coercions } of sightings) {
    if (coercions !== null) addToDelta(sum, resource.stream, { coerced: 1 })
  }
  return sum
}
