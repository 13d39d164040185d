import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const version = (valid_from: string, valid_to: string | null, current_status: string | null) => ({
  container_id: 'c1',
  number: 'A',
  shipment_id: 's1',
  pod_terminal_id: 't1',
  current_status,
  valid_from,
  valid_to,
})

const read = (columns: readonly string[] = [], asOf = '2026-03-10T00:00:00Z') =>
  scene.read('status_durations', { asOf, columns, rest: 'order by first_seen_at' })

async function insertVersions(): Promise<void> {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await scene.insert('containers', [
    {
      container_id: 'c1',
      number: 'A',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      current_status: 'available',
      _first_seen_at: '2026-03-01T00:00:00Z',
    },
  ])
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 'on_ship'),
    version('2026-03-02T00:00:00Z', '2026-03-03T06:30:00Z', 'available'),
    // Something else changed.
    version('2026-03-03T06:30:00Z', '2026-03-04T00:00:00Z', 'available'),
    version('2026-03-04T00:00:00Z', '2026-03-05T00:00:00Z', 'not_available'),
    // Gone at the source for two days.
    version('2026-03-07T00:00:00Z', '2026-03-08T12:00:00Z', null),
    version('2026-03-08T12:00:00Z', null, 'available'),
  ])
}

it('adds up the hours in each status; the current one runs to the instant asked for', async () => {
  await insertVersions()
  // hours 84.00: two days, and from the 8th at noon to the 10th: 36 hours.
  expect(await read()).toMatchSnapshot()
})

it('knows no status after the instant asked for', async () => {
  await insertVersions()
  const columns = ['status', 'hours', 'is_current', 'ended_at']
  expect(await read(columns, '2026-02-28T00:00:00Z')).toEqual([])
  expect(await read(columns, '2026-03-03T00:00:00Z')).toEqual([
    { status: 'on_ship', hours: '24.00', is_current: false, ended_at: '2026-03-02 00:00:00+00' },
    { status: 'available', hours: '24.00', is_current: true, ended_at: null },
  ])
})

it('leaves tombstoned containers out', async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', _deleted_at: '2026-03-09T00:00:00Z' },
  ])
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-09T00:00:00Z', 'on_ship'),
  ])
  expect(await scene.read('status_durations')).toEqual([])
})
