import type { ResourceIdentifier } from '../../jsonapi/document.js'
import type { Resource } from '../../resources/resource.js'
import { containers, resources } from '../../resources/index.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { advancePass, saveCheckpoint, type Checkpoint } from '../bookkeeping/checkpoints.js'
import { replaceContainerChildren } from './container-children.js'
import { findDifferingKeys } from './differing-keys.js'
import { writeVersions } from './history.js'
import { quarantineRecords, type QuarantinedRecord } from '../bookkeeping/quarantined-records.js'
import {
  EVENT_LIST_ENTRY,
  queueMissingReferences,
  queueRefetches,
  releaseRefetches,
  removeRefetches,
  type ClaimedRefetch,
} from '../bookkeeping/refetch-queue.js'
import type { SchemaNames } from '../connection/schema-names.js'
import { compareKeys, withoutDuplicates, type Sighting } from './sighting.js'
import { loadStoredRows, type StoredRow } from './stored-rows.js'
import { saveStreamStates, type StreamState } from '../bookkeeping/sync-runs.js'
import {
  tombstoneWithdrawnEvents,
  type ListBehindEvent,
  type TransportEventList,
} from './transport-event-lists.js'
import { lockEqualRows, upsertRows } from './upsert.js'
import { upsertVesselPositions } from './vessel-positions.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** What is written in one transaction. */
export interface Batch {
  /** Null outside of a run; then no counts are written. */
  readonly syncRunId: number | null
  readonly source: 'sync' | 'webhook'
  readonly sightings: readonly ComparedSighting[]
  /** Complete lists of transport events: stored ones that are not in them were withdrawn. */
  readonly eventLists: readonly TransportEventList[]
  readonly quarantined: readonly QuarantinedRecord[]
  /** What the rows point to; those without a row are queued to be read. */
  readonly references: readonly ResourceIdentifier[]
  /** Records to be refetched by id: what was seen of them is older than their row. */
  readonly doubtful: readonly ResourceIdentifier[]
  /** Entries of the refetch queue that this batch answers. */
  readonly refetched?: readonly (ResourceIdentifier & Partial<ClaimedRefetch>)[]
  /** Where the pass stands once this batch is in the warehouse. */
  readonly checkpoint?: Checkpoint
  /** See `UpsertOptions`. */
  readonly isConfirming?: boolean
  /** Versions and children are derived anew also for rows that equal their record. */
  readonly isThorough?: boolean
  /** Where a test may cut the transaction short. */
  readonly reachFailpoint: ReachFailpoint
}

/** A sighting and what the warehouse had of its row when it was compared. */
export interface ComparedSighting {
  readonly sighting: Sighting
  readonly stored: StoredRow | undefined
}

/** What became of the records of one stream in a batch. */
export interface BatchCounts {
  inserted: number
  updated: number
  unchanged: number
  stale: number
  tombstoned: number
}

export interface Comparison {
  /** Sightings that differ from their row and must travel. */
  readonly changed: readonly ComparedSighting[]
  readonly unchanged: number
  /** The sightings counted as unchanged. */
  readonly equal: readonly Sighting[]
  /** Sightings older than their row: not applied. */
  readonly stale: readonly Sighting[]
  readonly duplicates: number
  /** Of the equal ones those whose rows could tell them by their bytes and do not yet. */
  readonly undigested: readonly Sighting[]
}

/**
 * Compares sightings of one resource with the warehouse: one query, and another when some are older
 * than their rows. With `isConfirming`, what equals its row travels too, to raise the row's stamp,
 * or to be compared value by value. What equals its row, or is older than it, need not travel.
 */
