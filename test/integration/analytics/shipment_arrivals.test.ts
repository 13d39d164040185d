import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

it('holds each arrival against its first ETA and its departure', async () => {
  await scene.insert('shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'MAEU1',
      pod_vessel_imo: '9000001',
      pod_vessel_name: 'EMMA MAERSK',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      port_of_lading_locode: 'CNSHA',
      port_of_lading_name: 'Shanghai',
      port_of_discharge_locode: 'USLAX',
      port_of_discharge_name: 'Los Angeles',
      created_at: '2026-02-10T00:00Z',
      pol_timezone: 'Asia/Shanghai',
      pol_etd_at: '2026-02-19T00:00Z',
      pol_atd_at: '2026-02-20T06:30Z',
      pod_timezone: 'America/Los_Angeles',
      // 31 March 12:00 local.
      pod_original_eta_at: '2026-03-31T19:00Z',
      // 31 March 23:30 local; the month and the quarter are still the old ones.
      pod_ata_at: '2026-04-01T06:30Z',
    },
    // Departed after it arrived, no ETA at all, no such zone.
    {
      shipment_id: 's2',
      pod_timezone: 'Mars/Olympus',
      pol_atd_at: '2026-04-02T00:00Z',
      pod_ata_at: '2026-04-01T06:30Z',
    },
  ])
  const nothing = {
    shipping_line_scac: null,
    shipping_line_name: null,
    port_of_lading_locode: null,
    port_of_lading_name: null,
    port_of_discharge_locode: null,
    port_of_discharge_name: null,
    bill_of_lading_number: null,
    pod_vessel_imo: null,
    pod_vessel_name: null,
    first_eta_on: null,
    arrived_on: null,
    arrival_month_on: null,
    arrival_quarter_on: null,
    days_late: null,
    delay_days: null,
    transit_days: null,
    created_at: null,
    first_eta_at: null,
    pol_etd_at: null,
  }
  expect(await scene.read('shipment_arrivals', { rest: 'order by shipment_id' })).toEqual([
    {
      shipment_id: 's1',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      port_of_lading_locode: 'CNSHA',
      port_of_lading_name: 'Shanghai',
      port_of_discharge_locode: 'USLAX',
      port_of_discharge_name: 'Los Angeles',
      bill_of_lading_number: 'MAEU1',
      pod_vessel_imo: '9000001',
      pod_vessel_name: 'EMMA MAERSK',
      first_eta_on: '2026-03-31',
      arrived_on: '2026-03-31',
      arrival_month_on: '2026-03-01',
      arrival_quarter_on: '2026-01-01',
      days_late: 0,
      // 11.5 h
      delay_days: expect.stringMatching(/^0\.47916/) as unknown,
      // 20 February 06:30 to 1 April 06:30
      transit_days: expect.stringMatching(/^40\.0+$/) as unknown,
      is_first_eta_of_line: true,
      is_transit_exact: true,
      is_zone_known: true,
      created_at: '2026-02-10 00:00:00+00',
      first_eta_at: '2026-03-31 19:00:00+00',
      pol_etd_at: '2026-02-19 00:00:00+00',
      pol_atd_at: '2026-02-20 06:30:00+00',
      pod_ata_at: '2026-04-01 06:30:00+00',
    },
    {
      ...nothing,
      shipment_id: 's2',
      is_first_eta_of_line: false,
      is_transit_exact: false,
      is_zone_known: false,
      pol_atd_at: '2026-04-02 00:00:00+00',
      pod_ata_at: '2026-04-01 06:30:00+00',
    },
  ])
})

it('takes as first ETA the earliest we saw before the arrival, where the line gave none', async () => {
  await scene.insert('shipments', [{ shipment_id: 's1', pod_ata_at: '2026-03-14T12:00Z' }])
  await scene.insert('shipment_history', [
    { shipment_id: 's1', valid_from: '2026-03-01T00:00Z', valid_to: '2026-03-02T00:00Z' },
    {
      shipment_id: 's1',
      valid_from: '2026-03-02T00:00Z',
      valid_to: '2026-03-03T00:00Z',
      pod_eta_at: '2026-03-12T12:00Z',
    },
    { shipment_id: 's1', valid_from: '2026-03-03T00:00Z', pod_eta_at: '2026-03-13T12:00Z' },
  ])
  expect(
    await scene.read('shipment_arrivals', {
      columns: ['first_eta_at', 'days_late', 'is_first_eta_of_line', 'is_zone_known'],
    }),
  ).toEqual([
    {
      first_eta_at: '2026-03-12 12:00:00+00',
      days_late: 2,
      is_first_eta_of_line: false,
      is_zone_known: false,
    },
  ])
})

it('has no row where nothing arrived', async () => {
  await scene.insert('shipments', [{ shipment_id: 's1', pod_eta_at: '2026-03-14T12:00Z' }])
  expect(await scene.read('shipment_arrivals')).toEqual([])
})

it('takes an arrival that is announced for a time to come for not happened', async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', pod_ata_at: '2026-04-02T06:30Z' },
    { shipment_id: 's2', pod_ata_at: '2026-04-01T06:30Z' },
  ])
  const options = { asOf: '2026-04-01T06:30Z', columns: ['shipment_id'] }
  expect(await scene.read('shipment_arrivals', options)).toEqual([{ shipment_id: 's2' }])
})
