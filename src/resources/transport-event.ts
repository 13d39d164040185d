import { defineResource, enumerated, one, polymorphic, text, timestamp } from './resource.js'

const EVENTS = [
  'container.transport.vessel_arrived',
  'container.transport.estimated.vessel_arrived',
  'container.transport.vessel_discharged',
  'container.transport.vessel_loaded',
  'container.transport.vessel_departed',
  'container.transport.estimated.vessel_departed',
  'container.transport.rail_departed',
  'container.transport.rail_arrived',
  'container.transport.rail_loaded',
  'container.transport.rail_unloaded',
  'container.transport.transshipment_arrived',
  'container.transport.transshipment_discharged',
  'container.transport.transshipment_loaded',
  'container.transport.transshipment_departed',
  'container.transport.feeder_arrived',
  'container.transport.feeder_discharged',
  'container.transport.feeder_loaded',
  'container.transport.feeder_departed',
  'container.transport.empty_out',
  'container.transport.full_in',
  'container.transport.full_out',
  'container.transport.empty_in',
  'container.transport.vessel_berthed',
  'container.transport.arrived_at_inland_destination',
  'container.transport.estimated.arrived_at_inland_destination',
  'container.pickup_lfd.changed',
  'container.pickup_lfd_line.changed',
  'container.pickup_lfd_terminal.changed',
  'container.pickup_lfd_rail.changed',
  'container.pickup_appointment.changed',
  'container.transport.available',
  'container.transport.not_available',
  'container.transport.delivered',
  'document.extracted',
  'document.extraction_failed',
] as const

const DATA_SOURCES = ['shipping_line', 'terminal', 'ais'] as const

/**
 * A transport event of a container. The key starts with the container, because an event may lack
 * its shipment and a container can change its shipment. `is_estimated` says that the event is
 * expected and has not happened.
 */
export const transportEvents = defineResource({
  type: 'transport_event',
  stream: 'transport_events',
  idColumn: 'transport_event_id',
  keyColumns: ['container_id', 'transport_event_id'],
  attributes: {
    event: enumerated(text, EVENTS),
    voyage_number: text,
    timestamp,
    timezone: text,
    location_locode: text,
    created_at: timestamp,
    data_source: enumerated(text, DATA_SOURCES),
    invalidated_at: timestamp,
  },
  extraColumns: [{ name: 'is_estimated', type: 'boolean', isMaterial: true }],
  relationships: {
    shipment: one('shipment'),
    container: one('container'),
    location: polymorphic,
    vessel: one('vessel'),
    terminal: polymorphic,
  },
  derive: ({ attributes }, { set }) => {
    const event = (attributes as Record<string, unknown> | undefined)?.event
    if (event === undefined) return
    set('is_estimated', typeof event === 'string' ? event.includes('.estimated.') : null)
  },
})
