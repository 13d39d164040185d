import type { Relationship, ResourceObject } from '../../../source/jsonapi/document.js'
import { isoSeconds } from '../world/local-time.js'
import { reference as link } from '../records/reference-records.js'
import type { World } from '../world/world.js'
import { sourceOfChange } from './container-changeset.js'
import type { Occurrence } from './occurrence.js'

type Found = ResourceObject | undefined

/**
 * The record a notification points to, as of an instant; undefined when it is gone. Events of
 * updates, creations and estimates exist in notifications only, under the id given.
 */
export function referenceRecord(
  world: World,
  occurrence: Occurrence,
  referenceId: string,
  at: Date,
): ResourceObject | undefined {
  const { reference, event } = occurrence
  const told = isoSeconds(occurrence.at)
  switch (reference.type) {
    case 'transport_event':
    case 'tracking_request':
      return world.record(reference.type, reference.id, at)
    case 'container_created_event':
      return {
        id: referenceId,
        type: reference.type,
        attributes: { timestamp: told, timezone: 'Etc/UTC' },
        relationships: {
          container: link('container', reference.containerId),
          shipment: link('shipment', reference.shipmentId),
        },
      }
    case 'container_updated_event': {
      const container = world.record('container', reference.containerId, at)
      return {
        id: referenceId,
        type: reference.type,
        attributes: {
          changeset: reference.changeset,
          timestamp: told,
          data_source: sourceOfChange(reference.changeset),
          timezone: container?.attributes?.pod_timezone ?? 'Etc/UTC',
        },
        relationships: {
          container: link('container', reference.containerId),
          terminal: relationOf(container, 'pod_terminal'),
          shipment: link('shipment', reference.shipmentId),
        },
      }
    }
    case 'estimated_event': {
      const shipment = world.record('shipment', reference.shipmentId, at)
      const attributes = shipment?.attributes ?? {}
      const vessel = world.atlas.vessels.find(({ imo }) => imo === attributes.pod_vessel_imo)
      return {
        id: referenceId,
        type: reference.type,
        attributes: {
          created_at: told,
          estimated_timestamp: attributes.pod_eta_at ?? null,
          voyage_number: attributes.pod_voyage_number ?? null,
          event,
          location_locode: attributes.port_of_discharge_locode ?? null,
          data_source: 'shipping_line',
          timezone: attributes.pod_timezone ?? null,
        },
        relationships: {
          shipment: link('shipment', reference.shipmentId),
          port: relationOf(shipment, 'port_of_discharge'),
          vessel: vessel === undefined ? { data: null } : link('vessel', vessel.id),
        },
      }
    }
    default:
      return reference satisfies never
  }
}

/**
 * The records that come with a notification, as the API shows them at the instant and in the order
 * of published deliveries: the shipment, its containers or the one concerned, places, the ship, and
 * last the record it points to. Costs five to ten records.
 */
export function includedRecords(
  world: World,
  occurrence: Occurrence,
  referenceId: string,
  at: Date,
): ResourceObject[] {
  const { reference } = occurrence
  const pointed = referenceRecord(world, occurrence, referenceId, at)
  const shipment = reference.shipmentId
    ? world.record('shipment', reference.shipmentId, at)
    : undefined
  const related = (record: Found, relation: string): Found => {
    const data = record?.relationships?.[relation]?.data
    return isOne(data) ? world.record(data.type, data.id, at) : undefined
  }
  const container =
    'containerId' in reference ? world.record('container', reference.containerId, at) : undefined
  const records = ((): Found[] => {
    switch (reference.type) {
      case 'transport_event':
        return [
          shipment,
          container,
          ...['location', 'terminal', 'vessel'].map((relation) => related(pointed, relation)),
        ]
      case 'container_updated_event':
        return [
          shipment,
          related(shipment, 'port_of_discharge'),
          related(container, 'pod_terminal'),
          container,
        ]
      case 'container_created_event':
        return [shipment, container]
      case 'estimated_event':
        return [shipment, related(shipment, 'port_of_discharge')]
      case 'tracking_request':
        return [...(shipment ? world.containersOf(shipment.id, at) : []), shipment]
      default:
        return reference satisfies never
    }
  })()
  return [...records, pointed].filter((record) => record !== undefined)
}

function relationOf(record: Found, relation: string): Relationship {
  const data = record?.relationships?.[relation]?.data
  return isOne(data) ? link(data.type, data.id) : { data: null }
}

function isOne(data: Relationship['data']): data is { readonly type: string; readonly id: string } {
  return typeof data === 'object' && data !== null && 'id' in data
}
