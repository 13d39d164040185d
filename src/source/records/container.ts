import { isObject, membersOf, type Members } from '../jsonapi/document.js'
import { IMPORT_DEADLINES, readImportDeadlines } from './import-deadlines.js'
import {
  defineResource,
  enumerated,
  fields,
  many,
  one,
  volatile,
  type DeriveTarget,
} from './resource.js'

/** The names that the interface gives for lists that are kept as they were sent. */
const HOLDS = {
  members: new Set(['name', 'status', 'description', 'detail']),
  enumerated: 'status',
  values: new Set(['pending', 'hold']),
}
const FEES = {
  members: new Set(['type', 'amount', 'currency_code', 'description']),
  enumerated: 'type',
  values: new Set(['demurrage', 'exam', 'extended_dwell_time', 'other', 'total']),
}
const LISTS = [
  { attribute: 'holds_at_pod_terminal', ...HOLDS },
  { attribute: 'fees_at_pod_terminal', ...FEES },
  { attribute: 'ind_facility_holds', ...HOLDS },
  { attribute: 'ind_facility_fees', ...FEES },
] as const

/**
 * A container: the equipment during one journey. Its holds, fees and deadlines stay here as the
 * source sent them and become rows of their own, derived from the stored row by functions of the
 * warehouse.
 */
export const containers = defineResource({
  type: 'container',
  stream: 'containers',
  path: 'containers',
  historyTable: 'container_history',
  requiresAttributes: true,
  attributes: {
    ...fields(
      'text',
      `number seal_number pod_full_out_chassis_number location_at_pod_terminal
       pod_timezone final_destination_timezone empty_terminated_timezone
       pod_rail_carrier_scac ind_rail_carrier_scac`,
    ),
    ...fields('text[]', 'ref_numbers'),
    equipment_type: enumerated('text', [
      'dry',
      'reefer',
      'open top',
      'flat rack',
      'bulk',
      'tank',
      'hard top',
    ]),
    ...fields('numeric', 'weight_in_lbs'),
    ...fields('boolean', 'availability_known available_for_pickup'),
    ...fields(
      'jsonb',
      `holds_at_pod_terminal fees_at_pod_terminal ind_facility_holds ind_facility_fees
       import_deadlines`,
    ),
    ...fields(
      'timestamptz',
      `created_at pickup_lfd ssl_lfd pickup_appointment_at
       empty_out_at pol_full_in_at pol_vessel_loaded_at pol_vessel_departed_at
       pod_arrived_at pod_discharged_at pod_full_out_at pod_rail_loaded_at pod_rail_departed_at
       ind_eta_at ind_ata_at ind_rail_unloaded_at ind_facility_lfd_on
       final_destination_full_out_at delivered_at empty_terminated_at`,
    ),
    ...volatile(
      'timestamptz',
      `terminal_checked_at pod_last_tracking_request_at rail_last_tracking_request_at
       shipment_last_tracking_request_at`,
    ),
    equipment_length: enumerated('integer', '10 20 40 45 50'),
    equipment_height: enumerated('text', 'standard high_cube'),
    current_status: enumerated(
      'text',
      `new on_ship available not_available grounded on_rail picked_up off_dock delivered dropped
       loaded empty_returned awaiting_inland_transfer`,
    ),
  },
  extraColumns: [
    ...IMPORT_DEADLINES.map((name) => ({ name, type: 'timestamptz', isMaterial: true }) as const),
    { name: 'import_deadline_sources', type: 'jsonb', isMaterial: true },
  ],
  relationships: {
    shipment: one('shipment'),
    pickup_facility: one('terminal'),
    pod_terminal: one('terminal'),
    transport_events: many('transport_event', 'transport_event_ids'),
  },
  // Asked for by container where TRACKING_RAW_EVENTS is on.
  ignoredRelationships: ['raw_events'],
  derive: (record, target) => {
    const attributes = membersOf(record.attributes)
    reportUnknown(attributes, target)
    readImportDeadlines(attributes.import_deadlines, target)
  },
})

function reportUnknown(attributes: Members, target: DeriveTarget): void {
  for (const { attribute, members, enumerated: chosen, values } of LISTS) {
    const list = attributes[attribute]
    if (!Array.isArray(list)) continue
    for (const item of list.filter(isObject)) {
      for (const [name, value] of Object.entries(item)) {
        if (!members.has(name)) target.unknownMember(`${attribute}.${name}`)
        if (name !== chosen || typeof value !== 'string' || values.has(value)) continue
        target.unknownValue(`${attribute}.${name}`, value)
      }
    }
  }
}
