import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const MAEU = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
const OF_LINES = `where cut = 'line' and period = 'all'`

it('compares the ETA of each whole day before the arrival with the arrival', async () => {
  // s1 arrives on 31 March 12:00. First seen 24.5 days before with an ETA 48 h too early, corrected
  // 3 days and 6 hours before to one 6 h too late, and that taken back a day and a half before.
  //   days 24, 23, 22 (22+), 21-15, 14-8, 7-4: error +48; days 3 and 2: error -6; days 1 and 0: no ETA.
  await scene.insert('shipments', [
    { ...MAEU, shipment_id: 's1', pod_ata_at: '2026-03-31T12:00Z' },
    // s2: seen two days before, an ETA 12 h too early, and never another: days 2, 1, 0: error +12.
    { ...MAEU, shipment_id: 's2', pod_ata_at: '2026-03-10T12:00Z' },
    // Found arrived; not arrived; gone at the source: none of them counts.
    { ...MAEU, shipment_id: 's3', pod_ata_at: '2026-03-01T00:00Z' },
    { ...MAEU, shipment_id: 's4' },
    {
      ...MAEU,
      shipment_id: 's5',
      pod_ata_at: '2026-03-10T12:00Z',
      _deleted_at: '2026-03-11T00:00Z',
    },
  ])
  const eta = { pod_eta_at: '2026-03-10T00:00Z' }
  await scene.insert('shipment_history', [
    {
      shipment_id: 's1',
      valid_from: '2026-03-07T00:00Z',
      valid_to: '2026-03-28T06:00Z',
      pod_eta_at: '2026-03-29T12:00Z',
    },
    {
      shipment_id: 's1',
      valid_from: '2026-03-28T06:00Z',
      valid_to: '2026-03-30T00:00Z',
      pod_eta_at: '2026-03-31T18:00Z',
    },
    { shipment_id: 's1', valid_from: '2026-03-30T00:00Z', pod_eta_at: null },
    { shipment_id: 's2', valid_from: '2026-03-08T12:00Z', valid_to: '2026-03-10T18:00Z', ...eta },
    { shipment_id: 's2', valid_from: '2026-03-10T18:00Z', ...eta, pod_ata_at: '2026-03-10T12:00Z' },
    { shipment_id: 's3', valid_from: '2026-03-09T00:00Z', ...eta },
    { shipment_id: 's4', valid_from: '2026-03-01T00:00Z', ...eta },
    { shipment_id: 's5', valid_from: '2026-03-01T00:00Z', ...eta },
  ])
  const row = (
    horizon: string,
    from: number,
    n: number,
    shipments: number,
    [error, bias, share]: readonly [string, string, string],
  ) => ({
    ...MAEU,
    cut: 'line',
    period: 'all',
    subject: 'MAEU',
    port_of_lading_locode: null,
    port_of_discharge_locode: null,
    pod_vessel_imo: null,
    port_of_lading_name: null,
    port_of_discharge_name: null,
    pod_vessel_name: null,
    horizon,
    horizon_from_days: from,
    n,
    shipments,
    mean_absolute_error_hours: error,
    bias_hours: bias,
    within_24_hours_share: share,
    // However many days it gave samples for.
    is_single: shipments === 1,
  })
  const rest = `${OF_LINES} order by horizon_from_days`
  expect(await scene.read('eta_accuracy', { rest })).toEqual([
    row('0-1', 0, 2, 1, ['12.00', '12.00', '1.0000']),
    // 6, 6 and 12; -6, -6 and 12
    row('2-3', 2, 3, 2, ['8.00', '0.00', '1.0000']),
    row('4-7', 4, 4, 1, ['48.00', '48.00', '0.0000']),
    row('8-14', 8, 7, 1, ['48.00', '48.00', '0.0000']),
    row('15-21', 15, 7, 1, ['48.00', '48.00', '0.0000']),
    row('22+', 22, 3, 1, ['48.00', '48.00', '0.0000']),
  ])
})

it('counts an ETA valid exactly a day before at that day, and looks back at most 60 days', async () => {
  await scene.insert('shipments', [{ ...MAEU, shipment_id: 's1', pod_ata_at: '2026-03-31T12:00Z' }])
  await scene.insert('shipment_history', [
    // From 100 days before to exactly 59: valid at 60 (and further), no longer at 59.
    {
      shipment_id: 's1',
      valid_from: '2025-12-21T12:00Z',
      valid_to: '2026-01-31T12:00Z',
      pod_eta_at: '2026-03-31T12:00Z',
    },
    { shipment_id: 's1', valid_from: '2026-01-31T12:00Z', pod_eta_at: null },
  ])
  expect(await scene.read('eta_accuracy', { columns: ['horizon', 'n'], rest: OF_LINES })).toEqual([
    { horizon: '22+', n: 1 },
  ])
})

it('counts a shipment once in a bucket, however many versions and gaps it has there', async () => {
  // Days before the arrival: 14 and 13 with an ETA, 12 without, a version shorter than a day
  // between the days 12 and 11, 11 to 8 with one again, and from there to the arrival the same.
  await scene.insert('shipments', [{ ...MAEU, shipment_id: 's1', pod_ata_at: '2026-03-31T12:00Z' }])
  const eta = { shipment_id: 's1', pod_eta_at: '2026-03-31T12:00Z' }
  await scene.insert('shipment_history', [
    { ...eta, valid_from: '2026-03-17T12:00Z', valid_to: '2026-03-19T00:00Z' },
    {
      ...eta,
      valid_from: '2026-03-19T00:00Z',
      valid_to: '2026-03-19T18:00Z',
      pod_eta_at: null,
    },
    { ...eta, valid_from: '2026-03-19T18:00Z', valid_to: '2026-03-20T00:00Z' },
    { ...eta, valid_from: '2026-03-20T00:00Z', valid_to: '2026-03-24T00:00Z' },
    { ...eta, valid_from: '2026-03-24T00:00Z' },
  ])
  expect(
    await scene.read('eta_accuracy', {
      columns: ['horizon', 'n', 'shipments'],
      rest: `${OF_LINES} order by horizon_from_days desc`,
    }),
  ).toEqual([
    { horizon: '8-14', n: 6, shipments: 1 },
    { horizon: '4-7', n: 4, shipments: 1 },
    { horizon: '2-3', n: 2, shipments: 1 },
    { horizon: '0-1', n: 2, shipments: 1 },
  ])
})

it('says nothing of an arrival before it was known, and has no row for nothing', async () => {
  expect(await scene.read('eta_accuracy')).toEqual([])
  const version = { ...MAEU, shipment_id: 's1', pod_eta_at: '2026-03-10T00:00Z' }
  await scene.insert('shipment_history', [
    { ...version, valid_from: '2026-03-09T00:00Z', valid_to: '2026-03-10T18:00Z' },
    { ...version, valid_from: '2026-03-10T18:00Z', pod_ata_at: '2026-03-10T12:00Z' },
  ])
  const read = (asOf: string) =>
    scene.read('eta_accuracy', { columns: ['horizon', 'n', 'bias_hours'], rest: OF_LINES, asOf })
  expect(await read('2026-03-10T15:00Z')).toEqual([])
  expect(await read('2026-03-11T00:00Z')).toEqual([{ horizon: '0-1', n: 2, bias_hours: '12.00' }])
})
