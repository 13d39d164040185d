import type { AnalyticsScene } from '../../support/analytics-scene.js'

/** The places that the shipment and the container name. */
export async function insertPlaces(scene: AnalyticsScene): Promise<void> {
  await scene.insert('ports', [
    { port_id: 'p1', code: 'CNSHA', name: 'Shanghai Port', city: 'Shanghai', country_code: 'CN' },
    { port_id: 'p2', code: 'USLAX', name: 'Los Angeles', city: null, country_code: 'US' },
  ])
  await scene.insert('metro_areas', [
    { metro_area_id: 'm1', code: 'USCHI', name: 'Chicago', country_code: 'US' },
  ])
  await scene.insert('terminals', [
    { terminal_id: 't1', firms_code: 'Y258', nickname: 'WBCT', name: 'West Basin' },
  ])
  await scene.insert('rail_terminals', [
    { rail_terminal_id: 'r1', firms_code: 'H572', nickname: 'CHI', name: 'Chicago ramp' },
  ])
}

export const SHIPMENT = {
  shipment_id: 's1',
  bill_of_lading_number: 'MAEU123',
  normalized_number: '123',
  ref_numbers: ['PO 1', 'PO 2'],
  tags: ['winter', 'Urgent', 'blue'],
  customer_name: 'Acme',
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_lading_id: 'p1',
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  pol_timezone: 'Asia/Shanghai',
  port_of_discharge_id: 'p2',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  pod_timezone: 'America/Los_Angeles',
  destination_id: 'm1',
  destination_type: 'metro_area',
  destination_locode: 'USCHI',
  destination_name: 'Chicago, IL',
  destination_terminal_id: 'r1',
  destination_terminal_type: 'rail_terminal',
  pol_etd_at: '2026-02-09T22:00:00Z',
  pol_atd_at: '2026-02-10T01:30:00Z',
  pod_eta_at: '2026-03-07T16:00:00Z',
  pod_voyage_number: '612E',
  pod_vessel_name: 'EVER GIVEN',
  pod_vessel_imo: '9811000',
  line_tracking_last_succeeded_at: '2026-03-21T06:00:00Z',
  line_tracking_stopped_at: '2026-03-21T07:00:00Z',
  line_tracking_stopped_reason: 'all_containers_terminated',
}

/** Moved by rail from Los Angeles to Chicago, and returned there. */
export const CONTAINER = {
  container_id: 'c1',
  shipment_id: 's1',
  number: 'MSKU0000001',
  ref_numbers: [],
  equipment_type: 'open top',
  equipment_length: 40,
  equipment_height: 'high_cube',
  weight_in_lbs: '43210.6',
  seal_number: 'SEAL1',
  created_at: '2026-02-01T12:00:00Z',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  final_destination_timezone: 'America/Chicago',
  empty_terminated_timezone: 'America/Chicago',
  pod_arrived_at: '2026-03-08T09:00:00Z',
  pod_discharged_at: '2026-03-08T11:00:00Z',
  pickup_lfd: '2026-03-13T07:00:00Z',
  pickup_lfd_terminal: '2026-03-13T07:00:00Z',
  pickup_lfd_line: null,
  pickup_lfd_rail: '2026-03-18T05:00:00Z',
  pickup_appointment_at: '2026-03-09T15:00:00Z',
  pod_full_out_chassis_number: 'CH1',
  pod_rail_carrier_scac: 'BNSF',
  pod_rail_loaded_at: '2026-03-10T00:00:00Z',
  pod_rail_departed_at: '2026-03-10T12:00:00Z',
  ind_rail_carrier_scac: 'UPRR',
  ind_eta_at: '2026-03-14T12:00:00Z',
  ind_ata_at: '2026-03-14T18:00:00Z',
  ind_rail_unloaded_at: '2026-03-14T20:00:00Z',
  final_destination_full_out_at: '2026-03-16T14:00:00Z',
  empty_terminated_at: '2026-03-20T17:00:00Z',
  fees_at_pod_terminal: JSON.stringify([
    { type: 'demurrage', amount: 350, currency_code: 'USD' },
    { type: 'total', amount: 350, currency_code: 'USD' },
  ]),
  holds_at_pod_terminal: '[]',
  location_at_pod_terminal: 'A12',
  availability_known: true,
  available_for_pickup: false,
  terminal_checked_at: '2026-03-16T15:00:00Z',
  _changed_at: '2026-03-20T18:00:00Z',
}
