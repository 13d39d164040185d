import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ARRIVED = {
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
}

it('holds each arrival against its first ETA and its departure', async () => {
  await scene.insert('shipments', [
    {
      ...ARRIVED,
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
  const read = (shipment_id: string) =>
    scene.read('shipment_arrivals', { rest: `where shipment_id = '${shipment_id}'` })
  expect(await read('s1')).toEqual([
    {
      ...ARRIVED,
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
  ])
  const [second] = await read('s2')
  expect(Object.fromEntries(Object.entries(second!).filter(([, value]) => value !== null))).toEqual(
    {
      shipment_id: 's2',
      is_first_eta_of_line: false,
      is_transit_exact: false,
      is_zone_known: false,
      pol_atd_at: '2026-04-02 00:00:00+00',
      pod_ata_at: '2026-04-01 06:30:00+00',
    },
  )
})

it('takes as first ETA the earliest we saw before the arrival, where the line gave none', async () => {
  await scene.insert('shipments', [{ shipment_id: 's1', pod_ata_at: '2026-03-14T12:00Z' }])
  const history = rowsOf(`
    shipment_id | valid_from        | valid_to          | pod_eta_at
    s1          | 2026-03-01T00:00Z | 2026-03-02T00:00Z |
    s1          | 2026-03-02T00:00Z | 2026-03-03T00:00Z | 2026-03-12T12:00Z
    s1          | 2026-03-03T00:00Z |                   | 2026-03-13T12:00Z`)
  await scene.insert('shipment_history', history)
  const first = `
    first_eta_at           | days_late | is_first_eta_of_line | is_zone_known
    2026-03-12 12:00:00+00 | 2         | false                | false`
  await expectRows(scene, 'shipment_arrivals', {}, first)
})

it('takes an arrival that is announced for a time to come for not happened', async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', pod_ata_at: '2026-04-02T06:30Z' },
    { shipment_id: 's2', pod_ata_at: '2026-04-01T06:30Z' },
  ])
  const options = { asOf: '2026-04-01T06:30Z', columns: ['shipment_id'] }
  expect(await scene.read('shipment_arrivals', options)).toEqual([{ shipment_id: 's2' }])
})
