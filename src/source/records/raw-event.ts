import { defineResource, enumerated, fields, one, polymorphic } from './resource.js'

/**
 * The report of a carrier about a container, unverified: the only source of planned events. Read on
 * request; the service marks them as deprecated since August 2026. `attributes` stay as sent.
 */
export const rawEvents = defineResource({
  type: 'raw_event',
  stream: 'raw_events',
  attributes: {
    event: enumerated(
      'text',
      `empty_out full_in positioned_in positioned_out vessel_loaded vessel_departed
       transshipment_arrived transshipment_discharged transshipment_loaded transshipment_departed
       feeder_arrived feeder_discharged feeder_loaded feeder_departed
       rail_loaded rail_departed rail_arrived rail_unloaded vessel_arrived vessel_discharged
       arrived_at_destination delivered full_out empty_in vgm_received carrier_release
       customs_release available`,
    ),
    ...fields(
      'text',
      `original_event voyage_number location_name location_locode vessel_name vessel_imo timezone`,
    ),
    ...fields('timestamptz', 'timestamp actual_at estimated_at created_at'),
    ...fields('date', 'actual_on estimated_on'),
    ...fields('boolean', 'estimated'),
    ...fields('integer', 'index'),
  },
  extraColumns: [
    { name: 'container_id', type: 'text', isMaterial: true },
    { name: 'attributes', type: 'jsonb', isMaterial: true },
  ],
  relationships: { location: polymorphic, vessel: one('vessel') },
  derive: ({ attributes }, target) => {
    target.set('attributes', attributes ?? null)
  },
})
