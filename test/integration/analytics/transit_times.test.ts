import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const LANE = {
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
}
const ZONES = { pol_timezone: 'Asia/Shanghai', pod_timezone: 'America/Los_Angeles' }

it('takes elapsed days per lane, line and local month of arrival', async () => {
  await insertKnown(scene, 'shipments', [
    // 10, 20 and 30 days; the first arrives on 31 March local, 1 April UTC. The third crosses the
    // change of clocks and is still 30 times 24 hours.
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's1',
      pol_atd_at: '2026-03-22T06:00Z',
      pod_ata_at: '2026-04-01T06:00Z',
    },
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's2',
      pol_atd_at: '2026-03-01T00:00Z',
      pod_ata_at: '2026-03-21T00:00Z',
    },
    {
      ...LANE,
      pod_timezone: 'America/Los_Angeles',
      pol_timezone: null,
      shipment_id: 's3',
      pol_atd_at: '2026-02-20T00:00Z',
      pod_ata_at: '2026-03-22T00:00Z',
    },
    // Not in order, and without a departure.
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's4',
      pol_atd_at: '2026-03-22T00:00Z',
      pod_ata_at: '2026-03-21T00:00Z',
    },
    { ...LANE, ...ZONES, shipment_id: 's5', pod_ata_at: '2026-03-21T00:00Z' },
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's6',
      shipping_line_scac: 'MSCU',
      shipping_line_name: 'MSC',
      pol_atd_at: '2026-04-01T00:00Z',
      pod_ata_at: '2026-04-15T12:00Z',
    },
  ])
  const march = {
    ...LANE,
    cut: 'lane and line',
    period: 'month',
    subject: 'CNSHA-USLAX MAEU',
    pod_vessel_imo: null,
    pod_vessel_name: null,
    arrival_month_on: '2026-03-01',
    n: 3,
    not_measured: 2,
    zone_unknown: 1,
    mean_days: '20.00',
    // Between the values: 10 + 0.2 of the way to 20, and 20 + 0.8 of the way to 30.
    p10_days: '12.00',
    median_days: '20.00',
    p90_days: '28.00',
    is_single: false,
  }
  const april = {
    ...march,
    subject: 'CNSHA-USLAX MSCU',
    shipping_line_scac: 'MSCU',
    shipping_line_name: 'MSC',
    arrival_month_on: '2026-04-01',
    n: 1,
    not_measured: 0,
    zone_unknown: 0,
    mean_days: '14.50',
    p10_days: '14.50',
    median_days: '14.50',
    p90_days: '14.50',
    is_single: true,
  }
  const rest = `where cut = 'lane and line' and period = 'month' order by shipping_line_scac`
  expect(await scene.read('transit_times', { rest })).toEqual([march, april])
  expect(await scene.read('transit_times', { rest, asOf: '2026-05-01T00:00Z' })).toEqual([
    march,
    april,
  ])
  expect(await scene.read('transit_times', { asOf: '2025-12-31T00:00Z' })).toEqual([])
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  await scene.insert('shipments', [
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's1',
      pod_ata_at: '2026-04-01T06:00Z',
      _deleted_at: '2026-04-02T00:00Z',
    },
  ])
  expect(await scene.read('transit_times')).toEqual([])
})
