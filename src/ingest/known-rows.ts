import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { containers, resources, transportEvents } from '../source/records/index.js'
import type { Resource, Sighting } from '../source/records/resource.js'
import { loadConfirmedPasses } from '../warehouse/bookkeeping/checkpoints.js'
import { EVENT_LIST_ENTRY } from '../warehouse/bookkeeping/refetch-queue.js'
import { pipeline, type Session } from '../warehouse/connection/warehouse.js'
import {
  findDifferingKeys,
  loadRowsByKey,
  loadStoredRows,
  type StoredRow,
} from '../warehouse/rows/stored-rows.js'
import { findIncompleteEventLists } from '../warehouse/rows/transport-event-lists.js'
import type { Mode } from '../warehouse/rows/incoming-rows.js'
import { containerOf, type Decision, type Known } from './decide.js'
import type { Intake } from './intake.js'
import type { Ingest } from './run.js'
import type { Sink } from './sink.js'

/**
 * Loads the state that `decide` compares with. One query a stream; reads only. `isLoad`: transport
 * events that come with a container without a row are not looked up: they lack rows too, and where
 * the warehouse disagrees, the write shows it. Spares a load a few per cent of its time, and takes
 * one wait more.
 */
export async function loadKnown(
  session: Session,
  intakes: readonly Intake[],
  { mode, isLoad = false }: { readonly mode: Mode; readonly isLoad?: boolean },
): Promise<Known> {
  const rows = new Map<string, Map<string, StoredRow>>()
  const seenOf = (stream: string): Sighting[] =>
    intakes.flatMap(({ sightings }) => sightings.get(stream) ?? [])
  const load = async (resource: Resource, seen: readonly Sighting[]): Promise<void> => {
    const unique = new Map(seen.map((one) => [one.key, one]))
    const stored = await loadStoredRows(session, resource, [...unique.values()])
    rows.set(resource.stream, stored)
    if (resource !== containers) return
    if (mode === 'backfill') await forgetIncompleteLists(session, stored)
    if (mode === 'webhook') {
      const owners = new Set(seenOf(transportEvents.stream).map(containerOf))
      const others = [...owners].filter((id) => !stored.has(id)).map((id) => [id])
      for (const [key, row] of await loadRowsByKey(session, containers, others)) {
        stored.set(key, row)
      }
    }
  }
  const first = resources.filter((one) => !isLoad || one !== transportEvents)
  await pipeline(first.map((resource) => load(resource, seenOf(resource.stream))))
  if (isLoad) {
    const stored = rows.get(containers.stream)
    const added = new Set<string>()
    for (const { key } of seenOf(containers.stream)) if (stored?.has(key) !== true) added.add(key)
    const events = seenOf(transportEvents.stream)
    await load(
      transportEvents,
      events.filter((sighting) => !added.has(containerOf(sighting))),
    )
  }
  const isNotified = mode === 'webhook'
  return { rows, passes: isNotified ? await loadConfirmedPasses(session) : new Map() }
}

/** The sightings of an answer that the run has not met before, and the rows known of them. */
export async function lookUp(
  { sink, notes }: Ingest,
  intake: Intake,
): Promise<{ readonly unmet: Intake; readonly known: Known }> {
  const { memory, mode } = sink
  const sightings = new Map<string, readonly Sighting[]>()
  for (const [stream, all] of intake.sightings) {
    const others = all.filter((one) => !memory.has(one))
    if (others.length > 0) sightings.set(stream, others)
  }
  const unmet = { ...intake, sightings }
  if (sightings.size === 0) return { unmet, known: { rows: new Map(), passes: new Map() } }
  const options = { mode, isLoad: notes.ledger.isLoading('containers') }
  const known = await sink.retry((warehouse) =>
    warehouse.unfencedTransaction('load known rows', (session) =>
      loadKnown(session, [unmet], options),
    ),
  )
  return { unmet, known }
}

/** A stored list that names an event without a row is not believed: its events are fetched. */
async function forgetIncompleteLists(
  session: Session,
  stored: Map<string, StoredRow>,
): Promise<void> {
  if (stored.size === 0) return
  for (const key of await findIncompleteEventLists(session, [...stored.keys()])) {
    const row = stored.get(key)
    if (row !== undefined) stored.set(key, { ...row, transportEventIds: null })
  }
}

/** Leaves in doubt only what differs from its row; the rest confirms it. */
export async function settleDoubt(sink: Sink, decision: Decision): Promise<Decision> {
  const doubtful = await sink.retry((warehouse) => findDiffering(warehouse, decision.doubtful))
  const isDoubtful = new Set(doubtful)
  const others = decision.doubtful.filter((one) => !isDoubtful.has(one))
  return { ...decision, doubtful, equal: [...decision.equal, ...others] }
}

/** The doubtful sightings that differ from their row. Reads only. */
export async function findDiffering(
  session: Session,
  doubtful: readonly Sighting[],
): Promise<Sighting[]> {
  const differing: Sighting[] = []
  for (const resource of new Set(doubtful.map((sighting) => sighting.resource))) {
    const own = doubtful.filter((sighting) => sighting.resource === resource)
    const keys = await findDifferingKeys(session, resource, own)
    for (const sighting of own) if (keys.has(sighting.key)) differing.push(sighting)
  }
  return differing
}

/**
 * The read that confirms a sighting: of the record, or for a transport event of its container's
 * list; undefined where the service lacks such a read.
 */
export function refetchOf(sighting: Sighting): ResourceIdentifier | undefined {
  const { resource, key } = sighting
  if (resource === transportEvents) return { type: EVENT_LIST_ENTRY, id: containerOf(sighting) }
  return resource.path === undefined ? undefined : { type: resource.type, id: key }
}
