import { isObject } from '../jsonapi/document.js'
import { containers } from './container.js'
import { customFieldDefinitions, customFieldOptions, customFields } from './custom-field.js'
import { flattenRecord } from './flatten.js'
import { otherResources, webhookEventCategories, withoutSecrets } from './other-resource.js'
import { metroAreas, ports, railTerminals, terminals } from './places.js'
import { rawEvents } from './raw-event.js'
import type { Resource, SeenIn, Sighting } from './resource.js'
import { shipments, trackingRequests } from './shipment.js'
import { transportEvents } from './transport-event.js'
import { flattenVessel, vessels } from './vessel.js'

/** Every stream, in the order its rows are written inside a transaction. */
export const resources: readonly Resource[] = [
  ports,
  metroAreas,
  terminals,
  railTerminals,
  vessels,
  shipments,
  containers,
  transportEvents,
  trackingRequests,
  rawEvents,
  customFieldDefinitions,
  customFieldOptions,
  customFields,
  webhookEventCategories,
  otherResources,
]

const byType = new Map(resources.map((resource) => [resource.type, resource]))

/** The stream that takes records of a JSON:API type; unknown types go to `other_resources`. */
export function resourceOfType(type: string): Resource {
  return byType.get(type) ?? otherResources
}

/**
 * Flattens a record of any type. Throws ApiContractError when its id or type is not usable; the
 * caller sets it aside and goes on.
 */
export function flattenAnyRecord(record: unknown, seen: SeenIn): Sighting {
  if (!isObject(record)) return flattenRecord(otherResources, record, seen)
  const resource = resourceOfType(String(record.type))
  if (resource === vessels) return flattenVessel(record, seen)
  return flattenRecord(resource, withoutSecrets(record), seen)
}

export {
  containers,
  customFieldDefinitions,
  customFieldOptions,
  customFields,
  metroAreas,
  otherResources,
  ports,
  railTerminals,
  rawEvents,
  shipments,
  terminals,
  trackingRequests,
  transportEvents,
  vessels,
  webhookEventCategories,
}
