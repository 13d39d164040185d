import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const BOX = {
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  final_destination_timezone: 'America/Chicago',
  pod_rail_carrier_scac: 'UPRR',
  ind_rail_carrier_scac: 'UPRR',
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
  // The first left on the Saturday before the clocks change and arrived on the Monday after: 50
  // hours of elapsed time. The second departed 30 h before the instant asked for, and was loaded an
  // hour after that: the source has them in the wrong order.
  const legs = rowsOf(
    `
    container_id | number | pod_discharged_at | pod_rail_loaded_at | pod_rail_departed_at | ind_eta_at        | ind_ata_at
    c1           | A      | 2026-03-05T00:00Z | 2026-03-07T12:00Z  | 2026-03-07T20:00Z    | 2026-03-09T20:00Z | 2026-03-09T22:00Z
    c2           | B      |                   | 2026-03-18T07:00Z  | 2026-03-18T06:00Z    | 2026-03-20T00:00Z |`,
    BOX,
  )
  const left = {
    ind_rail_unloaded_at: '2026-03-10T01:30Z',
    final_destination_full_out_at: '2026-03-12T01:30Z',
  }
  await insertKnown(scene, 'containers', [
    { ...legs[0]!, ...left },
    { ...legs[1]!, final_destination_timezone: 'Mars/Olympus', pod_timezone: null },
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
  ).toMatchSnapshot()
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
