import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const TO_LA = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  pod_timezone: 'America/Los_Angeles',
}
const ROW = {
  port_of_discharge_locode: 'USLAX',
  shipping_line_scac: 'MAEU',
  port_of_discharge_name: 'Los Angeles',
  shipping_line_name: 'Maersk',
  length_unknown: 0,
  eta_passed: 0,
  tracking_stopped: 0,
  zone_unknown: 0,
}
/** 19 March 22:00 in Los Angeles. */
const AS_OF = '2026-03-20T05:00Z'

it('counts containers and TEU by local day, today and 29 more', async () => {
  await insertKnown(scene, 'shipments', [
    // Today there, at 23:30, which is tomorrow in UTC; and at 00:30 today, hours ago.
    { ...TO_LA, shipment_id: 's1', pod_eta_at: '2026-03-20T06:30Z' },
    {
      ...TO_LA,
      shipment_id: 's2',
      pod_eta_at: '2026-03-19T07:30Z',
      line_tracking_stopped_at: '2026-03-01T00:00Z',
    },
    // Yesterday at 23:30; the 30th day at 23:30; the 31st at 00:30.
    { ...TO_LA, shipment_id: 's3', pod_eta_at: '2026-03-19T06:30Z' },
    { ...TO_LA, shipment_id: 's4', pod_eta_at: '2026-04-18T06:30Z' },
    { ...TO_LA, shipment_id: 's5', pod_eta_at: '2026-04-18T07:30Z' },
    // Arrived; gone at the source; another line, with a box that has been discharged.
    {
      ...TO_LA,
      shipment_id: 's6',
      pod_eta_at: '2026-03-20T06:30Z',
      pod_ata_at: '2026-03-19T06:30Z',
    },
    {
      ...TO_LA,
      shipment_id: 's8',
      shipping_line_scac: 'MSCU',
      shipping_line_name: 'MSC',
      pod_eta_at: '2026-03-20T06:30Z',
    },
    // No zone: the day as sent, and today is UTC's. A zone that is none: no day, but within 720
    // hours.
    { ...TO_LA, shipment_id: 's9', pod_timezone: null, pod_eta_at: '2026-03-20T01:00Z' },
    { ...TO_LA, shipment_id: 't1', pod_timezone: 'Mars/Olympus', pod_eta_at: '2026-04-19T04:59Z' },
    { ...TO_LA, shipment_id: 't2', pod_timezone: 'Mars/Olympus', pod_eta_at: '2026-04-19T05:01Z' },
  ])
  const box = (id: string, shipment: string, length: number | null, more = {}) => ({
    container_id: id,
    shipment_id: shipment,
    equipment_length: length,
    ...more,
  })
  await insertKnown(scene, 'containers', [
    // 0.5 + 1 + 2 + 2.25, and two that are not in the sum.
    box('c1', 's1', 10),
    box('c2', 's1', 20),
    box('c3', 's1', 40),
    box('c4', 's1', 45),
    box('c5', 's1', null),
    box('c6', 's1', 53),
    box('c7', 's2', 40),
    box('c8', 's3', 40),
    box('c9', 's4', 20),
    box('d1', 's5', 40),
    box('d2', 's6', 40),
    box('d4', 's8', 40, { pod_discharged_at: '2026-03-18T00:00Z' }),
    box('d5', 's8', 20),
    box('d6', 's9', 40),
    box('d7', 't1', 40),
    box('d8', 't2', 40),
  ])
  const rest = 'order by shipping_line_scac, arrival_on'
  expect(await scene.read('arrivals_calendar', { asOf: AS_OF, rest })).toEqual([
    // The day before today: on its way still, and counted apart.
    { ...ROW, arrival_on: '2026-03-18', shipments: 1, containers: 1, teu: '2', eta_passed: 1 },
    {
      ...ROW,
      arrival_on: '2026-03-19',
      shipments: 2,
      containers: 7,
      teu: '7.75',
      length_unknown: 2,
      tracking_stopped: 1,
    },
    { ...ROW, arrival_on: '2026-03-20', shipments: 1, containers: 1, teu: '2', zone_unknown: 1 },
    { ...ROW, arrival_on: '2026-04-17', shipments: 1, containers: 1, teu: '1' },
    { ...ROW, arrival_on: null, shipments: 1, containers: 1, teu: '2', zone_unknown: 1 },
    {
      ...ROW,
      shipping_line_scac: 'MSCU',
      shipping_line_name: 'MSC',
      arrival_on: '2026-03-19',
      shipments: 1,
      containers: 1,
      teu: '1',
    },
  ])
})

it('counts no cancelled booking, nor a passed ETA nobody follows', { tags: ['FE5'] }, async () => {
  const stopped = (shipment_id: string, line_tracking_stopped_reason: string, eta: string) => ({
    ...TO_LA,
    shipment_id,
    line_tracking_stopped_reason,
    line_tracking_stopped_at: '2026-03-10T00:00Z',
    pod_eta_at: eta,
  })
  await insertKnown(scene, 'shipments', [
    stopped('s1', 'booking_cancelled', '2026-03-22T12:00Z'),
    stopped('s2', 'no_updates_at_line', '2026-03-12T12:00Z'),
  ])
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', shipment_id: 's1' },
    { container_id: 'c2', shipment_id: 's2' },
  ])
  expect(await scene.read('arrivals_calendar', { asOf: AS_OF })).toEqual([])
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  const now = new Date().toISOString()
  await scene.insert('shipments', [
    { ...TO_LA, shipment_id: 's1', pod_eta_at: now, _deleted_at: now },
  ])
  await scene.insert('containers', [{ container_id: 'c1', shipment_id: 's1' }])
  expect(await scene.read('arrivals_calendar')).toEqual([])
})

it('counts what is announced to arrive in a time to come', async () => {
  await insertKnown(scene, 'shipments', [
    {
      ...TO_LA,
      shipment_id: 's1',
      pod_eta_at: '2026-03-25T06:30Z',
      pod_ata_at: '2026-03-25T06:30Z',
    },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      equipment_length: 40,
      pod_arrived_at: '2026-03-25T06:30Z',
    },
  ])
  const rows = await scene.read('arrivals_calendar', { asOf: AS_OF })
  expect(rows).toMatchObject([{ arrival_on: '2026-03-24', containers: 1, teu: '2' }])
})
