import { expect, it } from 'vitest'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const BOX = {
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  final_destination_timezone: 'America/Chicago',
  pod_rail_carrier_scac: 'UPRR',
  ind_rail_carrier_scac: 'UPRR',
}
const LEG = {
  ...OF_NOBODY,
  shipment_id: 's1',
  pod_terminal_id: 't1',
  bill_of_lading_number: 'MAEU1',
  shipping_line_scac: 'MAEU',
  port_of_discharge_locode: 'USLAX',
  destination_locode: 'USCHI',
  pod_rail_carrier_scac: 'UPRR',
  ind_rail_carrier_scac: 'UPRR',
  hours_in_stage: null,
  is_waiting_for_train: false,
  port_last_free_on: null,
  port_days_left: null,
  discharged_to_loaded_hours: null,
  loaded_to_departed_hours: null,
  departed_to_arrived_hours: null,
  arrived_to_unloaded_hours: null,
  unloaded_to_picked_up_hours: null,
  discharged_to_picked_up_hours: null,
  is_in_order: true,
  is_tracking_stopped: false,
  is_pod_zone_known: true,
  is_ind_zone_known: true,
  pod_discharged_at: null,
  pod_rail_loaded_at: null,
  pod_rail_departed_at: null,
  ind_eta_at: null,
  ind_ata_at: null,
  ind_rail_unloaded_at: null,
  final_destination_full_out_at: null,
  pod_discharged_local: null,
  pod_rail_loaded_local: null,
  pod_rail_departed_local: null,
  ind_eta_local: null,
  ind_ata_local: null,
  ind_rail_unloaded_local: null,
  final_destination_full_out_local: null,
}

it('gives each stage and its hours, each time at its place', async () => {
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'MAEU1',
      shipping_line_scac: 'MAEU',
      port_of_discharge_locode: 'USLAX',
      destination_locode: 'USCHI',
    },
  ])
  await insertKnown(scene, 'containers', [
    {
      ...BOX,
      container_id: 'c1',
      number: 'A',
      pod_discharged_at: '2026-03-05T00:00Z',
      pod_rail_loaded_at: '2026-03-07T12:00Z',
      // Saturday before the clocks change to the Monday after: 50 hours of elapsed time.
      pod_rail_departed_at: '2026-03-07T20:00Z',
      ind_eta_at: '2026-03-09T20:00Z',
      ind_ata_at: '2026-03-09T22:00Z',
      ind_rail_unloaded_at: '2026-03-10T01:30Z',
      final_destination_full_out_at: '2026-03-12T01:30Z',
    },
    // Departed 30 h before the instant asked for, and loaded an hour after that: the source has
    // them in the wrong order.
    {
      ...BOX,
      container_id: 'c2',
      number: 'B',
      final_destination_timezone: 'Mars/Olympus',
      pod_timezone: null,
      pod_rail_loaded_at: '2026-03-18T07:00Z',
      pod_rail_departed_at: '2026-03-18T06:00Z',
      ind_eta_at: '2026-03-20T00:00Z',
    },
    // Only the carrier is named.
    { ...BOX, container_id: 'c3', number: 'C', ind_rail_carrier_scac: null },
    // By truck.
    {
      container_id: 'c4',
      shipment_id: 's1',
      pod_full_out_at: '2026-03-12T01:30Z',
      final_destination_full_out_at: '2026-03-13T00:00Z',
    },
  ])
  expect(
    await scene.read('rail', { asOf: '2026-03-19T12:00Z', rest: 'order by container_id' }),
  ).toEqual([
    {
      ...LEG,
      container_id: 'c1',
      container_number: 'A',
      stage: 'picked up',
      discharged_to_loaded_hours: '60.00',
      loaded_to_departed_hours: '8.00',
      departed_to_arrived_hours: '50.00',
      arrived_to_unloaded_hours: '3.50',
      unloaded_to_picked_up_hours: '48.00',
      discharged_to_picked_up_hours: '169.50',
      pod_discharged_at: '2026-03-05 00:00:00+00',
      pod_rail_loaded_at: '2026-03-07 12:00:00+00',
      pod_rail_departed_at: '2026-03-07 20:00:00+00',
      ind_eta_at: '2026-03-09 20:00:00+00',
      ind_ata_at: '2026-03-09 22:00:00+00',
      ind_rail_unloaded_at: '2026-03-10 01:30:00+00',
      final_destination_full_out_at: '2026-03-12 01:30:00+00',
      pod_discharged_local: '2026-03-04 16:00:00',
      pod_rail_loaded_local: '2026-03-07 04:00:00',
      pod_rail_departed_local: '2026-03-07 12:00:00',
      ind_eta_local: '2026-03-09 15:00:00',
      ind_ata_local: '2026-03-09 17:00:00',
      ind_rail_unloaded_local: '2026-03-09 20:30:00',
      final_destination_full_out_local: '2026-03-11 20:30:00',
    },
    {
      ...LEG,
      container_id: 'c2',
      container_number: 'B',
      stage: 'departed',
      hours_in_stage: '30.00',
      loaded_to_departed_hours: '-1.00',
      is_in_order: false,
      is_pod_zone_known: false,
      is_ind_zone_known: false,
      pod_rail_loaded_at: '2026-03-18 07:00:00+00',
      pod_rail_departed_at: '2026-03-18 06:00:00+00',
      ind_eta_at: '2026-03-20 00:00:00+00',
      pod_rail_loaded_local: '2026-03-18 07:00:00',
      pod_rail_departed_local: '2026-03-18 06:00:00',
    },
    {
      ...LEG,
      container_id: 'c3',
      container_number: 'C',
      stage: 'not landed',
      ind_rail_carrier_scac: null,
    },
  ])
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  await scene.insert('containers', [
    { ...BOX, container_id: 'c1', _deleted_at: '2026-03-13T00:00Z' },
  ])
  expect(await scene.read('rail')).toEqual([])
})

it('takes a stage that is announced for a time to come for not reached', async () => {
  await insertKnown(scene, 'containers', [
    {
      ...BOX,
      container_id: 'c1',
      pod_discharged_at: '2026-03-10T12:00Z',
      pod_rail_loaded_at: '2026-03-11T12:00Z',
      pod_rail_departed_at: '2026-03-13T12:00Z',
    },
  ])
  const rows = await scene.read('rail', { asOf: '2026-03-12T12:00Z' })
  expect(rows).toMatchObject([
    {
      stage: 'loaded',
      hours_in_stage: '24.00',
      discharged_to_loaded_hours: '24.00',
      loaded_to_departed_hours: null,
      pod_rail_departed_at: '2026-03-13 12:00:00+00',
    },
  ])
})
