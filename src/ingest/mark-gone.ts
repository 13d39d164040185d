import type { Resource } from '../source/records/resource.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { tombstoneRows, type GoneRecord } from '../warehouse/rows/tombstones.js'
import { ingestAnswer } from './ingest-pages.js'
import { shownKeys, type Intake } from './intake.js'
import type { Ingest } from './run.js'

/** Marks rows as gone in one transaction, and counts them. */
export async function markGone(
  { sink, notes }: Ingest,
  resource: Resource,
  gone: readonly GoneRecord[],
): Promise<void> {
  if (gone.length === 0) return
  const { stream } = resource
  const marked = await sink.transact(`mark ${stream} as gone`, (session) =>
    tombstoneRows(session, resource, gone, sink),
  )
  notes.ledger.count(stream, { tombstoned: marked.length })
}

/** The records of a list that comes at once. */
export interface Listing {
  readonly intake: Intake
  /** When the first page was read; undefined if the list may be incomplete. */
  readonly wholeAt: Date | undefined
}

/** Stores a list. Live rows that a whole one lacks are gone. */
export async function ingestListing(
  run: Ingest,
  resource: Resource,
  { intake, wholeAt }: Listing,
  loadLive: (warehouse: Warehouse) => Promise<string[]>,
): Promise<void> {
  await ingestAnswer(run, intake)
  if (wholeAt === undefined) return
  const shown = new Set(shownKeys(intake, resource.stream))
  const live = await run.sink.retry(loadLive)
  const missing = live.filter((key) => !shown.has(key))
  const gone = missing.map((key) => ({ key, observedAt: wholeAt }))
  await markGone(run, resource, gone)
}
