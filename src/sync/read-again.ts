import { carryAll } from '../ingest/drift-watch.js'
import { mergeIntakes, type Intake } from '../ingest/intake.js'
import type { Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import { resourceOfType } from '../source/records/index.js'
import { REFERENCE_TYPES, type Sighting } from '../source/records/resource.js'
import {
  loadReferenceRows,
  planReferenceChecks,
  type ReferenceRow,
} from '../warehouse/bookkeeping/reference-checks.js'
import { queueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import { findFullerRows } from '../warehouse/rows/stored-rows.js'
import type { Sink } from '../ingest/sink.js'

const REFERENCE_STREAMS: ReadonlySet<string> = new Set(
  REFERENCE_TYPES.map((type) => resourceOfType(type).stream),
)

/**
 * Compares places and vessels whose check is due with the service, value by value: nothing else
 * would show a new name, or an edit of the row. A backfill compares all of them. Records that the
 * run has seen included, with every attribute that the interface names and the row has, cost no
 * request; the others are queued to be read by id. Plans the first check of new ones.
 */
export async function readReferencesAgain(run: Run): Promise<void> {
  const { sink } = run
  const { memory, mode } = sink
  const rows = await planFirst(sink)
  const due = rows.filter(({ isDue }) => isDue === true || (isDue === false && mode === 'backfill'))
  if (due.length === 0) return
  const noted = due.flatMap((one) => memory.noted(one) ?? [])
  const fuller = await sink.retry((warehouse) => findFullerRows(warehouse, noted))
  const shown = noted.filter((one) => !fuller.has(one) && (one.isComplete || carryAll([one])))
  if (shown.length > 0) {
    // By value: a row that somebody edited has the hash of the service's record.
    await ingestAnswer({ ...run, sink: sink.byValue() }, intakeOf(shown))
  }
  const isShown = new Set(shown.map(({ resource, key }) => `${resource.type} ${key}`))
  const asked = due.filter(({ type, id }) => !isShown.has(`${type} ${id}`))
  await sink.transact(PLAN, async (session) => {
    const entries = asked.map(({ type, id }) => ({ type, id }))
    await queueRefetches(session, entries, 'read again within a week')
    await planReferenceChecks(session, due, false)
  })
}

const PLAN = 'plan checks of places and vessels'

/** Plans the first check of places and vessels that `work` adds. */
export async function planFirstChecks(run: Run, work: () => Promise<void>): Promise<void> {
  const before = countInserted(run)
  await work()
  if (countInserted(run) !== before) await planFirst(run.sink)
}

function countInserted({ notes: { ledger } }: Run): number {
  return ledger
    .states()
    .filter(({ stream }) => REFERENCE_STREAMS.has(stream))
    .reduce((sum, { counts }) => sum + counts.inserted, 0)
}

/** Returns all places and vessels as they were before. */
async function planFirst(sink: Sink): Promise<ReferenceRow[]> {
  const rows = await sink.retry((warehouse) =>
    warehouse.unfencedTransaction('list places and vessels', loadReferenceRows),
  )
  const unplanned = rows.filter(({ isDue }) => isDue === undefined)
  if (unplanned.length > 0) {
    await sink.transact(PLAN, (session) => planReferenceChecks(session, unplanned, true))
  }
  return rows
}

function intakeOf(sightings: readonly Sighting[]): Intake {
  const streams = new Set(sightings.map(({ resource }) => resource.stream))
  const of = (stream: string): Sighting[] =>
    sightings.filter(({ resource }) => resource.stream === stream)
  return {
    ...mergeIntakes([]),
    sightings: new Map([...streams].map((stream) => [stream, of(stream)])),
  }
}
