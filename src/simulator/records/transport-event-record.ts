import type { Relationship, ResourceObject } from '../../jsonapi/document.js'
import { isoSeconds } from '../world/local-time.js'
import { reference } from './reference-records.js'
import type { PlannedEvent } from '../plans/transport-event-plan.js'

/** A transport event never changes while it is listed, so the record needs no instant. */
export function transportEventRecord(
  event: PlannedEvent,
  shipmentId: string,
  containerId: string,
  hasExtras: boolean,
): ResourceObject {
  const link = (target: { type: string; id: string } | undefined): Relationship =>
    target === undefined ? { data: null } : reference(target.type, target.id)
  return {
    id: event.id,
    type: 'transport_event',
    attributes: {
      event: event.event,
      created_at: isoSeconds(event.createdAt),
      voyage_number: event.voyageNumber,
      timestamp: event.timestamp === null ? null : isoSeconds(event.timestamp),
      data_source: event.source,
      location_locode: event.site?.locode ?? null,
      timezone: event.site?.zone ?? null,
      ...(hasExtras && event.value !== undefined ? valueOf(event.value) : {}),
      ...(hasExtras && event.invalidatedAt !== undefined
        ? { invalidated_at: isoSeconds(event.invalidatedAt) }
        : {}),
    },
    relationships: {
      shipment: reference('shipment', shipmentId),
      container: reference('container', containerId),
      vessel: event.vessel === undefined ? { data: null } : reference('vessel', event.vessel.id),
      location: link(event.site),
      terminal: link(event.terminal),
      ...(hasExtras ? originOf(event) : {}),
    },
  }
}

function originOf({
  sourceEventId,
  previousVersionId,
}: PlannedEvent): Readonly<Record<string, Relationship>> {
  return {
    ...(sourceEventId === undefined ? {} : { source_event: reference('raw_event', sourceEventId) }),
    ...(previousVersionId === undefined
      ? {}
      : { previous_version: reference('transport_event', previousVersionId) }),
  }
}

function valueOf(instant: number): Readonly<Record<string, string>> {
  const value = isoSeconds(instant)
  return { value, value_timestamp: value }
}
