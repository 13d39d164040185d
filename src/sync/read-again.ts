import { carryAll } from '../ingest/drift-watch.js'
import type { Intake } from '../ingest/intake.js'
import type { Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
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
  const { warehouse, memory, mode } = run.sink
  const rows = await run.sink.retry(() =>
    warehouse.unfencedTransaction('list places and vessels', loadReferenceRows),
  )
  await planFirst(run.sink, rows)
  const due = rows.filter(({ isDue }) => isDue === true || (isDue === false && mode === 'backfill'))
  if (due.length === 0) return
  const noted = due.flatMap((one) => memory.noted(one) ?? [])
  const fuller = await run.sink.retry(() => findFullerRows(warehouse, noted))
  const shown = noted.filter((one) => !fuller.has(one) && (one.isComplete || carryAll([one])))
  if (shown.length > 0) {
    // By value: a row that somebody edited has the hash of the service's record.
    await ingestAnswer({ ...run, sink: run.sink.byValue() }, intakeOf(shown))
  }
  const isShown = new Set(shown.map(({ resource, key }) => `${resource.type} ${key}`))
  const asked = due.filter(({ type, id }) => !isShown.has(`${type} ${id}`))
  await run.sink.transact('plan checks of places and vessels', async (session) => {
    await queueRefetches(session, asked.map(identifierOf), 'read again within a week')
    await planReferenceChecks(session, due, false)
  })
}

/** Plans the first check of places and vessels that `work` adds. */
export async function planFirstChecks(run: Run, work: () => Promise<void>): Promise<void> {
  const before = countMade(run)
  await work()
  if (countMade(run) === before) return
  const rows = await run.sink.retry(() =>
    run.sink.warehouse.unfencedTransaction('list places and vessels', loadReferenceRows),
  )
  await planFirst(run.sink, rows)
}

function countMade({ notes: { ledger } }: Run): number {
  return ledger
    .states()
    .filter(({ stream }) => REFERENCE_STREAMS.has(stream))
    .reduce((sum, { counts }) => sum + counts.inserted, 0)
}

async function planFirst(sink: Sink, rows: readonly ReferenceRow[]): Promise<void> {
  const isNew = rows.filter(({ isDue }) => isDue === undefined)
  if (isNew.length === 0) return
  await sink.transact('plan checks of places and vessels', (session) =>
    planReferenceChecks(session, isNew, true),
  )
}

function identifierOf({ type, id }: ResourceIdentifier): ResourceIdentifier {
  return { type, id }
}

function intakeOf(sightings: readonly Sighting[]): Intake {
  const streams = new Set(sightings.map(({ resource }) => resource.stream))
  const of = (stream: string): Sighting[] =>
    sightings.filter(({ resource }) => resource.stream === stream)
  return {
    sightings: new Map([...streams].map((stream) => [stream, of(stream)])),
    recognized: new Map(),
    quarantined: [],
    transportEventIds: new Map(),
    containerIds: new Map(),
    isDoubtful: false,
  }
}
