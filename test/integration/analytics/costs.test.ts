import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule, lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ZONE = 'America/Los_Angeles'
/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const ORDER = 'order by container_id, place, charge, currency_code'
const SHOWN =
  `container_id | place | charge | state | days_left | days_over | cost_amount | rule_amount
  | next_day_amount | next_7_days_amount | next_14_days_amount | currency_code | source`.replace(
    '\n',
    '',
  )
const END = 'last_free_on | last_free_source | ended_on'

const shows = (table: string) => expectRows(scene, 'costs', { asOf: AS_OF, rest: ORDER }, table)

/** Discharged on 9 March, of a line and at a terminal. */
const container = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_terminal_id: 't1',
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
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertKnown(scene, 'containers', boxes)
}

/** Last free days, each as `container whose day` of March. */
const says = (...days: readonly (readonly [string, Parameters<typeof lastFreeDay>[1], number])[]) =>
  insertKnown(
    scene,
    'container_import_deadlines',
    days.map(([id, whose, day]) =>
      lastFreeDay(id, whose, `2026-03-${String(day).padStart(2, '0')}`),
    ),
  )
const lists = (...fees: readonly Record<string, unknown>[]) =>
  insertKnown(scene, 'container_fees', fees)

it('shows every column of a charge', async () => {
  await insertBoxes(container('c1'))
  await says(['c1', 'terminal', 13])
  // 14 to 17 March are days 1 to 4: the first lacks a rate.
  await rule('storage', { 2: '100', 4: '150' })
  expect(await scene.read('costs', { asOf: AS_OF })).toMatchSnapshot()
})

it('has a row for each clock of a charge, each from its own day', async () => {
  // The second was out on the 11th, so free to the 15th.
  await insertBoxes(container('c1'), container('c2', out(11)))
  await says(['c1', 'terminal', 12], ['c1', 'line', 15])
  await rule('storage', { 1: '40' })
  await rule('demurrage', { 1: '100', 4: '150' })
  await rule('detention', { 1: '120' })
  // A word of its own, in a currency of its own: free to the 13th.
  await rule('plug_in', { 1: '9' }, { currency_code: 'CAD' })
  await shows(`${SHOWN}
    -- Days 3 and 4 are left of the second one's way: 100, then 150.
    c1 | port | demurrage | overdue | -2 | 2 | 200 | 200 | 100 | 1000 | 2050 | USD | rule
    c1 | port | plug_in   | overdue | -4 | 4 | 36  | 36  | 9   | 63   | 126  | CAD | rule
    c1 | port | storage   | overdue | -5 | 5 | 200 | 200 | 40  | 280  | 560  | USD | rule
    c2 | out  | detention | overdue | -2 | 2 | 240 | 240 | 120 | 840  | 1680 | USD | rule`)
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
  await insertKnown(scene, 'shipments', [
    { ...stopped, line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  await says(['c1', 'terminal', 13], ['c2', 'service', 13], ['c3', 'terminal', 18])
  await lists(listedFee('c1', 'demurrage', '700'))
  await rule('storage', { 1: '40' }, { terminal: 'WBCT' })
  await shows(`${SHOWN.replace(/ \| currency_code.*/, '')} | last_free_on | rule_name
    c1 | port | listed fees | unknown | - | - | - | - | - | - | - | 2026-03-13 | -
    c1 | port | storage     | unknown | - | - | - | - | - | - | - | 2026-03-13 | storage
    c2 | port | not known   | unknown | - | - | - | - | - | - | - | 2026-03-13 | -`)
})

it('has one row of the line where its clock is merged', { tags: ['JA15'] }, async () => {
  await insertBoxes(
    container('c1'),
    container('c2', out(12)),
    container('c3', { ...out(12), ...empty(15) }),
  )
  await rule('demurrage', { 1: '100' }, { until: 'empty_return' })
  await rule('detention', { 1: '999' })
  await shows(`${SHOWN}
    c1 | port | demurrage | overdue    | -4 | 4 | 400 | 400 | 100 | 700 | 1400 | USD | rule
    c2 | port | demurrage | overdue    | -4 | 4 | 400 | 400 | 100 | 700 | 1400 | USD | rule
    c3 | port | demurrage | ended_late | -  | 2 | 200 | 200 | 0   | 0   | 0    | USD | rule`)
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
