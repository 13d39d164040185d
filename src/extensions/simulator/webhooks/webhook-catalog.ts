import type { ResourceObject } from '../../../source/jsonapi/document.js'

/**
 * The events one can subscribe to, in the service's groups and their order. Transport events are
 * those of the interface's list.
 */
const CATEGORIES: readonly (readonly [
  slug: string,
  name: string,
  events: Readonly<Record<string, string>>,
])[] = [
  [
    'tracking-request-events',
    'Tracking Request Events',
    {
      'tracking_request.succeeded': 'Shipment created and linked to the tracking request.',
      'tracking_request.failed': 'The tracking request could not be fulfilled.',
      'tracking_request.awaiting_manifest': 'The line has no manifest yet; it is asked again.',
      'tracking_request.tracking_stopped': 'The shipment of the request is no longer updated.',
    },
  ],
  [
    'shipment-events',
    'Shipment Events',
    { 'shipment.estimated.arrival': 'The estimated arrival at the port of discharge changed.' },
  ],
  [
    'container-events',
    'Container Events',
    {
      'container.created': 'A container was added to a shipment.',
      'container.updated': 'An attribute of a container changed.',
      'container.pickup_lfd.changed': 'The last free day changed.',
      'container.pickup_lfd_line.changed': 'The last free day of the shipping line changed.',
      'container.pickup_lfd_terminal.changed': 'The last free day of the terminal changed.',
      'container.pickup_lfd_rail.changed': 'The last free day of the rail carrier changed.',
      'container.pickup_appointment.changed': 'The pickup appointment changed.',
    },
  ],
  [
    'origin-events',
    'Origin Events',
    {
      'container.transport.empty_out': 'Empty container left the depot.',
      'container.transport.full_in': 'Full container entered the terminal of origin.',
      'container.transport.vessel_loaded': 'Loaded on the vessel.',
      'container.transport.vessel_departed': 'Vessel departed from the port of lading.',
      'container.transport.estimated.vessel_departed': 'Estimated departure changed.',
      'container.transport.feeder_loaded': 'Loaded on a feeder.',
      'container.transport.feeder_departed': 'Feeder departed.',
      'container.transport.feeder_arrived': 'Feeder arrived.',
      'container.transport.feeder_discharged': 'Discharged from a feeder.',
    },
  ],
  [
    'transshipment-events',
    'Transshipment Events',
    {
      'container.transport.transshipment_arrived': 'Arrived at a port of transshipment.',
      'container.transport.transshipment_discharged': 'Discharged for transshipment.',
      'container.transport.transshipment_loaded': 'Loaded on the next vessel.',
      'container.transport.transshipment_departed': 'Departed from a port of transshipment.',
    },
  ],
  [
    'discharge-events',
    'Port of Discharge Events',
    {
      'container.transport.vessel_arrived': 'Vessel arrived at the port of discharge.',
      'container.transport.estimated.vessel_arrived': 'Estimated arrival changed.',
      'container.transport.vessel_berthed': 'Vessel berthed.',
      'container.transport.vessel_discharged': 'Discharged from the vessel.',
      'container.transport.available': 'Available for pickup.',
      'container.transport.not_available': 'No longer available for pickup.',
      'container.transport.full_out': 'Full container left the terminal.',
      'container.transport.delivered': 'Delivered to the consignee.',
      'container.transport.empty_in': 'Empty container returned.',
    },
  ],
  [
    'rail-events',
    'Rail Events',
    {
      'container.transport.rail_loaded': 'Loaded on a train.',
      'container.transport.rail_departed': 'Train departed.',
      'container.transport.rail_arrived': 'Train arrived.',
      'container.transport.rail_unloaded': 'Unloaded from a train.',
      'container.transport.arrived_at_inland_destination': 'Arrived at the inland destination.',
      'container.transport.estimated.arrived_at_inland_destination':
        'Estimated arrival at the inland destination changed.',
    },
  ],
  [
    'document-events',
    'Document Events',
    {
      'document.extracted': 'Data was read from a document.',
      'document.extraction_failed': 'A document could not be read.',
    },
  ],
]

export const WEBHOOK_EVENT_NAMES: readonly string[] = CATEGORIES.flatMap(([, , events]) =>
  Object.keys(events),
)

export function webhookEventCategories(): ResourceObject[] {
  return CATEGORIES.map(([id, name, events]) => ({
    id,
    type: 'webhook_event_category',
    attributes: {
      name,
      events: Object.entries(events).map(([event, description]) => ({ name: event, description })),
    },
  }))
}
