import { isObject } from '../jsonapi/members.js'
import {
  boolean,
  defineResource,
  enumerated,
  integer,
  json,
  many,
  numeric,
  one,
  polymorphic,
  text,
  texts,
  timestamp,
  volatile,
  type DeriveTarget,
} from './resource.js'

/** The keys of `import_deadlines`, each also a column of its own. */
export const IMPORT_DEADLINES = [
  'pickup_lfd_terminal',
  'pickup_lfd_rail',
  'pickup_lfd_line',
] as const

const EQUIPMENT_TYPES = ['dry', 'reefer', 'open top', 'flat rack', 'bulk', 'tank'] as const
const EQUIPMENT_LENGTHS = ['10', '20', '40', '45'] as const
const EQUIPMENT_HEIGHTS = ['standard', 'high_cube'] as const
const STATUSES = [
  'new',
  'on_ship',
  'available',
  'not_available',
  'grounded',
  'on_rail',
  'picked_up',
  'off_dock',
  'delivered',
  'dropped',
  'loaded',
  'empty_returned',
  'awaiting_inland_transfer',
] as const

/** Values inside the lists of a container, by list and member. */
const LISTED_VALUES = [
  ['holds_at_pod_terminal', 'status', new Set(['pending', 'hold'])],
  [
    'fees_at_pod_terminal',
    'type',
    new Set(['demurrage', 'exam', 'extended_dwell_time', 'other', 'total']),
  ],
] as const

/** Members of what is kept as it was sent, by attribute. */
const KNOWN_MEMBERS = [
  ['import_deadlines', new Set<string>(IMPORT_DEADLINES)],
  ['holds_at_pod_terminal', new Set(['name', 'status', 'description'])],
  ['fees_at_pod_terminal', new Set(['type', 'amount', 'currency_code'])],
] as const

/**
 * A container: the equipment during one journey. Its holds, fees and deadlines stay here as the
 * source sent them and become rows of their own, derived from the stored row by functions of the
 * warehouse.
 */
export const containers = defineResource({
  type: 'container',
  stream: 'containers',
  idColumn: 'container_id',
  path: 'containers',
  historyTable: 'container_history',
  requiresAttributes: true,
  attributes: {
    number: text,
    ref_numbers: texts,
    equipment_type: enumerated(text, EQUIPMENT_TYPES),
    equipment_length: enumerated(integer, EQUIPMENT_LENGTHS),
    equipment_height: enumerated(text, EQUIPMENT_HEIGHTS),
    weight_in_lbs: numeric,
    created_at: timestamp,
    seal_number: text,
    pickup_lfd: timestamp,
    pickup_appointment_at: timestamp,
    availability_known: boolean,
    available_for_pickup: boolean,
    pod_arrived_at: timestamp,
    pod_discharged_at: timestamp,
    pod_full_out_at: timestamp,
    terminal_checked_at: volatile(timestamp),
    pod_full_out_chassis_number: text,
    location_at_pod_terminal: text,
    final_destination_full_out_at: timestamp,
    empty_terminated_at: timestamp,
    holds_at_pod_terminal: json,
    fees_at_pod_terminal: json,
    pod_timezone: text,
    final_destination_timezone: text,
    empty_terminated_timezone: text,
    pod_rail_carrier_scac: text,
    ind_rail_carrier_scac: text,
    pod_last_tracking_request_at: volatile(timestamp),
    shipment_last_tracking_request_at: volatile(timestamp),
    pod_rail_loaded_at: timestamp,
    pod_rail_departed_at: timestamp,
    ind_eta_at: timestamp,
    ind_ata_at: timestamp,
    ind_rail_unloaded_at: timestamp,
    ind_facility_lfd_on: timestamp,
    import_deadlines: json,
    current_status: enumerated(text, STATUSES),
  },
  extraColumns: IMPORT_DEADLINES.map((name) => ({ name, type: 'timestamptz', isMaterial: true })),
  relationships: {
    shipment: one('shipment'),
    pickup_facility: one('terminal'),
    pod_terminal: one('terminal'),
    transport_events: many('transport_event', 'transport_event_ids'),
    raw_events: many('raw_event', 'raw_event_ids'),
  },
  derive: ({ attributes }, { set, unknownValue, unknownMember }) => {
    const members = attributes as Record<string, unknown> | undefined
    reportUnknownValues(members, unknownValue)
    reportUnknownMembers(members, unknownMember)
    const deadlines = members?.import_deadlines
    if (deadlines === undefined) return
    for (const name of IMPORT_DEADLINES) {
      const value = isObject(deadlines) ? deadlines[name] : null
      if (value !== undefined) set(name, value)
    }
  },
})

function reportUnknownValues(
  attributes: Readonly<Record<string, unknown>> | undefined,
  report: DeriveTarget['unknownValue'],
): void {
  for (const [list, member, known] of LISTED_VALUES) {
    const items = attributes?.[list]
    if (!Array.isArray(items)) continue
    for (const item of items as readonly (Readonly<Record<string, unknown>> | null)[]) {
      const value = item?.[member]
      if (typeof value === 'string' && !known.has(value)) report(`${list}.${member}`, value)
    }
  }
}

function reportUnknownMembers(
  attributes: Readonly<Record<string, unknown>> | undefined,
  report: DeriveTarget['unknownMember'],
): void {
  for (const [name, known] of KNOWN_MEMBERS) {
    for (const item of [attributes?.[name]].flat()) {
      if (typeof item !== 'object' || item === null) continue
      for (const member of Object.keys(item)) if (!known.has(member)) report(`${name}.${member}`)
    }
  }
}

/** A custom field's value on one entity, addressed by the slug of its definition. */
export const customFields = defineResource({
  type: 'custom_field',
  stream: 'custom_fields',
  idColumn: 'custom_field_id',
  keyColumns: ['entity_id', 'api_slug'],
  attributes: {
    api_slug: text,
    value: json,
    display_value: text,
  },
  relationships: { entity: polymorphic, definition: one('custom_field_definition') },
})
