import { defineResource, enumerated, fields, one, polymorphic, words } from './resource.js'

/** Each after `container.transport.` */
const TRANSPORTS = `
  vessel_arrived vessel_discharged vessel_loaded vessel_departed vessel_berthed
  estimated.vessel_arrived estimated.vessel_departed
  rail_departed rail_arrived rail_loaded rail_unloaded
  transshipment_arrived transshipment_discharged transshipment_loaded transshipment_departed
  feeder_arrived feeder_discharged feeder_loaded feeder_departed
  empty_out full_in full_out empty_in
  arrived_at_inland_destination estimated.arrived_at_inland_destination
  available not_available delivered
`

const OTHER_EVENTS = `
  container.pickup_lfd.changed container.pickup_lfd_line.changed
  container.pickup_lfd_terminal.changed container.pickup_lfd_rail.changed
  container.pickup_appointment.changed document.extracted document.extraction_failed
`

const EVENTS = [
  ...words(TRANSPORTS).map((name) => `container.transport.${name}`),
  ...words(OTHER_EVENTS),
]

/**
 * A transport event of a container. The key starts with the container, because an event may lack
 * its shipment and a container can change its shipment. `is_estimated` marks an event that is
 * expected and has not happened. `value` is the new value of a `*.changed` event.
 */
export const transportEvents = defineResource({
  type: 'transport_event',
  stream: 'transport_events',
  keyColumns: ['container_id', 'transport_event_id'],
  attributes: {
    event: enumerated('text', EVENTS),
    data_source: enumerated(
      'text',
      'shipping_line terminal ais rail t49_operations_team user_input',
    ),
    ...fields('text', 'voyage_number timezone location_locode value'),
    ...fields('timestamptz', 'timestamp created_at invalidated_at value_timestamp'),
  },
  extraColumns: [{ name: 'is_estimated', type: 'boolean', isMaterial: true }],
  relationships: {
    shipment: one('shipment'),
    container: one('container'),
    location: polymorphic,
    vessel: one('vessel'),
    terminal: polymorphic,
    source_event: one('raw_event'),
    previous_version: one('transport_event'),
  },
  derive: ({ attributes }, target) => {
    const event = (attributes as Record<string, unknown> | undefined)?.event
    if (event === undefined) return
    target.set('is_estimated', typeof event === 'string' ? event.includes('.estimated.') : null)
  },
})
