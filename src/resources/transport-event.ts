import { defineResource, one, polymorphic, text, timestamp } from './resource.js'

/**
 * A transport event of a container. The key starts with the container, because an event may lack its shipment and a container
 * can change its shipment. `is_estimated` says that the event is expected and has not happened.
 */
export const transportEvents = defineResource({
  type: 'transport_event',
  stream: 'transport_events',
  idColumn: 'transport_event_id',
  keyColumns: ['container_id', 'transport_event_id'],
  attributes: {
    event: text,
    voyage_number: text,
    timestamp,
    timezone: text,
    location_locode: text,
    created_at: timestamp,
    data_source: text,
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
