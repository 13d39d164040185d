import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()

it('says of each day at the ramp whether the status called the box available', async () => {
  // The second charged day is the first with a rate.
  const rule = { charge: 'storage', place: 'ramp', free_days: 1, starts_with: 'arrival' }
  await insertRule(scene, rule, { 2: '75.0', 4: '90.5' })
  const box = {
    container_id: 'c1',
    number: 'c1',
    shipment_id: 's1',
    pod_timezone: 'America/Los_Angeles',
    final_destination_timezone: 'America/Chicago',
    pod_discharged_at: '2026-11-01T18:00:00Z',
    pod_rail_departed_at: '2026-11-02T18:00:00Z',
    ind_rail_unloaded_at: '2026-11-04T18:00:00Z',
    // Of the port, long ago.
    available_for_pickup: true,
  }
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  await scene.insert('containers', [{ ...box, current_status: 'available' }])
  const version = (from: string, to: string | null, current_status: string) => ({
    ...box,
    valid_from: from,
    valid_to: to,
    current_status,
  })
  // Midnight in Chicago is 06:00 in UTC.
  await scene.insert('container_history', [
    version('2026-11-02T18:00:00Z', '2026-11-04T20:00:00Z', 'on_rail'),
    version('2026-11-04T20:00:00Z', '2026-11-07T07:00:00Z', 'grounded'),
    version('2026-11-07T07:00:00Z', '2026-11-08T05:00:00Z', 'on_rail'),
    version('2026-11-08T05:00:00Z', null, 'available'),
  ])
  const rows = await scene.read('charged_days', {
    asOf: '2026-11-09T20:00:00Z',
    columns: ['charged_on', 'day_over', 'charge_amount', 'was_available'],
    rest: 'order by charged_on',
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['2026-11-06', 1, null, false],
    ['2026-11-07', 2, '75.0', true],
    ['2026-11-08', 3, '75.0', true],
    ['2026-11-09', 4, '90.5', true],
  ])
})
