import type { Relationship, ResourceObject } from '../../../source/jsonapi/document.js'
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
      ...(hasExtras ? extraAttributes(event) : {}),
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

/** Each has them, null or not: a serializer writes the same members for every record of a type. */
function extraAttributes({ value, invalidatedAt }: PlannedEvent): Record<string, string | null> {
  const instant = value === undefined ? null : isoSeconds(value)
  return {
    value: instant,
    value_timestamp: instant,
    invalidated_at: invalidatedAt === undefined ? null : isoSeconds(invalidatedAt),
  }
}

function originOf({
  sourceEventId,
  previousVersionId,
}: PlannedEvent): Readonly<Record<string, Relationship>> {
  const link = (type: string, id: string | undefined): Relationship =>
    id === undefined ? { data: null } : reference(type, id)
  return {
    source_event: link('raw_event', sourceEventId),
    previous_version: link('transport_event', previousVersionId),
  }
}
