import type { ResourceObject, ResourceIdentifier } from '../../../source/jsonapi/document.js'
import { errorAnswer, type Answer } from './answers.js'
import type { World } from '../world/world.js'

/** Relations that a read of a type may include, by that type. */
export type AcceptedIncludes = Readonly<Record<string, readonly string[]>>

export const DEFAULT_INCLUDES: AcceptedIncludes = {
  shipment: [
    'containers',
    'containers.transport_events',
    'port_of_lading',
    'port_of_discharge',
    'pod_terminal',
    'destination',
    'destination_terminal',
  ],
  container: ['shipment', 'pod_terminal', 'pickup_facility', 'transport_events'],
  transport_event: ['shipment', 'container', 'location', 'terminal', 'vessel'],
  tracking_request: ['tracked_object'],
  terminal: ['port'],
  rail_terminal: ['port', 'metro_area'],
  port: ['terminals'],
  webhook_notification: [
    'reference_object',
    'reference_object.shipment',
    'reference_object.container',
    'reference_object.location',
    'reference_object.terminal',
    'reference_object.vessel',
    'reference_object.port',
    'reference_object.tracked_object',
    'webhook',
    'webhook_notification_logs',
  ],
}

/** Undefined when no record of that type has the id at the instant. */
export type RecordFinder = (type: string, id: string, at: Date) => ResourceObject | undefined

export interface IncludeRules {
  readonly accepted: AcceptedIncludes
  readonly onUnknown: 'reject' | 'ignore'
}

/** The relations to include, or the answer that refuses them. Empty names are skipped. */
export function readIncludes(
  text: string | null,
  type: string,
  { accepted, onUnknown }: IncludeRules,
): string[] | Answer {
  const names = (text ?? '').split(',').filter((name) => name !== '')
  const known = accepted[type] ?? []
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined && onUnknown === 'reject') {
    return errorAnswer(400, 'Invalid include', `${unknown} is not a relation of ${type}.`, {
      source: { parameter: 'include' },
    })
  }
  return [...new Set(names.filter((name) => known.includes(name)))]
}

/**
 * The related records, each once and without the primary data. A nested relation
 * (`containers.transport_events`) also brings the records on the way to it. A link whose record is
 * gone is passed over. `recordOf` finds the record of a link.
 */
export function collectIncluded(
  world: World,
  primary: readonly ResourceObject[],
  includes: readonly string[],
  at: Date,
  recordOf: RecordFinder,
): ResourceObject[] {
  if (includes.length === 0) return []
  const seen = new Set(primary.map(keyOf))
  const found = new Map<string, ResourceObject>()
  const relatedOf = (record: ResourceObject, relation: string): ResourceObject[] => {
    if (relation === 'transport_events') return world.transportEventsOf(record.id, at)
    const linkage = record.relationships?.[relation]?.data
    const links = Array.isArray(linkage) ? linkage : linkage ? [linkage] : []
    return (links as ResourceIdentifier[]).flatMap((link) => {
      const known = found.get(keyOf(link))
      return known ?? recordOf(link.type, link.id, at) ?? []
    })
  }
  for (const path of includes.toSorted()) {
    let level: readonly ResourceObject[] = primary
    for (const relation of path.split('.')) {
      const next: ResourceObject[] = []
      for (const record of level) {
        for (const related of relatedOf(record, relation)) {
          next.push(related)
          const key = keyOf(related)
          if (!seen.has(key)) found.set(key, related)
          seen.add(key)
        }
      }
      level = next
    }
  }
  return [...found.values()]
}

function keyOf({ type, id }: ResourceIdentifier): string {
  return `${type}/${id}`
}
