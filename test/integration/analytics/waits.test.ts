import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { linesOf, toLines } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** Hours after Monday 2 March 2026, 12:00 in Los Angeles. */
const at = (hours: number): string =>
  new Date(Date.parse('2026-03-02T20:00:00Z') + hours * 3_600_000).toISOString()
const AFTER_60 = at(60)
const AS_OF = at(200)

const boxOf = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  pod_timezone: 'America/Los_Angeles',
  ...more,
})
/** At a terminal that says nothing of availability. */
const box = (container_id: string, more: object = {}) =>
  boxOf(container_id, { pod_terminal_id: 't1', availability_known: false, ...more })

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
  scene.expectRows('waits', { asOf: AS_OF, rest }, table)

it('shows every column of a figure', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', port_id: 'p1' },
  ])
  const shipments = `
    shipment_id | pod_vessel_imo | pod_voyage_number | line_tracking_stopped_at | line_tracking_stopped_reason
    s1          | 9000001        | 612E              |                          |
    s2          | 9000001        | 612E              |                          |
    s3          | 9000001        | 614E              |                          |
    s4          |                | 612E              |                          |
    -- Another ship: its container still waits, and so it is not behind n.
    s5          | 9000002        | 1E                |                          |
    stopped     |                |                   | ${at(50)} | no_updates_at_line`
  await scene.insertKnown('shipments', shipments)
  await scene.insertKnown('containers', [
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
  const stage = `where shipment_id = 's1' and ${DWELL} order by waited_hours limit 1`
  expect(await scene.read('port_stages', { asOf: AS_OF, rest: stage })).toMatchSnapshot()
})

