import { shownKeys, readRecords, type Intake } from '../ingest/intake.js'
import { readRefetches } from '../ingest/read-refetch.js'
import type { Reading, Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import { vessels, webhookEventCategories } from '../source/records/index.js'
import { REFERENCE_TYPES } from '../source/records/resource.js'
import { claimRefetches, readDueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import { loadLiveKeys } from '../warehouse/rows/stored-rows.js'
import { tombstoneRows } from '../warehouse/rows/tombstones.js'

/**
 * Reads the catalogue of events that a webhook can subscribe to: one request. It is complete: rows
 * of missing categories are marked as gone.
 */
export async function readEventCatalogue(run: Run): Promise<void> {
  const { intake, observedAt } = await askForCatalogue(run)
  await ingestAnswer(run, intake)
  const { warehouse, syncRunId } = run.sink
  const shown = new Set(shownKeys(intake, CATALOGUE.stream))
  const live = await run.sink.retry(() => loadLiveKeys(warehouse, CATALOGUE))
  const gone = live.filter((key) => !shown.has(key)).map((key) => ({ key, observedAt }))
  // An empty catalogue, or one with a record that could not be read, proves nothing.
  if (gone.length === 0 || shown.size === 0 || intake.quarantined.length > 0) return
  const options = { names: warehouse.names, syncRunId, mode: run.sink.mode }
  const marked = await run.sink.transact('mark event categories as gone', (session) =>
    tombstoneRows(session, CATALOGUE, gone, options),
  )
  run.notes.ledger.add(new Map([[CATALOGUE.stream, { tombstoned: marked.length }]]))
}

const CATALOGUE = webhookEventCategories

/** Reads the service's catalogue. */
export async function askForCatalogue({
  source: { service, signal },
  notes: { ledger },
}: Reading): Promise<{ intake: Intake; observedAt: Date }> {
  const { stream } = CATALOGUE
  const counter = ledger.counter(stream)
  const { document, observedAt } = await service.getWebhookEvents({ signal, counter })
  return {
    intake: readRecords(document, { stream, source: '/webhooks/events', observedAt }),
    observedAt,
  }
}

/**
 * After a kill this many are read again; a slow run is done before its claim expires. A claim and
 * its results cost nine waits for the database.
 */
const ENTRIES_PER_CLAIM = 25

/** Time that a run reads the queue. A backfill fills an empty warehouse. */
const SYNC_SECONDS = 300
const BACKFILL_SECONDS = 3600

/** A record may point to a terminal, and that one to its port. */
const ROUNDS_OF_REFERENCES = 3

/**
 * Reads queued records by id: ports, terminals and vessels that the warehouse lacks, and records in
 * doubt. Workers beside the run may read the same queue; each entry is read once.
 *
 * Reads the present queue, then the references of its records, for at most
 * `RunSettings.refetchSeconds`: others may queue as fast as it reads, and the run must end. The
 * workers or the next run read the rest.
 */
export async function readQueued(run: Run): Promise<void> {
  const { settings } = run.source
  const { mode } = run.sink
  const seconds = settings.refetchSeconds ?? (mode === 'backfill' ? BACKFILL_SECONDS : SYNC_SECONDS)
  const endsAt = performance.now() + seconds * 1000
  let due = await readRound(run, null, endsAt)
  for (let round = 0; due > 0 && round < ROUNDS_OF_REFERENCES; round += 1) {
    due = await readRound(run, REFERENCE_TYPES, endsAt)
  }
}

/** Reads the entries that are queued now, of these types or of any. Returns how many were due. */
async function readRound(
  run: Run,
  types: readonly string[] | null,
  endsAt: number,
): Promise<number> {
  const { warehouse } = run.sink
  const { askedUntil, due } = await run.sink.retry(() => readDueRefetches(warehouse, types))
  for (let left = due; left > 0; left -= ENTRIES_PER_CLAIM) {
    if (performance.now() >= endsAt) {
      run.notes.logger.info('the time for refetches is up; the rest is left to the next run', {
        left,
      })
      return due
    }
    const limit = Math.min(left, ENTRIES_PER_CLAIM)
    const entries = await run.sink.retry(() =>
      claimRefetches(warehouse, 'sync', limit, { askedUntil, types }),
    )
    if (entries.length === 0) break
    await readRefetches(run, entries)
    run.source.signal.throwIfAborted()
    if (run.notes.ledger.isServiceFailing) {
      run.notes.logger.warn('the service fails to show records; the rest is left to the next run')
      return 0
    }
  }
  return due
}

/**
 * Reads the position history of every vessel: one request each. Throws ApiAuthError if the account
 * may not see them.
 */
export async function readVesselPositions(run: Run): Promise<void> {
  const { ledger } = run.notes
  const ids = await run.sink.retry(() => loadLiveKeys(run.sink.warehouse, vessels))
  for (let start = 0; start < ids.length; start += ENTRIES_PER_CLAIM) {
    if (ledger.positionsRefusal !== undefined || ledger.isServiceFailing) break
    const some = ids.slice(start, start + ENTRIES_PER_CLAIM)
    await readRefetches(
      run,
      some.map((id) => ({ type: 'vessel', id })),
    )
    run.source.signal.throwIfAborted()
  }
  if (ledger.positionsRefusal !== undefined) throw ledger.positionsRefusal
}
