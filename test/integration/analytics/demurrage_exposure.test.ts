import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const read = (columns: readonly string[] = [], asOf = AS_OF) =>
  scene.read('demurrage_exposure', { asOf, columns, rest: 'order by container_id' })

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

const deadline = (container_id: string, local_date: string) => ({
  container_id,
  kind: 'pickup_lfd',
  local_date,
  deadline_at: `${local_date}T07:00:00Z`,
  time_zone: 'America/Los_Angeles',
})

const fee = (container_id: string, type: string, amount: string, currency_code: string | null) => ({
  container_id,
  fee_key: `${type} ${String(currency_code)}`,
  type,
  amount,
  currency_code,
  is_total: type === 'total',
})

/** A rule without free days of its own, with tiers of `[from_day, daily_rate]`. */
async function insertRule(
  rule_name: string,
  tiers: readonly (readonly [number, string])[],
  more: object = {},
): Promise<void> {
  const rule = { charge: 'demurrage', terminal: 't1', starts_with: 'discharge', ...more }
  await scene.insertInto('analytics', 'free_time_rules', [
    { rule_name, currency_code: 'USD', ...rule },
  ])
  await scene.insertInto(
    'analytics',
    'free_time_tiers',
    tiers.map(([from_day, daily_rate]) => ({ rule_name, from_day, daily_rate })),
  )
}

async function insertOverdue(local_date: string, more: object = {}): Promise<void> {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertKnown(scene, 'containers', [container('c1', more)])
  await insertKnown(scene, 'container_import_deadlines', [deadline('c1', local_date)])
}

it('shows every column of a container past its last free day', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertOverdue('2026-03-13')
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '700', 'USD'),
    fee('c1', 'exam', '120.50', 'USD'),
    fee('c1', 'total', '820.50', 'USD'),
  ])
  // 14, 15, 16, 17 March are days 1 to 4: the first lacks a rate, two are at 100, one is at 150.
  await insertRule('rule', [
    [2, '100'],
    [4, '150'],
  ])
  expect(await read()).toMatchSnapshot()
})

it('counts the day after the last free day as day 1, by the calendar at the place, and stops on the day it goes', async () => {
  await insertKnown(scene, 'containers', [
    // The last free day itself, the day after, and the 8th of March with its 23 hours between.
    container('c1'),
    container('c2'),
    container('c3', { pod_full_out_at: '2026-03-09T06:59:00Z' }),
    container('c4', { pod_full_out_at: '2026-03-09T07:00:00Z' }),
    container('c5', { pod_full_out_at: '2026-03-07T20:00:00Z' }),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    deadline('c1', '2026-03-17'),
    deadline('c2', '2026-03-16'),
    ...['c3', 'c4', 'c5'].map((id) => deadline(id, '2026-03-07')),
  ])
  expect(await read(['container_id', 'state', 'days_over', 'out_on'])).toEqual([
    { container_id: 'c2', state: 'overdue', days_over: 1, out_on: null },
    { container_id: 'c3', state: 'out_late', days_over: 1, out_on: '2026-03-08' },
    { container_id: 'c4', state: 'out_late', days_over: 2, out_on: '2026-03-09' },
  ])
})

it('never adds a total to its parts, nor two currencies', { tags: ['N4', 'FE5'] }, async () => {
  await insertOverdue('2026-03-13')
  await insertKnown(
    scene,
    'containers',
    ['c2', 'c3', 'c4', 'c5'].map((id) => container(id)),
  )
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['c2', 'c3', 'c4', 'c5'].map((id) => deadline(id, '2026-03-13')),
  )
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'total', '500', 'USD'),
    fee('c2', 'demurrage', '300', 'USD'),
    fee('c2', 'total', '900', 'USD'),
    fee('c2', 'demurrage', '80', 'CAD'),
    fee('c3', 'other', '55.5', null),
    fee('c5', 'demurrage', '0', 'USD'),
  ])
  const columns = ['container_id', 'fees_by_currency', 'fee_amount', 'fee_currency_code']
  expect(await read(columns)).toMatchSnapshot()
})

