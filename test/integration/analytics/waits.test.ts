import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** Hours after Monday 2 March 2026, 12:00 in Los Angeles. */
const at = (hours: number): string =>
  new Date(Date.parse('2026-03-02T20:00:00Z') + hours * 3_600_000).toISOString()
const AS_OF = at(200)

const box = (container_id: string, more: object = {}) => ({
  container_id,
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  availability_known: false,
  ...more,
})

/** Discharged at 0 and out after so many hours. */
const out = (hours: readonly number[], more: object = {}) =>
  hours.map((lasted, n) =>
    box(`${JSON.stringify(more)} ${String(lasted)} ${String(n)}`, {
      pod_discharged_at: at(0),
      pod_full_out_at: at(lasted),
      ...more,
    }),
  )

const DWELL = `stage = '6 discharge to out'`

const shows = (rest: string, table: string) =>
  expectRows(scene, 'waits', { asOf: AS_OF, rest }, table)

it('shows every column of a figure', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', port_id: 'p1' },
  ])
  const call = (shipment_id: string, pod_vessel_imo: string | null, pod_voyage_number: string) => ({
    shipment_id,
    pod_vessel_imo,
    pod_voyage_number,
  })
  await insertKnown(scene, 'shipments', [
    call('s1', '9000001', '612E'),
    call('s2', '9000001', '612E'),
    call('s3', '9000001', '614E'),
    call('s4', null, '612E'),
    // Another ship: its container still waits, and so it is not behind n.
    call('s5', '9000002', '1E'),
    {
      shipment_id: 'stopped',
      line_tracking_stopped_at: at(50),
      line_tracking_stopped_reason: 'no_updates_at_line',
    },
  ])
  await insertKnown(scene, 'containers', [
    // 10, 20, 30, 40, 125, 60, 120, 80, 90, 120.1 hours: two of ten above 120.
    ...out([10, 20, 30], { shipment_id: 's1' }),
    ...out([40, 125], { shipment_id: 's2' }),
    ...out([60, 120], { shipment_id: 's3' }),
    ...out([80, 90, 120.1], { shipment_id: 's4' }),
    // Seen to wait for 50 hours; still there after 200.
    box('c1', { shipment_id: 'stopped', pod_discharged_at: at(0) }),
    box('c2', { shipment_id: 's5', pod_discharged_at: at(0) }),
    box('c3', { pod_discharged_at: at(0), empty_terminated_at: at(90) }),
  ])
  // median_hours 70.0: between 60 and 80; 120.1 and a tenth of the way to 125; 695.1 of ten.
  // estimated_median_hours 80.0: of twelve: 11/12, 10/12, 9/12, 8/12 at 40. One drops out at 50,
  // seven are left at 60: 0.571, and at 80: 0.476. At 90 0.381, 120 0.286, 120.1 0.190, 125 0.095.
  expect(
    await scene.read('waits', {
      asOf: AS_OF,
      rest: `where ${DWELL} and mode = 'truck' and period = 'week'`,
    }),
  ).toMatchSnapshot()
})

it('has truck, rail and all of them, by week and over 90 days', async () => {
  const hours = 90 * 24
  await insertKnown(scene, 'containers', [
    ...out([10, 20]),
    box('rail', { pod_discharged_at: at(0), pod_rail_departed_at: at(60) }),
    // Just within the 90 days, and just before them.
    box('within', { pod_discharged_at: at(200 - hours), pod_full_out_at: at(240 - hours) }),
    box('before', { pod_discharged_at: at(199.9 - hours), pod_full_out_at: at(239.9 - hours) }),
    box('unknown', { pod_timezone: 'Mars/Olympus', pod_discharged_at: at(0) }),
  ])
  const rest = `where ${DWELL} and pod_terminal_id = 't1' order by period, week_on desc nulls first, mode`
  await shows(
    rest,
    `
    period | week_on | mode | n | median_hours | still_waiting | is_few | zone_unknown
    -- 10, 20, 40 and 60.
    last 90 days | - | all | 4 | 30.0 | 1 | false | 1
    last 90 days | - | rail | 1 | 60.0 | 0 | true | 0
    last 90 days | - | truck | 3 | 20.0 | 1 | true | 1
    week | - | all | 0 | - | 1 | true | 1
    week | - | truck | 0 | - | 1 | true | 1
    week | 2026-03-02 | all | 3 | 20.0 | 0 | true | 0
    week | 2026-03-02 | rail | 1 | 60.0 | 0 | true | 0
    week | 2026-03-02 | truck | 2 | 15.0 | 0 | true | 0
    week | 2025-12-08 | all | 2 | 40.0 | 0 | true | 0
    week | 2025-12-08 | truck | 2 | 40.0 | 0 | true | 0`,
  )
})

