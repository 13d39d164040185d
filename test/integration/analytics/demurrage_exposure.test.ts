import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule, lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const shows = (table: string, asOf = AS_OF) =>
  expectRows(scene, 'demurrage_exposure', { asOf, rest: 'order by container_id' }, table)

const container = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_terminal_id: 't1',
  equipment_type: 'dry',
  equipment_length: 40,
  pod_timezone: 'America/Los_Angeles',
  pod_discharged_at: '2026-03-09T10:00:00Z',
  ...more,
})

/** Containers with a last free day of March. */
async function insertBoxes(day: number, ...boxes: readonly ReturnType<typeof container>[]) {
  await insertKnown(scene, 'containers', boxes)
  const on = `2026-03-${String(day).padStart(2, '0')}`
  await insertKnown(
    scene,
    'container_import_deadlines',
    boxes.map(({ container_id }) => lastFreeDay(container_id, 'service', on)),
  )
}

async function insertOverdue(day: number, more: object = {}): Promise<void> {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertBoxes(day, container('c1', more))
}

/** A rule of the terminal, without free days of its own. */
const rule = (rule_name: string, rates: Readonly<Record<number, string>>, more: object = {}) =>
  insertRule(scene, { charge: 'demurrage', terminal: 't1', rule_name, ...more }, rates)

const lists = (...fees: readonly Record<string, unknown>[]) =>
  insertKnown(scene, 'container_fees', fees)

it('shows every column of a container past its last free day', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertOverdue(13)
  await lists(listedFee('c1', 'demurrage', '700'), listedFee('c1', 'exam', '120.50'))
  await lists(listedFee('c1', 'total', '820.50'))
  // 14, 15, 16, 17 March are days 1 to 4: the first lacks a rate, two are at 100, one is at 150.
  await rule('rule', { 2: '100', 4: '150' })
  const rest = 'order by container_id'
  expect(await scene.read('demurrage_exposure', { asOf: AS_OF, rest })).toMatchSnapshot()
})

it('counts the day after the last free day as day 1, by the calendar at the place, and stops on the day it goes', async () => {
  // The last free day itself, the day after, and the 8th of March with its 23 hours between.
  await insertBoxes(17, container('c1'))
  await insertBoxes(16, container('c2'))
  const out = { c3: '09T06:59', c4: '09T07:00', c5: '07T20:00' }
  for (const [id, time] of Object.entries(out)) {
    await insertBoxes(7, container(id, { pod_full_out_at: `2026-03-${time}:00Z` }))
  }
  await shows(`
    container_id | state    | days_over | out_on
    c2           | overdue  | 1         | -
    c3           | out_late | 1         | 2026-03-08
    c4           | out_late | 2         | 2026-03-09`)
})

it('never adds a total to its parts, nor two currencies', { tags: ['N4', 'FE5'] }, async () => {
  await insertOverdue(13)
  await insertBoxes(13, ...['c2', 'c3', 'c4', 'c5'].map((id) => container(id)))
  await lists(listedFee('c1', 'total', '500'))
  await lists(listedFee('c2', 'demurrage', '300'), listedFee('c2', 'total', '900'))
  await lists(listedFee('c2', 'demurrage', '80', 'CAD'), listedFee('c3', 'other', '55.5', null))
  await lists(listedFee('c5', 'demurrage', '0'))
  await shows(`
    container_id | fees_by_currency | fee_amount | fee_currency_code
    c1           | USD 500          | 500        | USD
    c2           | CAD 80, USD 900  | -          | -
    c3           | local 55.5       | 55.5       | local
    c4           | -                | -          | -
    c5           | -                | -          | -`)
})

it('takes a listed fee of 0 for one that was not calculated', { tags: ['JA10'] }, async () => {
  await insertOverdue(13)
  await lists(listedFee('c1', 'demurrage', '0'), listedFee('c1', 'exam', '0.00', 'CAD'))
  await rule('rule', { 1: '100' })
  const overdue = { asOf: AS_OF, rest: `where exception = 'overdue'` }
  await shows(`
    fees_by_currency | fee_amount | fees_unreadable | estimate_amount
    -                | -          | 0               | 400`)
  await expectRows(scene, 'attention', overdue, 'cost_amount | cost_currency_code\n400 | USD')
  // Beside an amount it changes neither the sum nor its currency.
  await lists(listedFee('c1', 'storage', '30'))
  await shows(`
    fees_by_currency | fee_amount | fees_unreadable | estimate_amount
    USD 30           | 30         | 0               | 400`)
  await expectRows(scene, 'attention', overdue, 'cost_amount | cost_currency_code\n30 | USD')
})

it('drops no fee and counts none twice', { tags: ['FE5'] }, async () => {
  await insertOverdue(13)
  await insertBoxes(13, ...['c2', 'c3', 'c4', 'c5', 'c6'].map((id) => container(id)))
  // A line beside a total that contains more.
  await lists(listedFee('c1', 'demurrage', '20'), listedFee('c1', 'total', '500'))
  // A total without a currency sums the only currency there is.
  await lists(listedFee('c2', 'demurrage', '100'), listedFee('c2', 'total', '100', null))
  // An amount that could not be read.
  await lists(listedFee('c3', 'exam', null), listedFee('c3', 'demurrage', '40'))
  await lists(listedFee('c4', 'exam', null))
  // Two currencies: nobody knows whose the total is.
  await lists(listedFee('c5', 'demurrage', '10'), listedFee('c5', 'demurrage', '20', 'CAD'))
  await lists(listedFee('c5', 'total', '30', null), listedFee('c6', 'total', '70', null))
  await shows(`
    container_id | fees_by_currency | is_total_different | fees_unreadable
    c1           | USD 500          | true               | 0
    c2           | USD 100          | false              | 0
    c3           | USD 40           | false              | 1
    c4           | -                | false              | 1
    c5           | CAD 20, USD 10   | true               | 0
    c6           | local 70         | false              | 0`)
})