export async function compareWithStored(
  warehouse: Warehouse,
  resource: Resource,
  sightings: readonly Sighting[],
  isConfirming = false,
): Promise<Comparison> {
  const { unique, duplicates } = withoutDuplicates(sightings)
  const stored = await loadStoredRows(warehouse, warehouse.names, resource, unique)
  const changed: ComparedSighting[] = []
  const equal: Sighting[] = []
  const older: Sighting[] = []
  for (const sighting of unique) {
    const row = stored.get(sighting.record.key)
    // What equals its row confirms it, however old the sighting is.
    if (row !== undefined && !isConfirming && equalsRow(sighting, row)) equal.push(sighting)
    else if (row !== undefined && row.observedAt > sighting.observedAt) older.push(sighting)
    else changed.push({ sighting, stored: row })
  }
  const differing =
    older.length === 0
      ? new Set<string>()
      : await findDifferingKeys(warehouse, warehouse.names, resource, older)
  const isDiffering = ({ record }: Sighting): boolean => differing.has(record.key)
  for (const sighting of older) if (!isDiffering(sighting)) equal.push(sighting)
  const stale = older.filter(isDiffering)
  const undigested = equal.filter(
    ({ record }) => record.digest !== null && stored.get(record.key)?.hasDigest === false,
  )
  return {
    changed,
    unchanged: equal.length,
    equal,
    stale,
    duplicates: duplicates.length,
    undigested,
  }
}

function equalsRow({ record }: Sighting, row: StoredRow): boolean {
  return !row.isDeleted && row.fingerprint === record.fingerprint && record.positions === undefined
}

/**
 * Writes a batch in one transaction: rows in key order, histories, children, tombstones of
 * withdrawn events, quarantine, and the counts `describe` makes of the outcome. All or nothing; may
 * be repeated as a whole. Returns what became of each stream. A batch that only moves a pass is no
 * transaction: see `advancePass`.
 */
export async function writeBatch(
  warehouse: Warehouse,
  batch: Batch,
  describe: (counts: ReadonlyMap<string, BatchCounts>) => readonly StreamState[],
): Promise<ReadonlyMap<string, BatchCounts>> {
  if (await isOnlyAnAdvance(warehouse, batch)) return new Map()
  const { names } = warehouse
  return warehouse.transaction('write a batch', async (session) => {
    const { counts, listsBehind } = await writeRows(session, names, batch)
    await queueMissingReferences(session, batch.references)
    await queueRefetches(session, batch.doubtful, 'a sighting was older than the row')
    const unproven = await queueListsBehind(session, listsBehind)
    await removeRefetches(session, batch.refetched ?? [])
    // After that, for one of them may be an entry that was just answered: it stays, and waits
    // again.
    await releaseRefetches(session, unproven.entries, unproven.waitMs)
    await quarantineRecords(session, batch.quarantined, batch.syncRunId)
    if (batch.syncRunId === null) return counts
    await saveStreamStates(session, batch.syncRunId, describe(counts))
    batch.reachFailpoint('before_checkpoint')
    if (batch.checkpoint !== undefined) {
      await saveCheckpoint(session, batch.syncRunId, batch.checkpoint)
    }
    return counts
  })
}

/** Why a list that could not be believed is in the refetch queue. */
export const LIST_BEHIND_EVENT =
  'a transport event was seen later than the list that it is missing from'

const SHORTEST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 24 * 3_600_000

/**
 * Lists that could not be believed are read again once the service's clock has passed what is ahead
 * of them.
 */
async function queueListsBehind(
  session: Session,
  lists: readonly ListBehindEvent[],
): Promise<{ readonly entries: readonly ResourceIdentifier[]; readonly waitMs: number }> {
  const entries = lists.map(({ containerId }) => ({ type: EVENT_LIST_ENTRY, id: containerId }))
  const furthest = lists.reduce((most, { behindMs }) => Math.max(most, behindMs), SHORTEST_WAIT_MS)
  const waitMs = Math.min(furthest, LONGEST_WAIT_MS)
  await queueRefetches(session, entries, LIST_BEHIND_EVENT, waitMs)
  return { entries, waitMs }
}

