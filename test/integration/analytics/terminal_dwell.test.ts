import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const AT = { shipment_id: 's1', pod_terminal_id: 't1', pod_timezone: 'America/Los_Angeles' }
const AS_OF = '2026-03-20T12:00Z'

it('separates containers that left from containers still there, by local week and mode', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'APM Terminals Pier 400', nickname: 'Pier 400', port_id: 'p1' },
  ])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', port_of_discharge_locode: 'USLGB' },
    { shipment_id: 's2', line_tracking_stopped_at: '2026-03-15T00:00Z' },
  ])
  await insertKnown(scene, 'containers', [
    // Monday 9 March 05:00 UTC is Sunday 8 March 22:00 local: the week of 2 March. 2, 4 and exactly
    // 5 days; 5 is not above 5.
    {
      ...AT,
      container_id: 'c1',
      pod_discharged_at: '2026-03-09T05:00Z',
      pod_full_out_at: '2026-03-11T05:00Z',
    },
    {
      ...AT,
      container_id: 'c2',
      pod_discharged_at: '2026-03-07T00:00Z',
      pod_full_out_at: '2026-03-11T00:00Z',
    },
    {
      ...AT,
      container_id: 'c3',
      pod_discharged_at: '2026-03-07T00:00Z',
      pod_full_out_at: '2026-03-12T00:00Z',
    },
    // 6 days.
    {
      ...AT,
      container_id: 'c4',
      pod_discharged_at: '2026-03-07T00:00Z',
      pod_full_out_at: '2026-03-13T00:00Z',
    },
    // Left before it was discharged; picked up inland, so it went by rail, and nobody said when
    // it left the port.
    {
      ...AT,
      container_id: 'c5',
      pod_discharged_at: '2026-03-07T00:00Z',
      pod_full_out_at: '2026-03-06T00:00Z',
    },
    {
      ...AT,
      container_id: 'c6',
      pod_discharged_at: '2026-03-07T00:00Z',
      final_destination_full_out_at: '2026-03-16T00:00Z',
    },
    // Still there: 3 and 4 days; and one of a shipment that is no longer tracked.
    { ...AT, container_id: 'c7', pod_discharged_at: '2026-03-17T12:00Z' },
    { ...AT, container_id: 'c8', pod_discharged_at: '2026-03-16T12:00Z' },
    { ...AT, container_id: 'c9', shipment_id: 's2', pod_discharged_at: '2026-03-16T12:00Z' },
    // Rail: departed after 1.5 days; loaded and still there for 2.5 days.
    {
      ...AT,
      container_id: 'd1',
      pod_discharged_at: '2026-03-17T00:00Z',
      pod_rail_loaded_at: '2026-03-18T00:00Z',
      pod_rail_departed_at: '2026-03-18T12:00Z',
    },
    {
      ...AT,
      container_id: 'd2',
      pod_discharged_at: '2026-03-18T00:00Z',
      pod_rail_loaded_at: '2026-03-19T00:00Z',
    },
    // No terminal: under the shipment's port. No zone: the day as sent, a Monday. A zone that is
    // none: no week.
    {
      ...AT,
      container_id: 'e1',
      pod_terminal_id: null,
      pod_timezone: null,
      pod_discharged_at: '2026-03-09T05:00Z',
      pod_full_out_at: '2026-03-10T05:00Z',
    },
    {
      ...AT,
      container_id: 'e2',
      pod_timezone: 'Mars/Olympus',
      pod_discharged_at: '2026-03-09T05:00Z',
      pod_full_out_at: '2026-03-10T05:00Z',
    },
    { ...AT, container_id: 'f1' },
  ])
  const rest = 'order by terminal_id, mode desc, discharge_week_on'
  // p90_days 5.70: 5 + 0.7 of the way to 6
  expect(await scene.read('terminal_dwell', { asOf: AS_OF, rest })).toMatchSnapshot()
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  await scene.insert('containers', [
    {
      ...AT,
      container_id: 'c1',
      pod_discharged_at: '2026-03-09T05:00Z',
      _deleted_at: '2026-03-10T00:00Z',
    },
  ])
  expect(await scene.read('terminal_dwell')).toEqual([])
})

it('takes what is announced for a time to come for not happened', async () => {
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  await insertKnown(scene, 'containers', [
    {
      ...AT,
      container_id: 'c1',
      pod_discharged_at: '2026-03-18T12:00Z',
      pod_full_out_at: '2026-03-22T12:00Z',
    },
    { ...AT, container_id: 'c2', pod_discharged_at: '2026-03-21T12:00Z' },
  ])
  const rows = await scene.read('terminal_dwell', { asOf: AS_OF })
  expect(rows).toMatchObject([{ n: 0, still_there: 1, still_there_max_age_days: '2.00' }])
})
