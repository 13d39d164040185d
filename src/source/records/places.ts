import { defineResource, enumerated, fields, many, one } from './resource.js'

/** A seaport. The source sends coordinates as texts; they are stored as exact numbers. */
export const ports = defineResource({
  type: 'port',
  stream: 'ports',
  path: 'ports',
  attributes: {
    ...fields('text', 'name code state_abbr city country_code time_zone'),
    ...fields('numeric', 'latitude longitude'),
  },
  relationships: { terminals: many('terminal', 'terminal_ids') },
})

/** An inland place or metropolitan area that can be a destination. */
export const metroAreas = defineResource({
  type: 'metro_area',
  stream: 'metro_areas',
  path: 'metro_areas',
  attributes: {
    ...fields('text', 'name code state_abbr country_code time_zone'),
    ...fields('numeric', 'latitude longitude'),
  },
})

/** A marine terminal; the service also lists rail ramps as terminals, by `facility_type`. */
export const terminals = defineResource({
  type: 'terminal',
  stream: 'terminals',
  path: 'terminals',
  requiresAttributes: true,
  attributes: {
    ...fields(
      'text',
      `name nickname firms_code smdg_code bic_facility_code
       street city state state_abbr zip country`,
    ),
    facility_type: enumerated('text', 'ocean_terminal rail'),
    ...fields('jsonb', 'provided_data'),
  },
  relationships: { port: one('port') },
})

/** A rail ramp or other inland rail terminal. */
export const railTerminals = defineResource({
  type: 'rail_terminal',
  stream: 'rail_terminals',
  path: 'rail_terminals',
  requiresAttributes: true,
  attributes: fields('text', 'name nickname firms_code city'),
  relationships: { port: one('port'), metro_area: one('metro_area') },
})
