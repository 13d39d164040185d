import type { ResourceIdentifier } from '../jsonapi/document.js'
import type { Resource } from '../resources/resource.js'
import { containers, resources } from '../resources/index.js'
import type { ReachFailpoint } from '../failpoint.js'
import { saveCheckpoint, type Checkpoint } from './checkpoints.js'
import { replaceContainerChildren } from './container-children.js'
import { writeVersions } from './history.js'
import { quarantineRecords, type QuarantinedRecord } from './quarantine.js'
import { queueMissingReferences, queueRefetches, removeRefetch } from './refetch-queue.js'
import { compareKeys, withoutDuplicates, type Sighting } from './sighting.js'
import { loadStoredRows, type StoredRow } from './stored-rows.js'
import { saveStreamState, type StreamState } from './sync-runs.js'
import { tombstoneWithdrawnEvents, type TransportEventList } from './transport-event-lists.js'
import { upsertRows } from './upsert.js'
import { upsertVesselPositions } from './vessel-positions.js'
import type { Session, Warehouse } from './warehouse.js'

/** What is written in one transaction. */
export interface Batch {
  readonly syncRunId: number
  readonly source: 'sync' | 'webhook'
  readonly sightings: readonly ComparedSighting[]
  /** Complete lists of transport events: stored ones that are not in them were withdrawn. */
  readonly eventLists: readonly TransportEventList[]
  readonly quarantined: readonly QuarantinedRecord[]
  /** What the rows point to; those without a row are queued to be read. */
  readonly references: readonly ResourceIdentifier[]
  /** Records to be read again by id: what was seen of them is older than their row. */
  readonly doubtful: readonly ResourceIdentifier[]
  /** An entry of the refetch queue that this batch answers. */
  readonly refetched?: ResourceIdentifier
  /** Where the pass stands once this batch is in the warehouse. */
  readonly checkpoint?: Checkpoint
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
}

/**
 * Compares sightings of one resource with the warehouse: one query. What equals its row, or is older than it, need not travel.
 */
export async function compareWithStored(
  warehouse: Warehouse,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Comparison> {
  const { unique, duplicates } = withoutDuplicates(sightings)
  const stored = await loadStoredRows(warehouse, warehouse.names, resource, unique)
  const changed: ComparedSighting[] = []
  const equal: Sighting[] = []
  const stale: Sighting[] = []
  for (const sighting of unique) {
    const row = stored.get(sighting.record.key)
    // What equals its row confirms it, however old the sighting is.
    if (row !== undefined && equalsRow(sighting, row)) equal.push(sighting)
    else if (row !== undefined && row.observedAt > sighting.observedAt) stale.push(sighting)
    else changed.push({ sighting, stored: row })
  }
  return { changed, unchanged: equal.length, equal, stale, duplicates: duplicates.length }
}

function equalsRow({ record }: Sighting, row: StoredRow): boolean {
  return !row.isDeleted && row.fingerprint === record.fingerprint && record.positions === undefined
}

/**
 * Writes a batch in one transaction: rows in key order, histories, children, tombstones of withdrawn events, quarantine, and the
 * counts `describe` makes of the outcome. All or nothing; may be repeated as a whole. Returns what became of each stream.
 */
export async function writeBatch(
  warehouse: Warehouse,
  batch: Batch,
  describe: (counts: ReadonlyMap<string, BatchCounts>) => readonly StreamState[],
): Promise<ReadonlyMap<string, BatchCounts>> {
  return warehouse.transaction('write a batch', async (session) => {
    const counts = new Map<string, BatchCounts>()
    for (const resource of resources) {
      const own = batch.sightings.filter(({ sighting }) => sighting.record.resource === resource)
      if (own.length > 0) {
        counts.set(resource.stream, await writeSightings(session, warehouse, resource, own, batch))
        batch.reachFailpoint('mid_batch')
      }
    }
    const { names } = warehouse
    const withdrawn = await tombstoneWithdrawnEvents(
      session,
      names,
      batch.eventLists,
      batch.syncRunId,
    )
    if (withdrawn > 0) {
      const events = counts.get('transport_events') ?? noCounts()
      counts.set('transport_events', { ...events, tombstoned: events.tombstoned + withdrawn })
    }
    await queueMissingReferences(session, names, batch.references)
    await queueRefetches(session, batch.doubtful, 'a sighting was older than the row')
    if (batch.refetched !== undefined) await removeRefetch(session, batch.refetched)
    await quarantineRecords(session, batch.quarantined, batch.syncRunId)
    for (const state of describe(counts)) await saveStreamState(session, batch.syncRunId, state)
    batch.reachFailpoint('before_checkpoint')
    if (batch.checkpoint !== undefined) {
      await saveCheckpoint(session, batch.syncRunId, batch.checkpoint)
    }
    return counts
  })
}

function noCounts(): BatchCounts {
  return { inserted: 0, updated: 0, unchanged: 0, stale: 0, tombstoned: 0 }
}

async function writeSightings(
  session: Session,
  { names }: Warehouse,
  resource: Resource,
  compared: readonly ComparedSighting[],
  { syncRunId, source }: Batch,
): Promise<BatchCounts> {
  const sightings = compared.map(({ sighting }) => sighting)
  const written = await upsertRows(session, resource, sightings, { names, syncRunId })
  const keys = written.map(({ key }) => key).sort(compareKeys)
  const options = { names, syncRunId, source }
  await writeVersions(session, resource, keys, options)
  if (resource === containers) await replaceContainerChildren(session, written, options)
  await upsertVesselPositions(session, sightings, options)
  const inserted = written.filter(({ isInserted }) => isInserted).length
  return {
    ...noCounts(),
    inserted,
    updated: written.length - inserted,
    // What travelled and was not written equals its row after all, or lost a race to a newer one.
    unchanged: sightings.length - written.length,
  }
}
