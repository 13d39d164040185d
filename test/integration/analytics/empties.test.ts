import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ZONE = 'America/Los_Angeles'
/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const OPTIONS = { asOf: AS_OF, rest: 'order by container_id' }
const shows = (table: string) => expectRows(scene, 'empties', OPTIONS, table)

const container = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_terminal_id: 't1',
  equipment_type: 'dry',
  equipment_length: 40,
  pod_timezone: ZONE,
  empty_terminated_timezone: ZONE,
  pod_discharged_at: '2026-03-09T20:00:00Z',
  ...more,
})

/** Noon in Los Angeles, from the 8th on. */
const noon = (day: number) => `2026-03-${day}T19:00:00Z`

/** Four free days, then 120 a day, of one line. */
const rule = (more: object = {}) =>
  insertRule(
    scene,
    {
      ...{ rule_name: 'out', charge: 'detention', free_days: 4, shipping_line_scac: 'MAEU' },
      ...more,
    },
    { 1: '120' },
  )

async function insertBoxes(...boxes: readonly Record<string, unknown>[]): Promise<void> {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
    { shipment_id: 'ruleless', shipping_line_scac: 'ONEY' },
    {
      shipment_id: 'stopped',
      shipping_line_scac: 'MAEU',
      line_tracking_stopped_reason: 'no_updates_at_line',
    },
  ])
  await insertKnown(scene, 'containers', boxes)
}

it('shows every column of one that is out and of one that came back', async () => {
  await insertBoxes(
    container('c1', { pod_full_out_at: noon(12) }),
    container('c2', {
      pod_full_out_at: noon(11),
      empty_terminated_at: '2026-03-18T03:30:00Z',
      empty_terminated_timezone: 'America/New_York',
    }),
  )
  await rule()
  // days_out 5.48: from noon of the 12th to 23:30 of the 17th.
  // returned_on 2026-03-17: the day of the depot.
  expect(await scene.read('empties', OPTIONS)).toMatchSnapshot()
})

it('has the state and the amounts of the clock of detention', async () => {
  await insertBoxes(
    container('due today', { pod_full_out_at: noon(13) }),
    container('in time', { pod_full_out_at: noon(12), empty_terminated_at: noon(16) }),
    container('upcoming', { pod_full_out_at: noon(15) }),
    // Not out: at the port, or on its way to the ramp.
    container('still there'),
    container('on rail', { pod_rail_departed_at: noon(11) }),
    // From the ramp on.
    container('inland', {
      final_destination_timezone: 'America/Chicago',
      pod_rail_departed_at: noon(10),
      ind_ata_at: noon(11),
      final_destination_full_out_at: '2026-03-14T04:30:00Z',
    }),
  )
  await rule()
  // Ends with the gate-out, so it is none of the empty's.
  await rule({ rule_name: 'port', charge: 'demurrage' })
  // It is the 18th in Chicago.
  await shows(`
    container_id | state         | return_by_on | days_left | days_over | cost_amount | next_day_amount | gate_out_on | time_zone
    due today    | due_today     | 2026-03-17   | 0         | 0         | 0           | 120             | 2026-03-13  | ${ZONE}
    in time      | ended_in_time | 2026-03-16   | -         | 0         | 0           | -               | 2026-03-12  | ${ZONE}
    inland       | overdue       | 2026-03-17   | -1        | 1         | 120         | 120             | 2026-03-13  | America/Chicago
    upcoming     | upcoming      | 2026-03-19   | 2         | 0         | 0           | 0               | 2026-03-15  | ${ZONE}`)
})