it('has null amounts for containers that are no longer tracked', { tags: ['FE5'] }, async () => {
  await insertOverdue(13)
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  await insertBoxes(13, container('c2', { shipment_id: 'stopped' }))
  await lists(listedFee('c2', 'demurrage', '700'))
  await rule('rule', { 1: '100' })
  await shows(`
    container_id | state   | days_over | fees_by_currency | fee_amount | estimate_amount
    c1           | overdue | 4         | -                | -          | 400
    c2           | unknown | -         | USD 700          | -          | -`)
})

it('takes the rule that names most of terminal, line, place and equipment', async () => {
  await insertOverdue(13, { equipment_type: 'reefer' })
  const maersk = { shipping_line_scac: 'MAEU' }
  const narrow = { ...maersk, equipment_type: 'reefer', equipment_length: 40 }
  await rule('terminal', { 1: '100' })
  await rule('terminal and line', { 1: '200' }, maersk)
  await rule('and equipment', { 1: '300' }, { ...maersk, equipment_type: 'reefer' })
  // As many, yet without the terminal.
  await rule('line and length', { 1: '9000' }, { ...narrow, terminal: null })
  // Of others: terminal, line, equipment, time. The clock started on 9 March.
  await rule('other terminal', { 1: '1' }, { ...narrow, terminal: 't2' })
  await rule('other line', { 1: '1' }, { ...narrow, shipping_line_scac: 'MSCU' })
  await rule('other equipment', { 1: '1' }, { ...narrow, equipment_type: 'dry' })
  await rule('over', { 1: '1' }, { ...narrow, valid_to: '2026-03-08' })
  await rule('to come', { 1: '1' }, { ...narrow, valid_from: '2026-03-10' })
  await shows('days_over | estimate_amount | days_without_rate\n4 | 1200 | 0')
})

it('keeps estimates of several currencies apart, and has none without a rule', async () => {
  await insertOverdue(15)
  await insertBoxes(15, container('c2', { pod_terminal_id: null }))
  await rule('storage', { 1: '100.25' }, { charge: 'storage' })
  await rule('demurrage', { 1: '80' }, { currency_code: 'CAD' })
  await shows(`
    estimates_by_currency | estimate_amount | estimate_currency_code | days_without_rate
    CAD 160, USD 200.5    | -               | -                      | 0
    -                     | -               | -                      | -`)
})

it('shows the fees that were known at an instant', async () => {
  await insertOverdue(13)
  const interval = { container_id: 'c1', fee_key: 'a', type: 'demurrage', currency_code: 'USD' }
  const [first, second] = ['2026-03-14T08:00:00Z', '2026-03-15T08:00:00Z']
  await scene.insert('container_fee_history', [
    { ...interval, amount: '100', valid_from: first, valid_to: second },
    { ...interval, amount: '200', valid_from: second },
  ])
  const columns = 'container_id | days_over | fee_amount'
  await shows(columns, '2026-03-14T06:30:00Z')
  await shows(`${columns}\nc1 | 1 | 100`, '2026-03-14T20:00:00Z')
  await shows(`${columns}\nc1 | 2 | 200`, '2026-03-15T20:00:00Z')
  await shows('container_id | fee_amount\nc1 | -', '')
})

it('counts the fees at the ramp, else those of the port', { tags: ['FE2', 'JA2'] }, async () => {
  await insertOverdue(13)
  const atRamp = {
    final_destination_timezone: 'America/Chicago',
    pod_rail_departed_at: '2026-03-10T10:00:00Z',
    ind_ata_at: '2026-03-12T10:00:00Z',
  }
  await insertKnown(scene, 'containers', [container('c2', atRamp), container('c3', atRamp)])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['c2', 'c3'].map((id) => lastFreeDay(id, 'rail', '2026-03-14', { place: 'ramp' })),
  )
  const there = { fee_key: 'ramp', place: 'ramp' }
  await lists(listedFee('c1', 'demurrage', '100'), { ...listedFee('c1', 'exam', '7'), ...there })
  await lists(
    listedFee('c2', 'demurrage', '900', 'CAD'),
    { ...listedFee('c2', 'total', '75', null), ...there },
    listedFee('c3', 'demurrage', '900', 'CAD'),
    // Listed before it is calculated.
    { ...listedFee('c3', 'total', '0', null), ...there },
  )
  await shows(`
    container_id | place | fees_by_currency
    c1           | port  | USD 100
    c2           | ramp  | local 75
    c3           | ramp  | CAD 900`)
})

it('says that a fee is below zero, and takes it into the sum as it is listed', async () => {
  await insertOverdue(13)
  await lists(listedFee('c1', 'demurrage', '500'), listedFee('c1', 'credit', '-200'))
  await shows('fee_amount | fees_negative | fees_unreadable\n300 | 1 | 0')
})
