import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { EditTarget } from '../world/edits.js'
import type { World } from '../world/world.js'
import { containerChangeset } from './container-changeset.js'
import type { Occurrence } from './occurrence.js'
import { occurrencesOf, requestEvent } from './occurrences.js'

/**
 * The occurrences of an edit, at a whole second. A changed container gives its changeset, a
 * shipment its estimated arrival, a tracking request its status, a transport event its name again,
 * an inserted shipment everything that happened to it so far. A deleted, withdrawn or revived
 * record gives nothing, nor does a reference resource: the service knows no event for them. A last
 * free day that is changed by hand comes as `container.updated`, not as a transport event.
 */
export function editOccurrences(
  world: World,
  target: EditTarget,
  before: ResourceObject | undefined,
  at: number,
): Occurrence[] {
  if (target.kind === 'insert') {
    return target.shipmentIds.toReversed().flatMap((id) => {
      const serial = world.ids.decode(id)?.serial
      return serial === undefined
        ? []
        : occurrencesOf(world.sources, serial, Number.NEGATIVE_INFINITY, at)
    })
  }
  const after = world.record(target.type, target.id, new Date(at))
  if (target.kind !== 'change' || before === undefined || after === undefined) return []
  const occurrence = changeOccurrence(before, after)
  return occurrence === undefined ? [] : [{ ...occurrence, at }]
}

function changeOccurrence(
  before: ResourceObject,
  after: ResourceObject,
): Omit<Occurrence, 'at'> | undefined {
  const attributes = after.attributes ?? {}
  const hasMoved = (name: string): boolean => attributes[name] !== before.attributes?.[name]
  switch (after.type) {
    case 'container': {
      const changeset = containerChangeset(before.attributes ?? {}, attributes)
      const shipmentId = linkedId(after, 'shipment')
      if (changeset === undefined || shipmentId === undefined) return undefined
      const names = { containerId: after.id, shipmentId }
      const reference = { type: 'container_updated_event', ...names, changeset } as const
      return { event: 'container.updated', reference }
    }
    case 'shipment': {
      if (!hasMoved('pod_eta_at')) return undefined
      const reference = { type: 'estimated_event', shipmentId: after.id } as const
      return { event: 'shipment.estimated.arrival', reference }
    }
    case 'transport_event':
      return transportEventTold(after)
    case 'tracking_request': {
      const event = hasMoved('status') ? requestEvent(attributes.status) : undefined
      if (event === undefined) return undefined
      const shipmentId = linkedId(after, 'tracked_object')
      return { event, reference: { type: 'tracking_request', id: after.id, shipmentId } }
    }
    default:
      return undefined
  }
}

/**
 * A transport event under its own name; undefined for one without a name, a container or a
 * shipment.
 */
export function transportEventTold(record: ResourceObject): Omit<Occurrence, 'at'> | undefined {
  const event = record.attributes?.event
  const containerId = linkedId(record, 'container')
  const shipmentId = linkedId(record, 'shipment')
  if (typeof event !== 'string' || containerId === undefined || shipmentId === undefined) {
    return undefined
  }
  return { event, reference: { type: 'transport_event', id: record.id, containerId, shipmentId } }
}

export function linkedId(record: ResourceObject, relation: string): string | undefined {
  const data = record.relationships?.[relation]?.data
  return typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined
}
