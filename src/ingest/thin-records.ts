import { containers, transportEvents } from '../resources/index.js'
import type { Resource, Sighting } from '../resources/resource.js'
import { loadSeenAttributes } from '../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { containerOf } from './decide.js'
import { DriftWatch } from './drift-watch.js'
import { fetchWhatIsShown } from './fetch-transport-events.js'
import type { Intake } from './intake.js'

type Prober = Parameters<typeof fetchWhatIsShown>[0] & { readonly warehouse: Warehouse }

/**
 * The same intake of a page of `stream`; containers and transport events that came included with
 * less than they have are marked as parts of records, which no pass takes for whole. `known`: what
 * pages before have shown of their streams.
 */
export async function markThin(
  run: Prober,
  stream: string,
  intake: Intake,
  known = new Map<string, boolean>(),
): Promise<Intake> {
  const sightings = new Map(intake.sightings)
  for (const resource of [containers, transportEvents]) {
    const included = resource.stream === stream ? [] : (sightings.get(resource.stream) ?? [])
    if (included.length === 0) continue
    const isThin = known.get(resource.stream) ?? (await areThin(run, resource, included))
    known.set(resource.stream, isThin)
    if (!isThin) continue
    sightings.set(resource.stream, included.map(asPart))
  }
  return { ...intake, sightings }
}

/** The list of its events is left to the whole record, which has them fetched where it is new. */
function asPart(sighting: Sighting): Sighting {
  const { resource, values } = sighting
  const listAt = resource.columnIndex.get('transport_event_ids')
  const others = values.map((value, at) => (at === listAt ? undefined : value))
  return { ...sighting, values: others, isComplete: false }
}

/** Whether a sighting carries every attribute that the interface names, null or not. */
export function carriesAll({ resource, values }: Sighting): boolean {
  return [...resource.attributes.keys()].every(
    (name) => values[resource.columnIndex.get(name) ?? -1] !== undefined,
  )
}

/**
 * Whether they lack something that the interface names and their own list carries, or may carry, as
 * it was never read. A query or a request, but none where they lack nothing.
 */
async function areThin(
  run: Prober,
  resource: Resource,
  included: readonly Sighting[],
): Promise<boolean> {
  const lacking = lackedBy(resource, included)
  const [first] = included
  if (lacking.length === 0 || first === undefined) return false
  if (resource === transportEvents) {
    const [fetched] = await fetchWhatIsShown(run, [containerOf(first)])
    const own = (fetched?.intake ?? []).flatMap(
      ({ sightings }) => sightings.get(resource.stream) ?? [],
    )
    const alsoLacking = lackedBy(resource, own)
    return own.length > 0 && lacking.some((name) => !alsoLacking.includes(name))
  }
  const seen = (await loadSeenAttributes(run.warehouse, [resource.stream])).get(resource.stream)
  return seen === undefined || lacking.some((name) => seen.has(name))
}

/** What the interface names and none of the sightings carries. */
function lackedBy(resource: Resource, sightings: readonly Sighting[]): string[] {
  const watch = new DriftWatch()
  watch.notice({ sightings: new Map([[resource.stream, sightings]]) })
  const carried = watch.carried(resource.stream)
  const { attributes, relationships } = resource
  const named = [...relationships.keys()].map((name) => `relationships.${name}`)
  return [...attributes.keys(), ...named].filter((name) => !carried.has(name))
}
