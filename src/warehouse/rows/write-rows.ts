import type { Resource, Sighting } from '../../source/records/resource.js'
import { containers, resources } from '../../source/records/index.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { addContainerChildren, replaceContainerChildren } from './container-children.js'
import { openVersions, writeVersions } from './history.js'
import { insertRows } from './insert-rows.js'
import { compareKeys } from '../connection/typed-database.js'
import { append, isConfirming, type WriteOptions } from './incoming-rows.js'
import { tombstoneWithdrawnEvents, type TransportEventList } from './transport-event-lists.js'
import { listsInDoubt } from './unlisted-events.js'
import { lockEqualRows, upsertRows } from './upsert.js'
import { upsertVesselPositions } from './vessel-positions.js'
import { pipeline, type Session } from '../connection/warehouse.js'

/** Rows of one transaction. */
export interface RowBatch extends WriteOptions {
  /** At most one per row. */
  readonly sightings: readonly Sighting[]
  /**
   * The sightings that had no row when the caller looked. If one has a row by now, the batch throws
   * with a code of `TO_BE_UPSERTED`: write it again without this.
   */
  readonly withoutRow: ReadonlySet<Sighting>
  /**
   * Complete lists of transport events: a stored event that is missing from its list was withdrawn.
   */
  readonly eventLists: readonly TransportEventList[]
}

/** Outcomes of the records of one stream in a batch. */
export interface BatchCounts {
  inserted: number
  updated: number
  unchanged: number
  stale: number
  tombstoned: number
}

/**
 * Writes what runs and deliveries bring, inside the caller's transaction: rows in key order, then
 * their histories and children, then tombstones of events that no list names any longer. Returns by
 * stream the counts and the keys (see `Written`), the lists of transport events that must be
 * refetched, and the containers to put in doubt (`doubtLists`). Beside the runs, a list is ignored
 * if its container lost the race to a newer sighting.
 */
export async function writeRows(
  session: Session,
  batch: Omit<RowBatch, 'withoutRow'> & Partial<Pick<RowBatch, 'withoutRow'>>,
  reachFailpoint: ReachFailpoint,
) {
  const { syncRunId, mode, withoutRow = NONE } = batch
  const counts = new Map<string, BatchCounts>()
  const keys = new Map<string, ReadonlySet<string>>()
  const byResource = groupByResource(batch.sightings)
  // Side by side, in this order: each upsert is sent before the first is answered.
  await pipeline(
    resources.map(async (resource) => {
      const own = byResource.get(resource)
      if (own === undefined) return
      const options = { syncRunId, mode, withoutRow }
      const written = await writeSightings(session, resource, own, options)
      counts.set(resource.stream, written.counts)
      keys.set(resource.stream, written.keys)
      reachFailpoint('mid_batch')
    }),
  )
  const passedOver = new Set<string>()
  for (const sighting of batch.sightings) {
    const { resource, key } = sighting
    if (resource !== containers) continue
    const isLost = isConfirming(mode) && keys.get(resource.stream)?.has(key) !== true
    // A new container cannot have stored transport events to withdraw.
    if (isLost || withoutRow.has(sighting)) passedOver.add(key)
  }
  const lists = batch.eventLists.filter(({ containerId }) => !passedOver.has(containerId))
  const withdrawn = await tombstoneWithdrawnEvents(session, lists, syncRunId)
  if (withdrawn.count > 0) {
    const events = counts.get('transport_events') ?? noCounts()
    counts.set('transport_events', { ...events, tombstoned: events.tombstoned + withdrawn.count })
  }
  const compared = new Set(lists.map(({ containerId }) => containerId))
  const inDoubt = listsInDoubt({ sightings: batch.sightings, compared, mode })
  return { counts, keys, listsBehind: withdrawn.behind, inDoubt }
}

function groupByResource(sightings: readonly Sighting[]): Map<Resource, Sighting[]> {
  const groups = new Map<Resource, Sighting[]>()
  for (const sighting of sightings) append(groups, sighting.resource, sighting)
  return groups
}

const NONE: ReadonlySet<Sighting> = new Set()

function noCounts(): BatchCounts {
  return { inserted: 0, updated: 0, unchanged: 0, stale: 0, tombstoned: 0 }
}

interface Written {
  readonly counts: BatchCounts
  /** Keys of rows that were inserted, changed or confirmed; without those of `withoutRow`. */
  readonly keys: ReadonlySet<string>
}

async function writeSightings(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  { withoutRow, ...options }: WriteOptions & { readonly withoutRow: ReadonlySet<Sighting> },
): Promise<Written> {
  const added = sightings.filter((one) => withoutRow.has(one))
  const others = sightings.filter((one) => !withoutRow.has(one))
  const [, written] = await pipeline([
    addRows(session, resource, added, options),
    changeRows(session, resource, others, options),
    upsertVesselPositions(session, sightings, options),
  ])
  const counts = { ...written.counts, inserted: written.counts.inserted + added.length }
  return { counts, keys: written.keys }
}

/** Adds rows with their versions and children; no statement waits for the one before. */
async function addRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  options: WriteOptions,
): Promise<void> {
  if (sightings.length === 0) return
  const keys = sightings.map(({ key }) => key)
  await pipeline([
    insertRows(session, resource, sightings, options),
    openVersions(session, resource, keys, options),
    ...(resource === containers ? [addContainerChildren(session, keys, options)] : []),
  ])
}

async function changeRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  options: WriteOptions,
): Promise<Written> {
  if (sightings.length === 0) return { counts: noCounts(), keys: new Set() }
  const written = await upsertRows(session, resource, sightings, options)
  const keys = written.map(({ key }) => key).sort(compareKeys)
  const equal =
    options.mode === 'backfill' ? await lockEqualRows(session, resource, sightings, keys) : []
  const derived = [...keys, ...equal].sort(compareKeys)
  await pipeline([
    writeVersions(session, resource, derived, options),
    ...(resource === containers ? [replaceContainerChildren(session, derived, options)] : []),
  ])
  const inserted = written.filter(({ isInserted }) => isInserted).length
  const counts = {
    ...noCounts(),
    inserted,
    updated: written.length - inserted,
    // A sighting that was sent and not written equals its row or lost a race to a newer one.
    unchanged: sightings.length - written.length,
  }
  return { counts, keys: new Set(keys) }
}