it('has truck, rail and all of them, by week and over 90 days', async () => {
  const hours = 90 * 24
  await scene.insertKnown('containers', [
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

it('takes ends of one length together, and who waits after them', { tags: ['JA7'] }, async () => {
  await scene.insertKnown('containers', [
    // 4 of 5 end at 10, beside one that was seen to wait for 10 and counts among those five.
    ...out([10, 10, 10], { pod_terminal_id: 'ties' }),
    box('seen', { pod_terminal_id: 'ties', pod_discharged_at: at(190) }),
    ...out([20], { pod_terminal_id: 'ties' }),
    ...out([10], { pod_terminal_id: 'edge' }),
    box('too', { pod_terminal_id: 'edge', pod_discharged_at: at(190) }),
    // The half is left from 10 to 30.
    ...out([10, 10, 30, 30], { pod_terminal_id: 'half' }),
    // A tenth is left from 90 to 100; nine ends are too few for a p90.
    ...out([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], { pod_terminal_id: 'tens' }),
    ...out([10, 20, 30, 40, 50, 60, 70, 80, 90], { pod_terminal_id: 'nines' }),
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
    pod_terminal_id | n | estimated_median_hours | estimated_p90_hours | p90_hours
    early | 1 | - | - | -
    -- One of two ended, and the other waited at least as long.
    edge | 1 | 10.0 | - | -
    good | 1 | 10.0 | - | -
    half | 4 | 20.0 | 30.0 | -
    nines | 9 | 50.0 | 90.0 | -
    tens | 10 | 55.0 | 95.0 | 91.0
    -- 2/5 are left after 10, nothing after 20.
    ties | 4 | 10.0 | 20.0 | -`,
  )
})

/** Hours of milestones, what else is known, and how long the stages 1 to 6 last. */
const STAGES = `
  -- Out by truck; its arrival and all that follows are in order.
  c10 |  0 |  3 |  7 | 30 | 40 |                                  | over 3       | over 4       | over 23      | over 10 | over 40    | over 33
  -- Discharged, not available; its gate-out and a berthing are to come.
  c11 | 50 | 62 | 54 | 63 | 61 |                                  | not_measured |              | waiting 6    |         | waiting 10 | waiting 6
  c12 | 70 |    |    |    |    |                                  |              |              |              |         |            |
  -- It ended before it began; an end at once is one.
  c13 |    |    | 10 |    |  9 |                                  |              |              | not_measured |         |            | not_measured
  c14 |    |    | 10 |    | 10 |                                  |              |              | not_measured |         |            | over 0
  -- Landed or at sea, by its status.
  c15 |  0 |  5 |    |    |    | current_status grounded          | over 5       | not_measured |              |         | waiting 60 |
  c16 |  0 |    |    |    |    | current_status on_ship           | waiting 60   |              |              |         | waiting 60 |
  -- Left, nobody said when: returned empty, or a status.
  c17 |    |    |  0 |    |    | empty_terminated_at 50           |              |              | not_measured |         |            | not_measured
  c18 |    |    |  0 |    |    | current_status picked_up         |              |              | not_measured |         |            | not_measured
  -- Loaded on the train, it waits for its departure; a terminal that says nothing of availability.
  c19 |    |    |  0 |    |    | pod_rail_loaded_at 20            |              |              | waiting 60   |         |            | waiting 60
  c20 |    |    |  0 |    |    | availability_known false         |              |              | not_measured |         |            | waiting 60
  -- Tracking stopped; nobody knows when; it stops tomorrow; it had stopped before, or will.
  c21 |    |    | 10 |    |    | shipment_id stopped-at-30        |              |              | unwatched 20 |         |            | unwatched 20
  c22 |    |    | 10 |    |    | shipment_id stopped-sometime     |              |              | unwatched    |         |            | unwatched
  c23 |    |    | 10 |    |    | shipment_id stopped-at-90        |              |              | unwatched 50 |         |            | unwatched 50
  c24 |    |    | 10 |    |    | shipment_id stopped-before       |              |              | unwatched 0  |         |            | unwatched 0
  c25 |    |    | 10 |    |    | shipment_id stops-at-90          |              |              | waiting 50   |         |            | waiting 50`

it('measures the stages that have begun, each from its begin to its end', async () => {
  const shipments = `
    shipment_id      | line_tracking_stopped_at | line_tracking_stopped_reason
    stopped-at-30    | ${at(30)}  | no_updates_at_line
    stopped-sometime |                          | no_updates_at_line
    stopped-at-90    | ${at(90)}  | no_updates_at_line
    stopped-before   | ${at(-30)} | no_updates_at_line
    stops-at-90      | ${at(90)}  |`
  await scene.insertKnown('shipments', shipments)
  const hour = (cell = '') => (cell === '' ? null : at(Number(cell)))
  const lines = linesOf(STAGES)
  for (const [id = '', arrived, berthed, discharged, available, out, more = ''] of lines) {
    const [name = '', value] = more.split(' ')
    const milestones = { pod_discharged_at: hour(discharged), pod_full_out_at: hour(out) }
    const said = more === '' ? {} : { [name]: name.endsWith('_at') ? hour(value) : value }
    await scene.insertKnown('containers', [
      boxOf(id, { pod_arrived_at: hour(arrived), ...milestones, ...said }),
    ])
    const of = { container_id: id, timezone: 'America/Los_Angeles', created_at: at(0) }
    for (const [event, cell = ''] of Object.entries({ vessel_berthed: berthed, available })) {
      if (cell === '') continue
      await scene.insertEvents(`event | timestamp\n${event} | ${at(Number(cell))}`, of)
    }
  }
  const rows = await scene.read('port_stages', { asOf: AFTER_60 })
  const found = lines.map(([id = '']) => {
    const ofBox = rows.filter(({ container_id }) => container_id === id)
    const cells = [1, 2, 3, 4, 5, 6].map((stage) => {
      const row = ofBox.find((one) => String(one.stage).startsWith(String(stage)))
      return [row?.state, row?.waited_hours].filter((part) => (part ?? null) !== null).join(' ')
    })
    return [id, ...cells]
  })
  expect(toLines(found)).toEqual(
    toLines(lines.map(([id = '', ...cells]) => [id, ...cells.slice(6)])),
  )
})

it('goes by truck or rail as it left, begins in the local week, and came with a vessel', async () => {
  await scene.insertKnown('shipments', [
    { shipment_id: 's1', pod_vessel_name: ' Emma Maersk', port_of_discharge_locode: 'USLGB' },
    { shipment_id: 's2', pod_voyage_number: '612E' },
  ])
  const landed = { pod_discharged_at: at(0) }
  // Sunday 22:00 there is Monday in UTC.
  const onSunday = { pod_discharged_at: '2026-03-02T06:00:00Z' }
  await scene.insertKnown('containers', [
    boxOf('c1', { ...landed, pod_full_out_at: at(9), pod_rail_departed_at: at(9) }),
    boxOf('c2', { ...landed, pod_full_out_at: at(9), pod_rail_departed_at: at(8) }),
    // A truck took it to the train.
    boxOf('c3', { ...landed, pod_full_out_at: at(7), pod_rail_departed_at: at(8) }),
    boxOf('c4', { ...onSunday, shipment_id: 's1' }),
    boxOf('c5', {
      ...onSunday,
      shipment_id: 's2',
      pod_timezone: null,
      ind_rail_carrier_scac: 'BNSF',
    }),
    // Picked up inland, and nobody said when it left the port.
    boxOf('c6', {
      ...onSunday,
      pod_timezone: 'Mars/Olympus',
      final_destination_full_out_at: at(50),
    }),
  ])
  const rest = `where stage = '6 discharge to out' order by 1`
  await scene.expectRows(
    'port_stages',
    { asOf: AFTER_60, rest },
    `
    container_id | mode  | port_locode | week_on    | is_zone_known | vessel_call
    c1           | truck | -           | 2026-03-02 | true          | -
    c2           | rail  | -           | 2026-03-02 | true          | -
    c3           | truck | -           | 2026-03-02 | true          | -
    c4           | truck | USLGB       | 2026-02-23 | true          | EMMA MAERSK
    c5           | rail  | -           | 2026-03-02 | false         | -
    c6           | rail  | -           | -          | false         | -`,
  )
})