/** True when the batch held nothing but where the pass stands, and that is noted now. */
async function isOnlyAnAdvance(warehouse: Warehouse, batch: Batch): Promise<boolean> {
  const { syncRunId, checkpoint, refetched } = batch
  if (syncRunId === null || checkpoint === undefined || refetched !== undefined) return false
  const lists = [
    batch.sightings,
    batch.eventLists,
    batch.quarantined,
    batch.references,
    batch.doubtful,
  ]
  if (lists.some(({ length }) => length > 0)) return false
  return advancePass(warehouse, syncRunId, checkpoint)
}

/** The rows of a batch, without the bookkeeping around them. */
export type RowBatch = Pick<
  Batch,
  | 'syncRunId'
  | 'source'
  | 'sightings'
  | 'eventLists'
  | 'isConfirming'
  | 'isThorough'
  | 'reachFailpoint'
>

export interface WrittenRows {
  readonly counts: Map<string, BatchCounts>
  /** Keys of the rows that were inserted, changed or confirmed, by stream. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  /** Lists of transport events that must be read again. */
  readonly listsBehind: readonly ListBehindEvent[]
}

/**
 * The one way in which rows get into the data tables, inside the caller's transaction: rows in key
 * order, then their histories and children, then tombstones of events that are in no list any more.
 * `sightings` hold one per row. A list of a container whose own sighting was not written, because a
 * newer one won the race, is not believed.
 */
export async function writeRows(
  session: Session,
  names: SchemaNames,
  batch: RowBatch,
): Promise<WrittenRows> {
  const counts = new Map<string, BatchCounts>()
  const keys = new Map<string, ReadonlySet<string>>()
  for (const resource of resources) {
    const own = batch.sightings.filter(({ sighting }) => sighting.record.resource === resource)
    if (own.length === 0) continue
    const written = await writeSightings(session, names, resource, own, batch)
    counts.set(resource.stream, written.counts)
    keys.set(resource.stream, written.keys)
    batch.reachFailpoint('mid_batch')
  }
  const lost = new Set(
    batch.sightings
      .filter(({ sighting: { record } }) => record.resource === containers)
      .map(({ sighting: { record } }) => record.key)
      .filter((key) => batch.isConfirming === true && keys.get('containers')?.has(key) !== true),
  )
  const lists = batch.eventLists.filter(({ containerId }) => !lost.has(containerId))
  const withdrawn = await tombstoneWithdrawnEvents(session, names, lists, batch.syncRunId)
  if (withdrawn.count > 0) {
    const events = counts.get('transport_events') ?? noCounts()
    counts.set('transport_events', { ...events, tombstoned: events.tombstoned + withdrawn.count })
  }
  return { counts, keys, listsBehind: withdrawn.behind }
}

function noCounts(): BatchCounts {
  return { inserted: 0, updated: 0, unchanged: 0, stale: 0, tombstoned: 0 }
}

async function writeSightings(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  compared: readonly ComparedSighting[],
  { syncRunId, source, isConfirming = false, isThorough = false }: RowBatch,
): Promise<{ readonly counts: BatchCounts; readonly keys: ReadonlySet<string> }> {
  const sightings = compared.map(({ sighting }) => sighting)
  const upsert = { names, syncRunId, isConfirming }
  const written = await upsertRows(session, resource, sightings, upsert)
  const keys = written.map(({ key }) => key).sort(compareKeys)
  const options = { names, syncRunId, source }
  const equal = isThorough ? await lockEqualRows(session, names, resource, sightings, keys) : []
  const derived = [...keys, ...equal].sort(compareKeys)
  await writeVersions(session, resource, derived, options)
  const inserted = written.filter(({ isInserted }) => isInserted).length
  if (resource === containers) {
    const areNew = inserted === derived.length
    await replaceContainerChildren(session, derived, { ...options, areNew })
  }
  await upsertVesselPositions(session, sightings, options)
  const counts = {
    ...noCounts(),
    inserted,
    updated: written.length - inserted,
    // What travelled and was not written equals its row after all, or lost a race to a newer one.
    unchanged: sightings.length - written.length,
  }
  return { counts, keys: new Set(keys) }
}
