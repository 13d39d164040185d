import { containers } from '../resources/index.js'
import type { Resource, Sighting } from '../resources/resource.js'
import { loadSeenAttributes } from '../warehouse/bookkeeping/schema-drift.js'
import type { Session } from '../warehouse/connection/warehouse.js'
import { DriftWatch } from './drift-watch.js'
import type { Intake } from './intake.js'

/**
 * Whether the containers that came included lack something that the interface names and their list
 * carries, or may carry, as it was never read. Undefined where none came. One query, but none where
 * they lack nothing.
 */
export async function areContainersThin(
  session: Session,
  { sightings }: Pick<Intake, 'sightings'>,
): Promise<boolean | undefined> {
  const { stream } = containers
  const included = sightings.get(stream) ?? []
  if (included.length === 0) return undefined
  const watch = new DriftWatch()
  watch.notice({ sightings: new Map([[stream, included]]) })
  const carried = watch.carried(stream)
  const lacking = namesOf(containers).filter((name) => !carried.has(name))
  if (lacking.length === 0) return false
  const seen = (await loadSeenAttributes(session, [stream])).get(stream)
  return seen === undefined || lacking.some((name) => seen.has(name))
}

/** The same intake with its containers as parts of records, which no pass takes for whole. */
export function withThinContainers(intake: Intake): Intake {
  const { stream } = containers
  const thin = (intake.sightings.get(stream) ?? []).map((one) => ({ ...one, isComplete: false }))
  return { ...intake, sightings: new Map([...intake.sightings, [stream, thin]]) }
}

/** Whether a sighting carries every attribute that the interface names, null or not. */
export function carriesAll({ resource, values }: Sighting): boolean {
  return [...resource.attributes.keys()].every(
    (name) => values[resource.columnIndex.get(name) ?? -1] !== undefined,
  )
}

/** As `DriftWatch.carried` has them. */
function namesOf({ attributes, relationships }: Resource): string[] {
  return [...attributes.keys(), ...[...relationships.keys()].map((name) => `relationships.${name}`)]
}
