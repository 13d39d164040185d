import { readRecords } from '../ingest/intake.js'
import { ingestListing, type Listing } from '../ingest/mark-gone.js'
import { readRefetches } from '../ingest/read-refetch.js'
import type { Reading, Run } from '../ingest/run.js'
import { vessels, webhookEventCategories } from '../source/records/index.js'
import { REFERENCE_TYPES } from '../source/records/resource.js'
import { claimRefetches, readDueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import { loadLiveKeys } from '../warehouse/rows/stored-rows.js'

/**
 * Reads the catalogue of events that a webhook can subscribe to: one request. It is complete: rows
 * of missing categories are marked as gone.
 */
export async function readEventCatalogue(run: Run): Promise<void> {
  await ingestListing(run, webhookEventCategories, await askForCatalogue(run), (warehouse) =>
    loadLiveKeys(warehouse, webhookEventCategories),
  )
}

/**
 * Reads the service's catalogue. An empty one, or one with a record that could not be read, proves
 * nothing.
 */
export async function askForCatalogue({
  source: { service, signal },
  notes: { ledger },
}: Reading): Promise<Listing> {
  const { stream } = webhookEventCategories
  const counter = ledger.counter(stream)
  const { document, observedAt } = await service.getWebhookEvents({ signal, counter })
  const intake = readRecords(document, { stream, source: '/webhooks/events', observedAt })
  const isProof = intake.sightings.has(stream) && intake.quarantined.length === 0
  return { intake, wholeAt: isProof ? observedAt : undefined }
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
  const usual = run.sink.mode === 'backfill' ? BACKFILL_SECONDS : SYNC_SECONDS
  const endsAt = performance.now() + (run.source.settings.refetchSeconds ?? usual) * 1000
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
  const { ledger, logger } = run.notes
  const { askedUntil, due } = await run.sink.retry((warehouse) =>
    readDueRefetches(warehouse, types),
  )
  for (let left = due; left > 0; left -= ENTRIES_PER_CLAIM) {
    if (performance.now() >= endsAt) {
      logger.info('the time for refetches is up; the rest is left to the next run', { left })
      return due
    }
    const limit = Math.min(left, ENTRIES_PER_CLAIM)
    const entries = await run.sink.retry((warehouse) =>
      claimRefetches(warehouse, 'sync', limit, { askedUntil, types }),
    )
    if (entries.length === 0) break
    await readRefetches(run, entries)
    run.source.signal.throwIfAborted()
    if (ledger.isServiceFailing) {
      logger.warn('the service fails to show records; the rest is left to the next run')
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
  const ids = await run.sink.retry((warehouse) => loadLiveKeys(warehouse, vessels))
  for (let start = 0; start < ids.length; start += ENTRIES_PER_CLAIM) {
    if (ledger.positionsRefusal !== undefined || ledger.isServiceFailing) break
    const some = ids.slice(start, start + ENTRIES_PER_CLAIM)
    const entries = some.map((id) => ({ type: 'vessel', id }))
    await readRefetches(run, entries)
    run.source.signal.throwIfAborted()
  }
  if (ledger.positionsRefusal !== undefined) throw ledger.positionsRefusal
}