it('takes a listed fee of 0 for one that was not calculated', { tags: ['JA10'] }, async () => {
  await insertOverdue('2026-03-13')
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '0', 'USD'),
    fee('c1', 'exam', '0.00', 'CAD'),
  ])
  await insertRule('rule', [[1, '100']])
  const ofBoth = async () => [
    await read(['fees_by_currency', 'fee_amount', 'fees_unreadable', 'estimate_amount']),
    await scene.read('attention', {
      asOf: AS_OF,
      columns: ['exception', 'cost_amount', 'cost_currency_code'],
      rest: `where exception = 'overdue'`,
    }),
  ]
  const estimate = { estimate_amount: '400', fees_unreadable: 0 }
  expect(await ofBoth()).toEqual([
    [{ fees_by_currency: null, fee_amount: null, ...estimate }],
    [{ exception: 'overdue', cost_amount: '400', cost_currency_code: 'USD' }],
  ])
  // Beside an amount it changes neither the sum nor its currency.
  await insertKnown(scene, 'container_fees', [fee('c1', 'storage', '30', 'USD')])
  expect(await ofBoth()).toEqual([
    [{ fees_by_currency: { USD: 30 }, fee_amount: '30', ...estimate }],
    [{ exception: 'overdue', cost_amount: '30', cost_currency_code: 'USD' }],
  ])
})

it('drops no fee and counts none twice', { tags: ['FE5'] }, async () => {
  await insertOverdue('2026-03-13')
  const others = ['c2', 'c3', 'c4', 'c5', 'c6']
  await insertKnown(
    scene,
    'containers',
    others.map((id) => container(id)),
  )
  await insertKnown(
    scene,
    'container_import_deadlines',
    others.map((id) => deadline(id, '2026-03-13')),
  )
  await insertKnown(scene, 'container_fees', [
    // A line beside a total that contains more.
    fee('c1', 'demurrage', '20', 'USD'),
    fee('c1', 'total', '500', 'USD'),
    // A total without a currency sums the only currency there is.
    fee('c2', 'demurrage', '100', 'USD'),
    fee('c2', 'total', '100', null),
    // An amount that could not be read.
    { ...fee('c3', 'exam', '0', 'USD'), amount: null },
    fee('c3', 'demurrage', '40', 'USD'),
    { ...fee('c4', 'exam', '0', 'USD'), amount: null },
    // Two currencies: nobody knows whose the total is.
    fee('c5', 'demurrage', '10', 'USD'),
    fee('c5', 'demurrage', '20', 'CAD'),
    fee('c5', 'total', '30', null),
    fee('c6', 'total', '70', null),
  ])
  const columns = ['container_id', 'fees_by_currency', 'is_total_different', 'fees_unreadable']
  const rows = await read(columns)
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['c1', { USD: 500 }, true, 0],
    ['c2', { USD: 100 }, false, 0],
    ['c3', { USD: 40 }, false, 1],
    ['c4', null, false, 1],
    ['c5', { CAD: 20, USD: 10 }, true, 0],
    ['c6', { local: 70 }, false, 0],
  ])
})

it('has null amounts for containers that are no longer tracked', { tags: ['FE5'] }, async () => {
  await insertOverdue('2026-03-13')
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  await insertKnown(scene, 'containers', [container('c2', { shipment_id: 'stopped' })])
  await insertKnown(scene, 'container_import_deadlines', [deadline('c2', '2026-03-13')])
  await insertKnown(scene, 'container_fees', [fee('c2', 'demurrage', '700', 'USD')])
  await insertRule('rule', [[1, '100']])
  const columns = [
    'container_id',
    'state',
    'days_over',
    'fees_by_currency',
    'fee_amount',
    'estimate_amount',
  ]
  const rows = await read(columns)
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['c1', 'overdue', 4, null, null, '400'],
    ['c2', 'unknown', null, { USD: 700 }, null, null],
  ])
})

it('takes the rule that names most of terminal, line, place and equipment', async () => {
  await insertOverdue('2026-03-13', { equipment_type: 'reefer' })
  const maersk = { shipping_line_scac: 'MAEU' }
  const narrow = { ...maersk, equipment_type: 'reefer', equipment_length: 40 }
  await insertRule('terminal', [[1, '100']])
  await insertRule('terminal and line', [[1, '200']], maersk)
  await insertRule('and equipment', [[1, '300']], { ...maersk, equipment_type: 'reefer' })
  // As many, yet without the terminal.
  await insertRule('line and length', [[1, '9000']], { ...narrow, terminal: null })
  // Of others: terminal, line, equipment, time. The clock started on 9 March.
  await insertRule('other terminal', [[1, '1']], { ...narrow, terminal: 't2' })
  await insertRule('other line', [[1, '1']], { ...narrow, shipping_line_scac: 'MSCU' })
  await insertRule('other equipment', [[1, '1']], { ...narrow, equipment_type: 'dry' })
  await insertRule('over', [[1, '1']], { ...narrow, valid_to: '2026-03-08' })
  await insertRule('to come', [[1, '1']], { ...narrow, valid_from: '2026-03-10' })
  const columns = ['days_over', 'estimate_amount', 'days_without_rate']
  expect(await read(columns)).toEqual([
    { days_over: 4, estimate_amount: '1200', days_without_rate: 0 },
  ])
})

