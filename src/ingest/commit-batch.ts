import { ConnectorError, WarehouseDataError } from '../base/errors.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { stringifyExactJson } from '../source/jsonapi/exact-json.js'
import { resourceOfType } from '../source/records/index.js'
import type { Sighting } from '../source/records/resource.js'
import {
  advancePass,
  saveCheckpoint,
  type Checkpoint,
} from '../warehouse/bookkeeping/checkpoints.js'
import {
  quarantineRecords,
  type QuarantinedRecord,
} from '../warehouse/bookkeeping/quarantined-records.js'
import {
  EVENT_LIST_ENTRY,
  postponeRefetch,
  queueMissingReferences,
  queueRefetches,
  releaseRefetches,
  removeRefetches,
  type ClaimedRefetch,
} from '../warehouse/bookkeeping/refetch-queue.js'
import { saveStreamStates } from '../warehouse/bookkeeping/sync-runs.js'
import { pipeline, type Session } from '../warehouse/connection/warehouse.js'
import { TO_BE_UPSERTED } from '../warehouse/rows/insert-rows.js'
import type { ListBehindEvent } from '../warehouse/rows/transport-event-lists.js'
import { doubtLists } from '../warehouse/rows/unlisted-events.js'
import { writeRows, type BatchCounts, type RowBatch } from '../warehouse/rows/write-rows.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'
import type { Ingest } from './run.js'
import type { Sink } from './sink.js'

/** Everything that is written in one transaction. */
export interface Batch extends RowBatch {
  readonly quarantined: readonly QuarantinedRecord[]
  /** To be refetched: what was seen of them is older than their row. */
  readonly doubtful: readonly ResourceIdentifier[]
  /** Entries of the refetch queue that this batch answers. */
  readonly refetched: readonly (ResourceIdentifier & Partial<ClaimedRefetch>)[]
  /** Of the pass, once this batch is in the warehouse. */
  readonly checkpoint?: Checkpoint
  readonly counts: ReadonlyMap<string, CountsDelta>
}

/** By stream, what became of the records of a batch. */
export type Outcome = ReadonlyMap<string, CountsDelta>

type Refetched = Batch['refetched'][number]

/** The reason to distrust a stream whose records differ from newer rows. */
export const OLDER_THAN_ROWS =
  'records differ from rows that are stamped later than they were read: a clock was wrong. ' +
  'Check the clocks of the database and of this machine, then run `tracking-sync backfill`'

const LATER_MS = 600_000

/**
 * Writes a batch in one transaction, and an empty batch in none, and adds its outcome to the notes
 * once it is there. A record that PostgreSQL refuses
 * is set aside, and everything else is written: then in several transactions, of which the last one
 * closes the batch; but each answered entry of the refetch queue goes with its record.
 */
export async function commitBatch(run: Ingest, batch: Batch): Promise<void> {
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
  const { sightings } = batch
  if (isNothingNew(batch) && batch.refetched.length === 0 && batch.checkpoint === undefined) {
    ledger.add(batch.counts)
    return
  }
  const references = memory.unknownReferences(sightings)
  try {
    ledger.add(await run.sink.retry(() => writeBatch(run, batch, references)))
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
  return sink.retry((warehouse) => postponeRefetch(warehouse, entry, why, waitMs))
}

function isAnswer({ resource, key }: Sighting, entry: Refetched): boolean {
  return isSame({ type: resource.type, id: key }, entry)
}

function isSame(one: Pick<Refetched, 'type' | 'id'>, other: Refetched): boolean {
  return one.type === other.type && one.id === other.id
}

/** It brings neither rows nor work. */
function isNothingNew({ sightings, eventLists, quarantined, doubtful }: Batch): boolean {
  return [sightings, eventLists, quarantined, doubtful].every(({ length }) => length === 0)
}

/**
 * One transaction: rows in key order, histories, children, tombstones of withdrawn events,
 * quarantine, and the counts of the run. All or nothing; may be repeated as a whole. A batch that
 * only moves a pass takes no transaction: see `advancePass`.
 */
async function writeBatch(
  { sink, notes }: Pick<Ingest, 'sink' | 'notes'>,
  batch: Batch,
  references: readonly ResourceIdentifier[],
): Promise<Outcome> {
  const { warehouse, reachFailpoint } = sink
  if (await isOnlyAnAdvance(sink, batch, references)) return batch.counts
  return warehouse.transaction('write a batch', async (session) => {
    const written = await writeRows(session, batch, reachFailpoint)
    const outcome = outcomeOf(batch, written.counts)
    reachFailpoint('before_checkpoint')
    const { syncRunId, checkpoint } = batch
    // A batch that only moves the checkpoint leaves the counts to the end of the run.
    const states = isNothingNew(batch) ? [] : notes.ledger.preview(outcome)
    await pipeline([
      doubtLists(session, written.inDoubt),
      queueMissingReferences(session, references),
      queueRefetches(session, batch.doubtful, 'a sighting was older than the row'),
      answerRefetches(session, batch.refetched, written.listsBehind),
      quarantineRecords(session, batch.quarantined, batch.syncRunId),
      ...(syncRunId === null ? [] : [saveStreamStates(session, syncRunId, states)]),
      ...(syncRunId === null || checkpoint === undefined
        ? []
        : [saveCheckpoint(session, syncRunId, checkpoint)]),
    ])
    return outcome
  })
}

function outcomeOf(
  { counts, sightings }: Batch,
  written: ReadonlyMap<string, BatchCounts>,
): Outcome {
  const sum = new Map(counts)
  for (const [stream, own] of written) addToDelta(sum, stream, { ...own })
  for (const { resource, coercions } of sightings) {
    if (coercions !== null) addToDelta(sum, resource.stream, { coerced: 1 })
  }
  return sum
}

/** Why an event list that was not believed is in the refetch queue. */
export const LIST_BEHIND_EVENT =
  'a transport event was seen later than the list that it is missing from'

const SHORTEST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 24 * 3_600_000

/**
 * Takes what this batch answers off the refetch queue. Lists that could not be believed are queued:
 * they are refetched once the service's clock has passed what is ahead of them.
 */
async function answerRefetches(
  session: Session,
  answered: Batch['refetched'],
  lists: readonly ListBehindEvent[],
): Promise<void> {
  const entries = lists.map(({ containerId }) => ({ type: EVENT_LIST_ENTRY, id: containerId }))
  const furthest = lists.reduce((most, { behindMs }) => Math.max(most, behindMs), SHORTEST_WAIT_MS)
  const waitMs = Math.min(furthest, LONGEST_WAIT_MS)
  await pipeline([
    queueRefetches(session, entries, LIST_BEHIND_EVENT, waitMs),
    removeRefetches(session, answered),
  ])
  // After that, for one of them may be an entry that was just answered: it stays, and waits again.
  await releaseRefetches(session, entries, waitMs)
}

/** True when the batch holds nothing but a checkpoint, and that is recorded. */
async function isOnlyAnAdvance(
  { warehouse }: Sink,
  batch: Batch,
  references: readonly ResourceIdentifier[],
): Promise<boolean> {
  const { syncRunId, checkpoint, refetched } = batch
  if (syncRunId === null || checkpoint === undefined) return false
  if (!isNothingNew(batch) || refetched.length + references.length > 0) return false
  return advancePass(warehouse, syncRunId, checkpoint)
}