it('has a p90 of ten, and a share above five days of the dwell alone', async () => {
  const arrived = { pod_arrived_at: at(-1) }
  await insertKnown(scene, 'containers', [
    ...out([130, 10, 20, 30, 40, 50, 60, 70, 80], arrived),
    ...out([130, 10, 20, 30, 40, 50, 60, 70, 80, 90], { ...arrived, pod_terminal_id: 't2' }),
  ])
  const rest = `where mode = 'all' and period = 'week' and n > 0 order by pod_terminal_id, stage`
  await shows(
    rest,
    `
    pod_terminal_id | stage | n | p90_hours | over_5_days_share
    t1 | 5 arrival to out | 9 | - | -
    t1 | 6 discharge to out | 9 | - | 0.1111
    t2 | 5 arrival to out | 10 | 95.0 | -
    t2 | 6 discharge to out | 10 | 94.0 | 0.1000`,
  )
})

it('takes ends of one length together, and who waits after them', { tags: ['JA7'] }, async () => {
  await insertKnown(scene, 'containers', [
    // 4 of 5 end at 10, beside one that was seen to wait for 10 and counts among those five.
    ...out([10, 10, 10], { pod_terminal_id: 'ties' }),
    box('seen', { pod_terminal_id: 'ties', pod_discharged_at: at(190) }),
    ...out([20], { pod_terminal_id: 'ties' }),
    ...out([10], { pod_terminal_id: 'edge' }),
    box('too', { pod_terminal_id: 'edge', pod_discharged_at: at(190) }),
    // The half is left from 10 to 30.
    ...out([10, 10, 30, 30], { pod_terminal_id: 'half' }),
    // A tenth is left from 90 to 100.
    ...out([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], { pod_terminal_id: 'tens' }),
    // Half is left for good: nobody knows how long.
    ...out([10], { pod_terminal_id: 'good' }),
    box('still', { pod_terminal_id: 'good', pod_discharged_at: at(0) }),
    // Less than half is gone.
    ...out([10], { pod_terminal_id: 'early' }),
    box('one', { pod_terminal_id: 'early', pod_discharged_at: at(0) }),
    box('two', { pod_terminal_id: 'early', pod_discharged_at: at(0) }),
  ])
  const rest = `where ${DWELL} and mode = 'all' and period = 'last 90 days' order by pod_terminal_id`
  await shows(
    rest,
    `
    pod_terminal_id | n | estimated_median_hours | estimated_p90_hours
    early | 1 | - | -
    -- One of two ended, and the other waited at least as long.
    edge | 1 | 10.0 | -
    good | 1 | 10.0 | -
    half | 4 | 20.0 | 30.0
    tens | 10 | 55.0 | 95.0
    -- 2/5 are left after 10, nothing after 20.
    ties | 4 | 10.0 | 20.0`,
  )
})

it('counts a container without a terminal under its port', async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', port_of_discharge_locode: 'USLGB' },
    { shipment_id: 's2', port_of_discharge_locode: 'USOAK' },
  ])
  await insertKnown(scene, 'containers', [
    ...out([10], { shipment_id: 's1', pod_terminal_id: null, pod_timezone: null }),
    ...out([20], { shipment_id: 's2', pod_terminal_id: null }),
  ])
  const rest = `where ${DWELL} and mode = 'truck' and period = 'week' order by port_locode`
  await shows(
    rest,
    `
    pod_terminal_id | pod_terminal | port_locode | median_hours | zone_unknown
    - | - | USLGB | 10.0 | 1
    - | - | USOAK | 20.0 | 0`,
  )
})
