import { isObject, membersOf, type Members } from '../jsonapi/members.js'
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

/** What the interface names inside attributes that are kept as they were sent. */
const INSIDE = [
  { attribute: 'import_deadlines', members: new Set<string>(IMPORT_DEADLINES) },
  {
    attribute: 'holds_at_pod_terminal',
    members: new Set(['name', 'status', 'description']),
    enumerated: 'status',
    values: new Set(['pending', 'hold']),
  },
  {
    attribute: 'fees_at_pod_terminal',
    members: new Set(['type', 'amount', 'currency_code']),
    enumerated: 'type',
    values: new Set(['demurrage', 'exam', 'extended_dwell_time', 'other', 'total']),
  },
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
  derive: (record, target) => {
    const attributes = membersOf(record.attributes)
    reportUnknown(attributes, target)
    const deadlines = attributes.import_deadlines
    if (deadlines === undefined) return
    for (const name of IMPORT_DEADLINES) {
      const value = isObject(deadlines) ? deadlines[name] : null
      if (value !== undefined) target.set(name, value)
    }
  },
})

function reportUnknown(attributes: Members, { unknownMember, unknownValue }: DeriveTarget): void {
  for (const { attribute, members, ...list } of INSIDE) {
    for (const item of [attributes[attribute]].flat().filter(isObject)) {
      for (const [name, value] of Object.entries(item)) {
        if (!members.has(name)) unknownMember(`${attribute}.${name}`)
        if (!('values' in list) || name !== list.enumerated || typeof value !== 'string') continue
        if (!list.values.has(value)) unknownValue(`${attribute}.${name}`, value)
      }
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
