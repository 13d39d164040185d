import { defineResource, numeric, text, timestamp, volatile } from './resource.js'

/**
 * A vessel, and its position when it was last read. Where it was before is in `vessel_positions`,
 * when asked for.
 */
export const vessels = defineResource({
  type: 'vessel',
  stream: 'vessels',
  idColumn: 'vessel_id',
  path: 'vessels',
  attributes: {
    name: text,
    imo: text,
    mmsi: text,
    latitude: volatile(numeric),
    longitude: volatile(numeric),
    nautical_speed_knots: volatile(numeric),
    navigational_heading_degrees: volatile(numeric),
    position_timestamp: volatile(timestamp),
  },
})
