import { expect, it } from 'vitest'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const CONTAINER = {
  ...OF_NOBODY,
  shipment_id: 's1',
  pod_terminal_id: 't1',
  shipping_line_scac: 'MAEU',
  pod_timezone: 'UTC',
  missing: [],
  missing_text: null,
  is_rail: false,
  is_at_terminal: false,
  tracking_stopped_reason: null,
}
const AT = '2026-03-01T00:00Z'

it('expects all milestones before the furthest one reported', async () => {
  await scene.insert('shipments', [
    { shipment_id: 's1', shipping_line_scac: 'MAEU', pol_atd_at: AT },
    { shipment_id: 's2', shipping_line_scac: 'MAEU', line_tracking_stopped_at: AT },
  ])
  const box = (id: string, more: Record<string, unknown>) => ({
    container_id: id,
    shipment_id: 's1',
    number: id.toUpperCase(),
    pod_terminal_id: 't1',
    pod_timezone: 'UTC',
    ...more,
  })
  await scene.insert('containers', [
    // By truck, returned: departed, arrived, discharged, picked up, returned. All there; two
    // missing; discharged only.
    box('c1', {
      pod_arrived_at: AT,
      pod_discharged_at: AT,
      pod_full_out_at: AT,
      empty_terminated_at: AT,
    }),
    box('c2', { pod_arrived_at: AT, empty_terminated_at: AT }),
    box('c3', { pod_discharged_at: AT }),
    // By rail: two more. Unloaded inland is not at the terminal, though no milestone says that it
    // left.
    box('c4', {
      pod_arrived_at: AT,
      pod_discharged_at: AT,
      ind_ata_at: AT,
      final_destination_full_out_at: AT,
    }),
    box('c5', { pod_arrived_at: AT, pod_discharged_at: AT, ind_rail_unloaded_at: AT }),
    // Nothing reported of it or of its shipment.
    box('c6', { shipment_id: 's2' }),
    box('c7', { _deleted_at: AT }),
  ])
  const row = (id: string, expected: number, reported: number, more = {}) => ({
    ...CONTAINER,
    container_id: id,
    container_number: id.toUpperCase(),
    milestones_expected: expected,
    milestones_reported: reported,
    ...more,
  })
  expect(await scene.read('container_completeness', { rest: 'order by container_id' })).toEqual([
    row('c1', 5, 5),
    row('c2', 5, 3, {
      missing: ['discharged', 'picked up'],
      missing_text: 'discharged, picked up',
    }),
    row('c3', 3, 2, { missing: ['arrived'], missing_text: 'arrived', is_at_terminal: true }),
    row('c4', 6, 5, { missing: ['rail departed'], missing_text: 'rail departed', is_rail: true }),
    row('c5', 3, 3, { is_rail: true }),
    row('c6', 0, 0, { shipment_id: 's2', tracking_stopped_reason: 'not said' }),
  ])
})
