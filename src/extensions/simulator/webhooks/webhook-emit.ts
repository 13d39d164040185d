import type { Changeset, Occurrence } from '../notifications/occurrence.js'
import { linkedId, transportEventTold } from '../notifications/edit-occurrences.js'
import type { World } from '../world/world.js'

/** The record a notification by hand is about; which of them is needed depends on the event. */
export interface EmitTarget {
  readonly containerId?: string | undefined
  readonly shipmentId?: string | undefined
  readonly transportEventId?: string | undefined
  readonly trackingRequestId?: string | undefined
  /** For `container.updated`. Default: an empty one. */
  readonly changeset?: Changeset
}

/** The occurrence for a record at a whole second. RangeError when the record does not exist. */
export function occurrenceOfRecord(
  world: World,
  event: string,
  about: EmitTarget,
  at: number,
): Occurrence {
  const moment = new Date(at)
  const wanted = (type: string, id: string | undefined) => {
    const record = id === undefined ? undefined : world.record(type, id, moment)
    if (record !== undefined) return record
    throw new RangeError(`${event} needs a ${type} that exists; ${id ?? 'none'} was given.`)
  }
  if (event === 'container.created' || event === 'container.updated') {
    const container = wanted('container', about.containerId)
    const shipmentId = linkedId(container, 'shipment') ?? ''
    const names = { containerId: container.id, shipmentId }
    if (event === 'container.created') {
      return { event, at, reference: { type: 'container_created_event', ...names } }
    }
    const { changeset = {} } = about
    return { event, at, reference: { type: 'container_updated_event', ...names, changeset } }
  }
  if (event === 'shipment.estimated.arrival') {
    const { id } = wanted('shipment', about.shipmentId)
    return { event, at, reference: { type: 'estimated_event', shipmentId: id } }
  }
  if (event.startsWith('tracking_request.')) {
    const request = wanted('tracking_request', about.trackingRequestId)
    const shipmentId = linkedId(request, 'tracked_object')
    return { event, at, reference: { type: 'tracking_request', id: request.id, shipmentId } }
  }
  const { transportEventId, containerId } = about
  const record =
    transportEventId === undefined && containerId !== undefined
      ? world
          .transportEventsOf(containerId, moment)
          .find(({ attributes }) => attributes?.event === event)
      : wanted('transport_event', transportEventId)
  const told = record && transportEventTold(record)
  if (told !== undefined) return { ...told, event, at }
  throw new RangeError(`The container ${containerId ?? ''} has no transport event ${event} now.`)
}
