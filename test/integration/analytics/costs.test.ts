import { describe, expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertRule, lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { givenAndExpected, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ZONE = 'America/Los_Angeles'
/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const ORDER = 'order by container_id, place, charge, currency_code'
const SHOWN = [
  'container_id | place | charge | state | days_left | days_over | cost_amount | rule_amount',
  'next_day_amount | next_7_days_amount | next_14_days_amount | currency_code | source',
].join(' | ')
const END = 'last_free_on | last_free_source | ended_on'

const shows = (table: string) => scene.expectRows('costs', { asOf: AS_OF, rest: ORDER }, table)

/** Discharged on 9 March, of a line and at a terminal. */
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
const out = (day: number) => ({ pod_full_out_at: `2026-03-${day}T20:00:00Z` })
const empty = (day: number) => ({ empty_terminated_at: `2026-03-${day}T20:00:00Z` })

/** A rule of four free days. */
const rule = (charge: string, rates: Readonly<Record<number, string>>, more: object = {}) =>
  insertRule(scene, { charge, free_days: 4, ...more }, rates)

async function insertBoxes(...boxes: readonly Record<string, unknown>[]): Promise<void> {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  const shipments = `
    shipment_id | shipping_line_scac | bill_of_lading_number | line_tracking_stopped_reason
    s1          | MAEU               | BOL1                  |
    ruleless    | ONEY               |                       |
    stopped     | MAEU               |                       | no_updates_at_line`
  await scene.insertKnown('shipments', shipments)
  await scene.insertKnown('containers', boxes)
}

/** Last free days, each as `container whose day` of March. */
const says = (...days: readonly (readonly [string, Parameters<typeof lastFreeDay>[1], number])[]) =>
  scene.insertKnown(
    'container_import_deadlines',
    days.map(([id, whose, day]) =>
      lastFreeDay(id, whose, `2026-03-${String(day).padStart(2, '0')}`),
    ),
  )
const lists = (...fees: readonly Record<string, unknown>[]) =>
  scene.insertKnown('container_fees', fees)

it('shows every column of a charge', async () => {
  await insertBoxes(container('c1'))
  await says(['c1', 'terminal', 13])
  // 14 to 17 March are days 1 to 4: the first lacks a rate.
  await rule('storage', { 2: '100', 4: '150' })
  expect(await scene.read('costs', { asOf: AS_OF })).toMatchSnapshot()
})

it('shows a clock that ended late and none that ended in time; nothing more is added', async () => {
  await insertBoxes(
    container('late', { ...out(15), ...empty(16) }),
    container('in time', { ...out(13), ...empty(17) }),
    container('late empty', { ...out(10), ...empty(17) }),
    container('without a rule', { shipment_id: null, pod_terminal_id: null, ...out(15) }),
  )
  await says(['without a rule', 'terminal', 13])
  await rule('demurrage', { 1: '100' }, { shipping_line_scac: 'MAEU' })
  await rule('detention', { 1: '120' }, { shipping_line_scac: 'MAEU' })
  // Of the last one nobody knows the cost: it is not zero.
  await shows(`${SHOWN}
    late           | port | demurrage | ended_late | - | 2 | 200 | 200 | 0 | 0 | 0 | USD | rule
    late empty     | out  | detention | ended_late | - | 3 | 360 | 360 | 0 | 0 | 0 | USD | rule
    without a rule | port | storage   | ended_late | - | 2 | -   | -   | - | - | - | -   | -`)
  await shows(`container_id | ${END}
    late           | 2026-03-13 | rule     | 2026-03-15
    late empty     | 2026-03-14 | rule     | 2026-03-17
    without a rule | 2026-03-13 | terminal | 2026-03-15`)
})

it('has a row before the day is over only with a rule', async () => {
  await insertBoxes(
    ...['soon', 'today', 'none'].map((id) => container(id)),
    ...['no rule', 'no rule today', 'no rule over'].map((id) =>
      container(id, { shipment_id: null }),
    ),
  )
  await says(['soon', 'line', 19], ['today', 'line', 17])
  await says(['no rule', 'line', 19], ['no rule today', 'line', 17], ['no rule over', 'line', 16])
  await rule('demurrage', { 1: '100' }, { shipping_line_scac: 'MAEU' })
  // The day of none is that of the rule, the 13th.
  await shows(`${SHOWN}
    no rule over | port | demurrage | overdue   | -1 | 1 | -   | -   | -   | -   | -    | -   | -
    none         | port | demurrage | overdue   | -4 | 4 | 400 | 400 | 100 | 700 | 1400 | USD | rule
    soon         | port | demurrage | upcoming  | 2  | 0 | 0   | 0   | 0   | 500 | 1200 | USD | rule
    today        | port | demurrage | due_today | 0  | 0 | 0   | 0   | 100 | 700 | 1400 | USD | rule`)
})

it('adds what has no rate to nothing: the amount is not known', async () => {
  await insertBoxes(container('c1'))
  await rule('demurrage', { 6: '100' })
  await shows(`cost_amount | rule_amount | days_over | days_without_rate | source
               -           | -           | 4         | 4                 | rule`)
})

it('counts listed fees in place of storage and demurrage alone', { tags: ['JA6'] }, async () => {
  const ruled = { ref_numbers: '{of a rule}' }
  await insertBoxes(container('c1', ruled), container('c2', ruled), container('c3'))
  // The second is not over its day: its fee is not one of a late container. The third lacks a rule
  // for demurrage, but fees of any kind; one is listed before it is calculated.
  await says(['c1', 'terminal', 15], ['c2', 'terminal', 18], ['c2', 'line', 18])
  await says(['c3', 'terminal', 15])
  await lists(listedFee('c1', 'demurrage', '700'), listedFee('c1', 'exam', '20.5'))
  await lists(listedFee('c2', 'exam', '30'), listedFee('c3', 'exam', '55'))
  await lists(listedFee('c3', 'demurrage', '0', 'CAD'))
  await rule('storage', { 1: '40' })
  await rule('demurrage', { 1: '100' }, { ref: 'of a rule' })
  await rule('plug_in', { 1: '9' }, { ref: 'of a rule' })
  await shows(`${SHOWN}
    -- The line reports no day: it is that of the rule, the 13th.
    c1 | port | demurrage   | overdue  | -4 | 4 | -     | 400 | 100 | 700 | 1400 | USD | listed
    c1 | port | listed fees | overdue  | -4 | 4 | 720.5 | -   | -   | -   | -    | USD | listed
    c1 | port | plug_in     | overdue  | -4 | 4 | 36    | 36  | 9   | 63  | 126  | USD | rule
    c1 | port | storage     | overdue  | -2 | 2 | -     | 80  | 40  | 280 | 560  | USD | listed
    c2 | port | demurrage   | upcoming | 1  | 0 | 0     | 0   | 0   | 600 | 1300 | USD | rule
    c2 | port | plug_in     | overdue  | -4 | 4 | 36    | 36  | 9   | 63  | 126  | USD | rule
    c2 | port | storage     | upcoming | 1  | 0 | 0     | 0   | 0   | 240 | 520  | USD | rule
    c3 | port | listed fees | overdue  | -2 | 2 | 55    | -   | -   | -   | -    | USD | listed
    c3 | port | storage     | overdue  | -2 | 2 | -     | 80  | 40  | 280 | 560  | USD | listed`)
})

it('has a row for each currency of listed fees, and adds none', { tags: ['N4'] }, async () => {
  await insertBoxes(container('c1'))
  await says(['c1', 'terminal', 13])
  await lists(listedFee('c1', 'demurrage', '700'), listedFee('c1', 'exam', '80', 'CAD'))
  await rule('storage', { 1: '40' }, { currency_code: 'CAD' })
  await shows(`charge      | currency_code | cost_amount | rule_amount | source
               listed fees | CAD           | 80          | -           | listed
               listed fees | USD           | 700         | -           | listed
               storage     | CAD           | -           | 160         | listed`)
})

it('keeps listed fees of a container that went out late, and adds nothing to them', async () => {
  await insertBoxes(container('c1', out(15)))
  await says(['c1', 'terminal', 13])
  await lists(listedFee('c1', 'demurrage', '700'))
  await shows(`${SHOWN} | ${END}
    c1 | port | listed fees | ended_late | - | 2 | 700 | - | - | - | - | USD | listed | 2026-03-13 | terminal | 2026-03-15
    c1 | port | storage     | ended_late | - | 2 | -   | - | - | - | - | -   | -      | 2026-03-13 | terminal | 2026-03-15`)
})

it('says not known of days that neither a rule nor a fee prices', { tags: ['FE5'] }, async () => {
  const ids = ['c1', 'c2', 'c3', 'c4', 'c5']
  await insertBoxes(...ids.map((id) => container(id)), container('c6', out(15)))
  // Of others fees are listed, the terminal says a day, or the line; the day of c5 is not over.
  await says(['c1', 'service', 13], ['c2', 'service', 13], ['c3', 'terminal', 13])
  await says(['c4', 'line', 13], ['c5', 'service', 17], ['c6', 'service', 13])
  await lists(listedFee('c2', 'exam', '20'))
  await shows(`container_id | charge | state | days_left | days_over | cost_amount | source | ${END} | rule_name
    c1 | not known   | overdue    | -4 | 4 | -  | -      | 2026-03-13 | service  | -          | -
    c2 | listed fees | overdue    | -4 | 4 | 20 | listed | 2026-03-13 | service  | -          | -
    c3 | storage     | overdue    | -4 | 4 | -  | -      | 2026-03-13 | terminal | -          | -
    c4 | demurrage   | overdue    | -4 | 4 | -  | -      | 2026-03-13 | line     | -          | -
    c6 | not known   | ended_late | -  | 2 | -  | -      | 2026-03-13 | service  | 2026-03-15 | -`)
  // With a rule there is a charge.
  await rule('storage', { 1: '40' })
  await shows(`container_id | charge
    c1 | storage
    c2 | listed fees
    c2 | storage
    c3 | storage
    c4 | demurrage
    c4 | storage
    c5 | storage
    c6 | storage`)
})

it('says not known beside another charge, not with a rule', { tags: ['FE5'] }, async () => {
  await insertBoxes(container('c1'))
  await says(['c1', 'service', 13])
  await rule('plug_in', { 1: '9' })
  await shows(`charge    | state    | last_free_source | last_free_on | cost_amount
               not known | overdue  | service          | 2026-03-13   | -
               plug_in   | overdue  | rule             | 2026-03-13   | 36`)
  await rule('storage', { 1: '40' }, { free_days: 10 })
  await shows(`charge    | state    | last_free_source | last_free_on | cost_amount
               plug_in   | overdue  | rule             | 2026-03-13   | 36
               storage   | upcoming | rule             | 2026-03-19   | 0`)
})

it('has no amount where the end would be told by nobody', { tags: ['FE5'] }, async () => {
  const stopped = { shipment_id: 'stopped' }
  // c3 was not over when last asked for; of c4 there is a rule alone, which is none.
  await insertBoxes(
    container('c1', stopped),
    container('c2', { ...stopped, pod_terminal_id: null }),
    container('c3', stopped),
    container('c4', { ...stopped, ...out(10) }),
  )
  await says(['c1', 'terminal', 13], ['c2', 'service', 13], ['c3', 'terminal', 18])
  await lists(listedFee('c1', 'demurrage', '700'))
  await rule('storage', { 1: '40' }, { terminal: 'WBCT' })
  await shows(`${SHOWN.replace(/ \| currency_code.*/, '')} | last_free_on | rule_name
    c1 | port | listed fees | unknown | - | - | - | - | - | - | - | 2026-03-13 | -
    c1 | port | storage     | unknown | - | - | - | - | - | - | - | 2026-03-13 | storage
    c2 | port | not known   | unknown | - | - | - | - | - | - | - | 2026-03-13 | -`)
})

it('counts listed fees for a merged clock that ended early', { tags: ['JA15'] }, async () => {
  await insertBoxes(container('c1', out(15)), container('c2', out(12)), container('c3', out(12)))
  // Late by the terminal's day, in time by the line's.
  await says(['c3', 'terminal', 11])
  await lists(...['c1', 'c2', 'c3'].map((id) => listedFee(id, 'exam', '70')))
  await rule('demurrage', { 1: '100' }, { until: 'empty_return' })
  await shows(`container_id | charge | state | cost_amount | rule_amount | source
    c1 | demurrage   | overdue    | -   | 400 | listed
    c1 | listed fees | ended_late | 70  | -   | listed
    -- Out in time: the fees are not for being late, and the empty is late.
    c2 | demurrage   | overdue    | 400 | 400 | rule
    c3 | demurrage   | overdue    | 400 | 400 | rule
    c3 | listed fees | ended_late | 70  | -   | listed
    c3 | storage     | ended_late | -   | -   | -`)
})

it('counts the stay at the ramp by itself, with the fees there', { tags: ['JA2'] }, async () => {
  const inland = {
    final_destination_timezone: 'America/Chicago',
    pod_rail_departed_at: '2026-03-10T20:00:00Z',
    ind_ata_at: '2026-03-12T20:00:00Z',
  }
  const gone = { ...inland, final_destination_full_out_at: '2026-03-13T20:00:00Z' }
  await insertBoxes(
    ...['c1', 'c2', 'c4'].map((id) => container(id, inland)),
    container('c3', gone),
    container('c5'),
  )
  await says(['c1', 'terminal', 9], ['c4', 'terminal', 9])
  await says(['c1', 'rail', 14], ['c2', 'rail', 14], ['c4', 'rail', 14])
  const atRamp = (id: string, amount: string) => ({
    ...listedFee(id, 'storage', amount),
    fee_key: 'ramp',
    place: 'ramp',
  })
  // Of the port's list while c4 is at the ramp, and of the ramp's while c5 is at the port.
  await lists(atRamp('c2', '75'), listedFee('c4', 'storage', '33'), atRamp('c5', '22'))
  await rule('storage', { 1: '40' })
  await rule('detention', { 1: '120' })
  // 01:30 of the 18th in Chicago. The port's clocks of c2 and c3 ended in time.
  await shows(`container_id | place | charge | state | days_over | cost_amount | rule_amount | last_free_on
    c1 | port | storage     | ended_late | 1 | 40  | 40  | 2026-03-09
    c1 | ramp | storage     | overdue    | 4 | 160 | 160 | 2026-03-14
    c2 | ramp | listed fees | overdue    | 4 | 75  | -   | 2026-03-14
    c2 | ramp | storage     | overdue    | 4 | -   | 160 | 2026-03-14
    c3 | out  | detention   | overdue    | 1 | 120 | 120 | 2026-03-17
    c4 | port | storage     | ended_late | 1 | 40  | 40  | 2026-03-09
    c4 | ramp | listed fees | overdue    | 4 | 33  | -   | 2026-03-14
    c4 | ramp | storage     | overdue    | 4 | -   | 160 | 2026-03-14
    c5 | port | storage     | overdue    | 4 | 160 | 160 | 2026-03-13`)
})

it('counts by the rule where no fee has an amount', { tags: ['FE5'] }, async () => {
  await insertBoxes(container('c1'), container('c2'))
  await lists(listedFee('c1', 'exam', '0'), listedFee('c2', 'exam', null))
  await rule('storage', { 1: '40' })
  await shows(`container_id | charge  | cost_amount | source
               c1           | storage | 160         | rule
               c2           | storage | 160         | rule`)
})

describe('empties', () => {
  const showsEmpties = (table: string) =>
    scene.expectRows('empties', { asOf: AS_OF, rest: 'order by container_id' }, table)

  /** Noon in Los Angeles, from the 8th on. */
  const noon = (day: number) => `2026-03-${day}T19:00:00Z`

  /** Four free days, then 120 a day, of one line. */
  const lineRule = (more: object = {}) =>
    insertRule(
      scene,
      {
        ...{ rule_name: 'out', charge: 'detention', free_days: 4, shipping_line_scac: 'MAEU' },
        ...more,
      },
      { 1: '120' },
    )

  it('shows every column of one that is out and of one that came back', async () => {
    await insertBoxes(
      container('c1', { pod_full_out_at: noon(12) }),
      container('c2', {
        pod_full_out_at: noon(11),
        empty_terminated_at: '2026-03-18T03:30:00Z',
        empty_terminated_timezone: 'America/New_York',
      }),
    )
    await lineRule()
    // days_out 5.48: from noon of the 12th to 23:30 of the 17th.
    // returned_on 2026-03-17: the day of the depot.
    expect(
      await scene.read('empties', { asOf: AS_OF, rest: 'order by container_id' }),
    ).toMatchSnapshot()
  })

  it('has the state and the amounts of the clock of detention, and is unknown without one', async () => {
    const [boxes, expected] = givenAndExpected(`
      container_id  | pod_full_out_at   | empty_terminated_at | pod_timezone | shipment_id => state         | gate_out_on | return_by_on | returned_on | days_left | days_over | cost_amount | next_day_amount | days_out | calendar_days_out | is_returned | is_tracking_stopped
      -- From 22:00 to midnight over the change of clocks: 49 hours, 3 days of the calendar.
      clocks change | 2026-03-07T06:00Z | 2026-03-09T07:00Z   |              |             => ended_in_time | 2026-03-06  | 2026-03-10   | 2026-03-09  | -         | 0         | 0           | -               | 2.04     | 3                 | true        | false
      due today     | ${noon(13)}       |                     |              |             => due_today     | 2026-03-13  | 2026-03-17   | -           | 0         | 0         | 0           | 120             | 4.48     | 4                 | false       | false
      in time       | ${noon(12)}       | ${noon(16)}         |              |             => ended_in_time | 2026-03-12  | 2026-03-16   | 2026-03-16  | -         | 0         | 0           | -               | 4.00     | 4                 | true        | false
      no day        | ${noon(12)}       |                     | Mars/Olympus |             => unknown       | -           | -            | -           | -         | -         | -           | -               | 5.48     | -                 | false       | false
      no pickup     |                   | ${noon(16)}         |              |             => unknown       | -           | -            | 2026-03-16  | -         | -         | -           | -               | -        | -                 | true        | false
      no rule       | ${noon(12)}       |                     |              | ruleless    => unknown       | -           | -            | -           | -         | -         | -           | -               | 5.48     | 5                 | false       | false
      out of order  | ${noon(16)}       | ${noon(12)}         |              |             => ended_in_time | 2026-03-16  | 2026-03-20   | 2026-03-12  | -         | 0         | 0           | -               | -        | -                 | true        | false
      still there   |                   |                     |              |             =>
      stopped       | ${noon(12)}       |                     |              | stopped     => unknown       | 2026-03-12  | 2026-03-16   | -           | -         | -         | -           | -               | 5.48     | 5                 | false       | true
      -- It ended while it was tracked.
      stopped later | ${noon(12)}       | ${noon(17)}         |              | stopped     => ended_late    | 2026-03-12  | 2026-03-16   | 2026-03-17  | -         | 1         | 120         | -               | 5.00     | 5                 | true        | true
      -- The return is announced.
      to come       | ${noon(16)}       | ${noon(20)}         |              |             => upcoming      | 2026-03-16  | 2026-03-20   | -           | 3         | 0         | 0           | 0               | 1.48     | 1                 | false       | false
      upcoming      | ${noon(15)}       |                     |              |             => upcoming      | 2026-03-15  | 2026-03-19   | -           | 2         | 0         | 0           | 0               | 2.48     | 2                 | false       | false`)
    await insertBoxes(
      ...rowsOf(boxes).map(({ container_id, ...said }) => container(container_id!, said)),
    )
    await lineRule()
    // Ends with the gate-out, so it is none of the empty's.
    await lineRule({ rule_name: 'port', charge: 'demurrage' })
    await showsEmpties(expected)
  })

  it(
    'begins at the ramp, or nobody says when, and ends on a day unknown',
    { tags: ['FE5'] },
    async () => {
      const inland = {
        final_destination_timezone: 'America/Chicago',
        pod_rail_departed_at: noon(10),
        ind_ata_at: noon(11),
      }
      await insertBoxes(
        // It is the 18th there.
        container('inland', { ...inland, final_destination_full_out_at: '2026-03-14T04:30:00Z' }),
        container('on rail', inland),
        container('no time', { current_status: 'picked_up' }),
        container('somewhere', {
          pod_full_out_at: noon(12),
          empty_terminated_at: noon(16),
          empty_terminated_timezone: 'Mars/Olympus',
        }),
      )
      await lineRule()
      await showsEmpties(`
      container_id | state   | gate_out_on | return_by_on | returned_on | days_over | cost_amount | next_day_amount | is_returned | time_zone
      inland       | overdue | 2026-03-13  | 2026-03-17   | -           | 1         | 120         | 120             | false       | America/Chicago
      no time      | unknown | -           | -            | -           | -         | -           | -               | false       | ${ZONE}
      somewhere    | unknown | 2026-03-12  | 2026-03-16   | -           | -         | -           | -               | true        | ${ZONE}`)
    },
  )

  it('has a box under two shipments once', { tags: ['JA9'] }, async () => {
    const box = { number: 'MSKU1234565', pod_full_out_at: noon(12) }
    await insertBoxes(container('c1', box), container('c2', { ...box, shipment_id: 'house' }))
    for (const table of ['shipments', 'shipment_history']) {
      await scene.query(`update tracking.${table} set port_of_discharge_locode = 'USLAX'`)
    }
    await scene.insertKnown('shipments', [
      { shipment_id: 'house', customer_name: 'Acme', port_of_discharge_locode: 'USLAX' },
    ])
    await showsEmpties('container_id\nc2')
  })

  it('has the merged clock, which began before the gate-out', { tags: ['JA15'] }, async () => {
    await insertBoxes(
      container('back', { pod_full_out_at: noon(12), empty_terminated_at: noon(15) }),
      container('no day', { pod_timezone: 'Mars/Olympus', pod_full_out_at: noon(12) }),
      container('no pickup', { empty_terminated_at: noon(16) }),
      container('out', { pod_full_out_at: noon(12) }),
      container('still there'),
    )
    await lineRule({ rule_name: 'merged', charge: 'demurrage', until: 'empty_return' })
    await lineRule({ rule_name: 'beside it' })
    // Without a zone nobody knows the day.
    await showsEmpties(`
      container_id | charge    | rule_name | state      | return_by_on | cost_amount | gate_out_on | is_returned
      back         | demurrage | merged    | ended_late | 2026-03-13   | 240         | 2026-03-12  | true
      no day       | demurrage | merged    | unknown    | -            | -           | -           | false
      no pickup    | demurrage | merged    | ended_late | 2026-03-13   | 360         | -           | true
      out          | demurrage | merged    | overdue    | 2026-03-13   | 480         | 2026-03-12  | false`)
  })
})

describe('demurrage_exposure', () => {
  const showsExposure = (table: string) =>
    scene.expectRows('demurrage_exposure', { asOf: AS_OF, rest: 'order by container_id' }, table)

  it('takes a listed fee of 0 for one that was not calculated', { tags: ['JA10'] }, async () => {
    await insertBoxes(container('c1'))
    await says(['c1', 'service', 13])
    await lists(listedFee('c1', 'demurrage', '0'), listedFee('c1', 'exam', '0.00', 'CAD'))
    await insertRule(scene, { charge: 'demurrage', terminal: 't1', rule_name: 'rule' })
    const overdue = { asOf: AS_OF, rest: `where exception = 'overdue'` }
    await showsExposure(`
      fees_by_currency | fee_amount | fees_unreadable | estimate_amount
      -                | -          | 0               | 400`)
    await scene.expectRows('attention', overdue, 'cost_amount | cost_currency_code\n400 | USD')
    // Beside an amount it changes neither the sum nor its currency.
    await lists(listedFee('c1', 'storage', '30'))
    await showsExposure(`
      fees_by_currency | fee_amount | fees_unreadable | estimate_amount
      USD 30           | 30         | 0               | 400`)
    await scene.expectRows('attention', overdue, 'cost_amount | cost_currency_code\n30 | USD')
  })

  it('says that a fee is below zero, and waits for the list of the ramp', async () => {
    const atRamp = {
      final_destination_timezone: 'America/Chicago',
      pod_rail_departed_at: '2026-03-10T10:00:00Z',
      ind_ata_at: '2026-03-12T10:00:00Z',
    }
    await insertBoxes(container('c1'), container('c2', atRamp))
    await says(['c1', 'service', 13], ['c2', 'rail', 14])
    // A total of 0 at the ramp is a list that is not there yet.
    const total = { ...listedFee('c2', 'total', '0', null), fee_key: 'ramp', place: 'ramp' }
    await lists(listedFee('c1', 'demurrage', '500'), listedFee('c1', 'credit', '-200'))
    await lists(listedFee('c2', 'demurrage', '900', 'CAD'), total)
    await showsExposure(`
      container_id | place | fees_by_currency | fee_amount | fees_negative | fees_unreadable
      c1           | port  | USD 300          | 300        | 1             | 0
      c2           | ramp  | CAD 900          | 900        | 0             | 0`)
  })
})
