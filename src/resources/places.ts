import { defineResource, numeric, one, text } from './resource.js'

/** A seaport. The source sends coordinates as texts; they are stored as exact numbers. */
export const ports = defineResource({
  type: 'port',
  stream: 'ports',
  idColumn: 'port_id',
  path: 'ports',
  attributes: {
    name: text,
    code: text,
    state_abbr: text,
    city: text,
    country_code: text,
    time_zone: text,
    latitude: numeric,
    longitude: numeric,
  },
})

/** An inland place or metropolitan area that can be a destination. */
export const metroAreas = defineResource({
  type: 'metro_area',
  stream: 'metro_areas',
  idColumn: 'metro_area_id',
  path: 'metro_areas',
  attributes: {
    name: text,
    code: text,
    state_abbr: text,
    country_code: text,
    time_zone: text,
    latitude: numeric,
    longitude: numeric,
  },
})

/** A marine terminal. */
export const terminals = defineResource({
  type: 'terminal',
  stream: 'terminals',
  idColumn: 'terminal_id',
  path: 'terminals',
  requiresAttributes: true,
  attributes: {
    name: text,
    nickname: text,
    firms_code: text,
    smdg_code: text,
    bic_facility_code: text,
    street: text,
    city: text,
    state: text,
    state_abbr: text,
    zip: text,
    country: text,
  },
  relationships: { port: one('port') },
})

/** A rail ramp or other inland rail terminal. */
export const railTerminals = defineResource({
  type: 'rail_terminal',
  stream: 'rail_terminals',
  idColumn: 'rail_terminal_id',
  path: 'rail_terminals',
  requiresAttributes: true,
  attributes: { name: text, nickname: text, firms_code: text },
  relationships: { port: one('port'), metro_area: one('metro_area') },
})