it('keeps estimates of several currencies apart, and has none without a rule', async () => {
  await insertOverdue('2026-03-15')
  await insertKnown(scene, 'containers', [container('c2', { pod_terminal_id: null })])
  await insertKnown(scene, 'container_import_deadlines', [deadline('c2', '2026-03-15')])
  await insertRule('storage', [[1, '100.25']], { charge: 'storage' })
  await insertRule('demurrage', [[1, '80']], { currency_code: 'CAD' })
  const columns = [
    'estimates_by_currency',
    'estimate_amount',
    'estimate_currency_code',
    'days_without_rate',
  ]
  expect(await read(columns)).toMatchSnapshot()
})

it('shows the fees that were known at an instant, and leaves tombstoned containers out', async () => {
  await insertOverdue('2026-03-13')
  await scene.insert('containers', [container('c2', { _deleted_at: '2026-03-01T00:00:00Z' })])
  await scene.insert('container_import_deadlines', [
    { ...deadline('c2', '2026-03-13'), is_zone_known: true },
  ])
  const interval = { container_id: 'c1', fee_key: 'a', type: 'demurrage', currency_code: 'USD' }
  await scene.insert('container_fee_history', [
    {
      ...interval,
      amount: '100',
      valid_from: '2026-03-14T08:00:00Z',
      valid_to: '2026-03-15T08:00:00Z',
    },
    { ...interval, amount: '200', valid_from: '2026-03-15T08:00:00Z' },
  ])
  const columns = ['container_id', 'days_over', 'fee_amount']
  expect(await read(columns, '2026-03-14T06:30:00Z')).toEqual([])
  expect(await read(columns, '2026-03-14T20:00:00Z')).toEqual([
    { container_id: 'c1', days_over: 1, fee_amount: '100' },
  ])
  expect(await read(columns, '2026-03-15T20:00:00Z')).toEqual([
    { container_id: 'c1', days_over: 2, fee_amount: '200' },
  ])
  expect(await read(['container_id', 'fee_amount'], '')).toEqual([
    { container_id: 'c1', fee_amount: null },
  ])
})

it('counts the fees at the ramp, else those of the port', { tags: ['FE2', 'JA2'] }, async () => {
  await insertOverdue('2026-03-13')
  const atRamp = {
    final_destination_timezone: 'America/Chicago',
    pod_rail_departed_at: '2026-03-10T10:00:00Z',
    ind_ata_at: '2026-03-12T10:00:00Z',
  }
  await insertKnown(scene, 'containers', [container('c2', atRamp), container('c3', atRamp)])
  const ofRail = { kind: 'pickup_lfd_rail', place: 'ramp' }
  await insertKnown(scene, 'container_import_deadlines', [
    { ...deadline('c2', '2026-03-14'), ...ofRail },
    { ...deadline('c3', '2026-03-14'), ...ofRail },
  ])
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '100', 'USD'),
    { ...fee('c1', 'exam', '7', 'USD'), place: 'ramp' },
    fee('c2', 'demurrage', '900', 'CAD'),
    { ...fee('c2', 'total', '75', null), fee_key: 'ramp', place: 'ramp' },
    fee('c3', 'demurrage', '900', 'CAD'),
    // Listed before it is calculated.
    { ...fee('c3', 'total', '0', null), fee_key: 'ramp', place: 'ramp' },
  ])
  expect(await read(['container_id', 'place', 'fees_by_currency'])).toEqual([
    { container_id: 'c1', place: 'port', fees_by_currency: { USD: 100 } },
    { container_id: 'c2', place: 'ramp', fees_by_currency: { local: 75 } },
    { container_id: 'c3', place: 'ramp', fees_by_currency: { CAD: 900 } },
  ])
})

it('says that a fee is below zero, and takes it into the sum as it is listed', async () => {
  await insertOverdue('2026-03-13')
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '500', 'USD'),
    fee('c1', 'credit', '-200', 'USD'),
  ])
  expect(await read(['fee_amount', 'fees_negative', 'fees_unreadable'])).toEqual([
    { fee_amount: '300', fees_negative: 1, fees_unreadable: 0 },
  ])
})