it('is unknown without a rule, a day or tracking', { tags: ['FE5'] }, async () => {
  await insertBoxes(
    container('no day', { pod_timezone: 'Mars/Olympus', pod_full_out_at: noon(12) }),
    container('no rule', { shipment_id: 'ruleless', pod_full_out_at: noon(12) }),
    // Out, and nobody says when.
    container('no time', { current_status: 'picked_up' }),
    container('stopped', { shipment_id: 'stopped', pod_full_out_at: noon(12) }),
    // It ended while it was tracked.
    container('stopped later', {
      shipment_id: 'stopped',
      pod_full_out_at: noon(12),
      empty_terminated_at: noon(17),
    }),
  )
  await rule()
  await shows(`
    container_id  | state      | return_by_on | days_out | calendar_days_out | cost_amount | next_day_amount | is_returned | is_tracking_stopped
    no day        | unknown    | -            | 5.48     | -                 | -           | -               | false       | false
    no rule       | unknown    | -            | 5.48     | 5                 | -           | -               | false       | false
    no time       | unknown    | -            | -        | -                 | -           | -               | false       | false
    stopped       | unknown    | 2026-03-16   | 5.48     | 5                 | -           | -               | false       | true
    stopped later | ended_late | 2026-03-16   | 5.00     | 5                 | 120         | -               | true        | true`)
})

it('has one without a pickup, or picked up after its return', { tags: ['FE5'] }, async () => {
  await insertBoxes(
    container('no pickup', { empty_terminated_at: noon(16) }),
    container('out of order', { pod_full_out_at: noon(16), empty_terminated_at: noon(12) }),
    container('returned somewhere', {
      pod_full_out_at: noon(12),
      empty_terminated_at: noon(16),
      empty_terminated_timezone: 'Mars/Olympus',
    }),
    // The return is announced.
    container('to come', { pod_full_out_at: noon(16), empty_terminated_at: noon(20) }),
  )
  await rule()
  // Of the one that was returned somewhere nobody knows on which day.
  await shows(`
    container_id       | state         | days_out | calendar_days_out | is_returned | gate_out_on | returned_on
    no pickup          | unknown       | -        | -                 | true        | -           | 2026-03-16
    out of order       | ended_in_time | -        | -                 | true        | 2026-03-16  | 2026-03-12
    returned somewhere | unknown       | 4.00     | -                 | true        | 2026-03-12  | -
    to come            | upcoming      | 1.48     | 1                 | false       | 2026-03-16  | -`)
})

it('has a box under two shipments once', { tags: ['JA9'] }, async () => {
  const box = { number: 'MSKU1234565', pod_full_out_at: noon(12) }
  await insertBoxes(container('c1', box), container('c2', { ...box, shipment_id: 'house' }))
  for (const table of ['shipments', 'shipment_history']) {
    await scene.query(`update tracking.${table} set port_of_discharge_locode = 'USLAX'`)
  }
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'house', customer_name: 'Acme', port_of_discharge_locode: 'USLAX' },
  ])
  await shows('container_id\nc2')
})

it('has the merged clock, which began before the gate-out', { tags: ['JA15'] }, async () => {
  await insertBoxes(
    container('back', { pod_full_out_at: noon(12), empty_terminated_at: noon(15) }),
    container('no day', { pod_timezone: 'Mars/Olympus', pod_full_out_at: noon(12) }),
    container('no pickup', { empty_terminated_at: noon(16) }),
    container('out', { pod_full_out_at: noon(12) }),
    container('still there'),
  )
  await rule({ rule_name: 'merged', charge: 'demurrage', until: 'empty_return' })
  await rule({ rule_name: 'beside it' })
  // Without a zone nobody knows the day.
  await shows(`
    container_id | charge    | rule_name | state      | return_by_on | cost_amount | gate_out_on | is_returned
    back         | demurrage | merged    | ended_late | 2026-03-13   | 240         | 2026-03-12  | true
    no day       | demurrage | merged    | unknown    | -            | -           | -           | false
    no pickup    | demurrage | merged    | ended_late | 2026-03-13   | 360         | -           | true
    out          | demurrage | merged    | overdue    | 2026-03-13   | 480         | 2026-03-12  | false`)
})
