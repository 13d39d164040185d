import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const ZONE = 'America/Los_Angeles'
/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const SHOWN = [
  'container_id',
  'place',
  'charge',
  'state',
  'days_left',
  'days_over',
  'cost_amount',
  'rule_amount',
  'next_day_amount',
  'next_7_days_amount',
  'next_14_days_amount',
  'currency_code',
  'source',
] as const

/** Rows in a fixed order, each as the list of its values. */
async function read(columns: readonly string[] = SHOWN, asOf = AS_OF): Promise<unknown[][]> {
  const rest = 'order by container_id, place, charge, currency_code'
  const rows = await scene.read('costs', { asOf, columns, rest })
  return rows.map((row) => Object.values(row))
}

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

/** Last free day that somebody says: `_terminal`, `_line`, `_rail`, or nobody. */
const says = (container_id: string, whose: string, local_date: string, more: object = {}) => ({
  container_id,
  kind: `pickup_lfd${whose}`,
  local_date,
  deadline_at: `${local_date}T19:00:00Z`,
  time_zone: ZONE,
  ...more,
})

const fee = (container_id: string, type: string, amount: string, currency_code = 'USD') => ({
  container_id,
  fee_key: `${type} ${currency_code}`,
  type,
  amount,
  currency_code,
  is_total: type === 'total',
})

/** A rule of four free days from the discharge on, with tiers of `[from_day, daily_rate]`. */
async function insertRule(
  charge: string,
  tiers: readonly (readonly [number, string])[],
  more: object = {},
): Promise<void> {
  const starts_with = charge === 'detention' ? 'gate_out' : 'discharge'
  const rule = { rule_name: charge, charge, starts_with, free_days: 4, currency_code: 'USD' }
  const { rule_name } = { ...rule, ...more }
  await scene.insertInto('analytics', 'free_time_rules', [{ ...rule, ...more }])
  await scene.insertInto(
    'analytics',
    'free_time_tiers',
    tiers.map(([from_day, daily_rate]) => ({ rule_name, from_day, daily_rate })),
  )
}

async function insertBoxes(...boxes: readonly object[]): Promise<void> {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertKnown(scene, 'containers', boxes as Record<string, unknown>[])
}

it('shows every column of a charge', async () => {
  await insertBoxes(container('c1'))
  await insertKnown(scene, 'container_import_deadlines', [says('c1', '_terminal', '2026-03-13')])
  // 14 to 17 March are days 1 to 4: the first lacks a rate.
  await insertRule('storage', [
    [2, '100'],
    [4, '150'],
  ])
  expect(await scene.read('costs', { asOf: AS_OF })).toMatchSnapshot()
})

it('has a row for each clock of a charge, each from its own day', async () => {
  await insertBoxes(
    container('c1'),
    // Out on the 11th, so free to the 15th.
    container('c2', { pod_full_out_at: '2026-03-11T20:00:00Z' }),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '_terminal', '2026-03-12'),
    says('c1', '_line', '2026-03-15'),
  ])
  await insertRule('storage', [[1, '40']])
  await insertRule('demurrage', [
    [1, '100'],
    [4, '150'],
  ])
  await insertRule('detention', [[1, '120']])
  // A word of its own, in a currency of its own: free to the 13th.
  await insertRule('plug_in', [[1, '9']], { currency_code: 'CAD' })
  expect(await read()).toEqual([
    // Days 3 and 4 are left of the second one's way: 100, then 150.
    [
      'c1',
      'port',
      'demurrage',
      'overdue',
      -2,
      2,
      '200',
      '200',
      '100',
      '1000',
      '2050',
      'USD',
      'rule',
    ],
    ['c1', 'port', 'plug_in', 'overdue', -4, 4, '36', '36', '9', '63', '126', 'CAD', 'rule'],
    ['c1', 'port', 'storage', 'overdue', -5, 5, '200', '200', '40', '280', '560', 'USD', 'rule'],
    ['c2', 'out', 'detention', 'overdue', -2, 2, '240', '240', '120', '840', '1680', 'USD', 'rule'],
  ])
})

it('shows a clock that ended late and none that ended in time; nothing more is added', async () => {
  await insertBoxes(
    container('late', {
      pod_full_out_at: '2026-03-15T20:00:00Z',
      empty_terminated_at: '2026-03-16T20:00:00Z',
    }),
    container('in time', {
      pod_full_out_at: '2026-03-13T20:00:00Z',
      empty_terminated_at: '2026-03-17T20:00:00Z',
    }),
    container('late empty', {
      pod_full_out_at: '2026-03-10T20:00:00Z',
      empty_terminated_at: '2026-03-17T20:00:00Z',
    }),
    container('without a rule', {
      shipment_id: null,
      pod_terminal_id: null,
      pod_full_out_at: '2026-03-15T20:00:00Z',
    }),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    says('without a rule', '_terminal', '2026-03-13'),
  ])
  await insertRule('demurrage', [[1, '100']], { shipping_line_scac: 'MAEU' })
  await insertRule('detention', [[1, '120']], { shipping_line_scac: 'MAEU' })
  const columns = [...SHOWN, 'last_free_on', 'last_free_source', 'ended_on']
  const [late, lateEmpty, without] = await read(columns)
  const end = ['0', '0', '0', 'USD', 'rule']
  expect([late, lateEmpty]).toEqual([
    ...[
      ['late', 'port', 'demurrage', 'ended_late', null, 2, '200', '200', ...end],
      ['late empty', 'out', 'detention', 'ended_late', null, 3, '360', '360', ...end],
    ].map((row, at) => [
      ...row,
      ...[
        ['2026-03-13', 'rule', '2026-03-15'],
        ['2026-03-14', 'rule', '2026-03-17'],
      ][at]!,
    ]),
  ])
  // Not zero: nobody knows the cost.
  expect(without).toEqual([
    ...['without a rule', 'port', 'storage', 'ended_late', null, 2],
    ...[null, null, null, null, null, null, null],
    ...['2026-03-13', 'terminal', '2026-03-15'],
  ])
  expect(await read()).toHaveLength(3)
})

it('has a row before the day is over only with a rule', async () => {
  await insertBoxes(
    ...['soon', 'today', 'none'].map((id) => container(id)),
    container('no rule', { shipment_id: null }),
    container('no rule today', { shipment_id: null }),
    container('no rule over', { shipment_id: null }),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    says('soon', '_line', '2026-03-19'),
    says('today', '_line', '2026-03-17'),
    says('no rule', '_line', '2026-03-19'),
    says('no rule today', '_line', '2026-03-17'),
    says('no rule over', '_line', '2026-03-16'),
  ])
  await insertRule('demurrage', [[1, '100']], { shipping_line_scac: 'MAEU' })
  const columns = ['container_id', 'state', 'days_left', 'days_over', 'cost_amount', 'rule_amount']
  const next = ['next_day_amount', 'next_7_days_amount', 'next_14_days_amount', 'source']
  expect(await read([...columns, ...next])).toEqual([
    ['no rule over', 'overdue', -1, 1, null, null, null, null, null, null],
    // Its day is that of the rule, the 13th.
    ['none', 'overdue', -4, 4, '400', '400', '100', '700', '1400', 'rule'],
    ['soon', 'upcoming', 2, 0, '0', '0', '0', '500', '1200', 'rule'],
    ['today', 'due_today', 0, 0, '0', '0', '100', '700', '1400', 'rule'],
  ])
})

it('adds what has no rate to nothing: the amount is not known', async () => {
  await insertBoxes(container('c1'))
  await insertRule('demurrage', [[6, '100']])
  const columns = ['cost_amount', 'rule_amount', 'days_over', 'days_without_rate', 'source']
  expect(await read(columns)).toEqual([[null, null, 4, 4, 'rule']])
})

it('counts listed fees in place of storage and demurrage alone', { tags: ['JA6'] }, async () => {
  await insertBoxes(container('c1'), container('c2'), container('c3'))
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '_terminal', '2026-03-15'),
    // Not over its day: the fee is not one of a late container.
    says('c2', '_terminal', '2026-03-18'),
    says('c2', '_line', '2026-03-18'),
    // No rule for it, but fees of any kind.
    says('c3', '_terminal', '2026-03-15'),
  ])
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '700'),
    fee('c1', 'exam', '20.5'),
    fee('c2', 'exam', '30'),
    fee('c3', 'exam', '55'),
    // Listed before it is calculated.
    fee('c3', 'demurrage', '0', 'CAD'),
  ])
  await insertRule('storage', [[1, '40']])
  await insertRule('demurrage', [[1, '100']], { ref: 'of c1 and c2' })
  await insertRule('plug_in', [[1, '9']], { ref: 'of c1 and c2' })
  for (const table of ['containers', 'container_history']) {
    await scene.query(`update tracking.${table} set ref_numbers = '{of c1 and c2}'
      where container_id in ('c1', 'c2')`)
  }
  expect(await read()).toEqual([
    // The line reports no day: it is that of the rule, the 13th.
    [
      'c1',
      'port',
      'demurrage',
      'overdue',
      -4,
      4,
      null,
      '400',
      '100',
      '700',
      '1400',
      'USD',
      'listed',
    ],
    [
      'c1',
      'port',
      'listed fees',
      'overdue',
      -4,
      4,
      '720.5',
      null,
      null,
      null,
      null,
      'USD',
      'listed',
    ],
    ['c1', 'port', 'plug_in', 'overdue', -4, 4, '36', '36', '9', '63', '126', 'USD', 'rule'],
    ['c1', 'port', 'storage', 'overdue', -2, 2, null, '80', '40', '280', '560', 'USD', 'listed'],
    ['c2', 'port', 'demurrage', 'upcoming', 1, 0, '0', '0', '0', '600', '1300', 'USD', 'rule'],
    ['c2', 'port', 'plug_in', 'overdue', -4, 4, '36', '36', '9', '63', '126', 'USD', 'rule'],
    ['c2', 'port', 'storage', 'upcoming', 1, 0, '0', '0', '0', '240', '520', 'USD', 'rule'],
    ['c3', 'port', 'listed fees', 'overdue', -2, 2, '55', null, null, null, null, 'USD', 'listed'],
    ['c3', 'port', 'storage', 'overdue', -2, 2, null, '80', '40', '280', '560', 'USD', 'listed'],
  ])
})

it('has a row for each currency of listed fees, and adds none', { tags: ['N4'] }, async () => {
  await insertBoxes(container('c1'))
  await insertKnown(scene, 'container_import_deadlines', [says('c1', '_terminal', '2026-03-13')])
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'demurrage', '700'),
    fee('c1', 'exam', '80', 'CAD'),
  ])
  await insertRule('storage', [[1, '40']], { currency_code: 'CAD' })
  const columns = ['charge', 'currency_code', 'cost_amount', 'rule_amount', 'source']
  expect(await read(columns)).toEqual([
    ['listed fees', 'CAD', '80', null, 'listed'],
    ['listed fees', 'USD', '700', null, 'listed'],
    ['storage', 'CAD', null, '160', 'listed'],
  ])
})

it('keeps listed fees of a container that went out late, and adds nothing to them', async () => {
  await insertBoxes(container('c1', { pod_full_out_at: '2026-03-15T20:00:00Z' }))
  await insertKnown(scene, 'container_import_deadlines', [says('c1', '_terminal', '2026-03-13')])
  await insertKnown(scene, 'container_fees', [fee('c1', 'demurrage', '700')])
  expect(await read([...SHOWN.slice(2), 'last_free_on', 'last_free_source', 'ended_on'])).toEqual([
    [
      ...['listed fees', 'ended_late', null, 2, '700', null, null, null, null, 'USD', 'listed'],
      ...['2026-03-13', 'terminal', '2026-03-15'],
    ],
    [
      ...['storage', 'ended_late', null, 2, null, null, null, null, null, null, null],
      ...['2026-03-13', 'terminal', '2026-03-15'],
    ],
  ])
})

it('says not known of days that neither a rule nor a fee prices', { tags: ['FE5'] }, async () => {
  await insertBoxes(
    ...['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => container(id)),
    container('c6', { pod_full_out_at: '2026-03-15T20:00:00Z' }),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '', '2026-03-13'),
    // Fees are listed, the terminal says a day, the line does.
    says('c2', '', '2026-03-13'),
    says('c3', '_terminal', '2026-03-13'),
    says('c4', '_line', '2026-03-13'),
    // Not over.
    says('c5', '', '2026-03-17'),
    says('c6', '', '2026-03-13'),
  ])
  await insertKnown(scene, 'container_fees', [fee('c2', 'exam', '20')])
  const columns = [...SHOWN, 'last_free_on', 'last_free_source', 'ended_on', 'rule_name'] as const
  const rows = await read(columns)
  const noAmounts = [null, null, null, null, null, null, null]
  expect(rows.filter(([, , charge]) => charge === 'not known')).toEqual([
    [
      ...['c1', 'port', 'not known', 'overdue', -4, 4, ...noAmounts],
      ...['2026-03-13', 'service', null, null],
    ],
    [
      ...['c6', 'port', 'not known', 'ended_late', null, 2, ...noAmounts],
      ...['2026-03-13', 'service', '2026-03-15', null],
    ],
  ])
  expect(rows.map(([id, , charge]) => [id, charge])).toEqual([
    ['c1', 'not known'],
    ['c2', 'listed fees'],
    ['c3', 'storage'],
    ['c4', 'demurrage'],
    ['c6', 'not known'],
  ])
  // With a rule there is a charge.
  await insertRule('storage', [[1, '40']])
  expect((await read(['container_id', 'charge'])).map((row) => row.join(' '))).toEqual([
    'c1 storage',
    'c2 listed fees',
    'c2 storage',
    'c3 storage',
    'c4 demurrage',
    'c4 storage',
    'c5 storage',
    'c6 storage',
  ])
})

it('says not known beside a charge of another kind', { tags: ['FE5'] }, async () => {
  await insertBoxes(container('c1'))
  await insertKnown(scene, 'container_import_deadlines', [says('c1', '', '2026-03-13')])
  await insertRule('plug_in', [[1, '9']])
  expect(await read(['charge', 'last_free_source', 'cost_amount'])).toEqual([
    ['not known', 'service', null],
    ['plug_in', 'rule', '36'],
  ])
})

it('is known where a rule gives more days than the service says', { tags: ['FE5'] }, async () => {
  await insertBoxes(container('c1'))
  await insertKnown(scene, 'container_import_deadlines', [says('c1', '', '2026-03-13')])
  await insertRule('storage', [[1, '40']], { free_days: 10 })
  expect(await read(['charge', 'state', 'cost_amount', 'last_free_on'])).toEqual([
    ['storage', 'upcoming', '0', '2026-03-19'],
  ])
})

it('has no amount where the end would be told by nobody', { tags: ['FE5'] }, async () => {
  const stopped = { shipment_id: 'stopped' }
  await insertBoxes(
    container('c1', stopped),
    container('c2', { ...stopped, pod_terminal_id: null }),
    // Not over when it was asked for the last time, and a rule alone is none.
    container('c3', stopped),
    container('c4', { ...stopped, pod_full_out_at: '2026-03-10T20:00:00Z' }),
  )
  await insertKnown(scene, 'shipments', [
    { ...stopped, line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '_terminal', '2026-03-13'),
    says('c2', '', '2026-03-13'),
    says('c3', '_terminal', '2026-03-18'),
  ])
  await insertKnown(scene, 'container_fees', [fee('c1', 'demurrage', '700')])
  await insertRule('storage', [[1, '40']], { terminal: 'WBCT' })
  const nothing = Array.from({ length: 7 }, () => null)
  const columns = [...SHOWN.slice(0, 11), 'last_free_on', 'rule_name']
  expect(await read(columns)).toEqual([
    ['c1', 'port', 'listed fees', 'unknown', ...nothing, '2026-03-13', null],
    ['c1', 'port', 'storage', 'unknown', ...nothing, '2026-03-13', 'storage'],
    ['c2', 'port', 'not known', 'unknown', ...nothing, '2026-03-13', null],
  ])
})

it('has one row of the line where its clock is merged', { tags: ['JA15'] }, async () => {
  await insertBoxes(
    container('c1'),
    container('c2', { pod_full_out_at: '2026-03-12T20:00:00Z' }),
    container('c3', {
      pod_full_out_at: '2026-03-12T20:00:00Z',
      empty_terminated_at: '2026-03-15T20:00:00Z',
    }),
  )
  await insertRule('demurrage', [[1, '100']], { until: 'empty_return' })
  await insertRule('detention', [[1, '999']])
  expect(await read()).toEqual([
    [
      'c1',
      'port',
      'demurrage',
      'overdue',
      -4,
      4,
      '400',
      '400',
      '100',
      '700',
      '1400',
      'USD',
      'rule',
    ],
    [
      'c2',
      'port',
      'demurrage',
      'overdue',
      -4,
      4,
      '400',
      '400',
      '100',
      '700',
      '1400',
      'USD',
      'rule',
    ],
    ['c3', 'port', 'demurrage', 'ended_late', null, 2, '200', '200', '0', '0', '0', 'USD', 'rule'],
  ])
})

it('counts listed fees for a merged clock that ended early', { tags: ['JA15'] }, async () => {
  await insertBoxes(
    container('c1', { pod_full_out_at: '2026-03-15T20:00:00Z' }),
    container('c2', { pod_full_out_at: '2026-03-12T20:00:00Z' }),
    container('c3', { pod_full_out_at: '2026-03-12T20:00:00Z' }),
  )
  // Late by the terminal's day, in time by the line's.
  await insertKnown(scene, 'container_import_deadlines', [says('c3', '_terminal', '2026-03-11')])
  await insertKnown(
    scene,
    'container_fees',
    ['c1', 'c2', 'c3'].map((id) => fee(id, 'exam', '70')),
  )
  await insertRule('demurrage', [[1, '100']], { until: 'empty_return' })
  const columns = ['container_id', 'charge', 'state', 'cost_amount', 'rule_amount', 'source']
  expect(await read(columns)).toEqual([
    ['c1', 'demurrage', 'overdue', null, '400', 'listed'],
    ['c1', 'listed fees', 'ended_late', '70', null, 'listed'],
    // Out in time: the fees are not for being late, and the empty is late.
    ['c2', 'demurrage', 'overdue', '400', '400', 'rule'],
    ['c3', 'demurrage', 'overdue', '400', '400', 'rule'],
    ['c3', 'listed fees', 'ended_late', '70', null, 'listed'],
    ['c3', 'storage', 'ended_late', null, null, null],
  ])
})

it('counts the stay at the ramp by itself, with the fees there', { tags: ['JA2'] }, async () => {
  const inland = {
    final_destination_timezone: 'America/Chicago',
    pod_rail_departed_at: '2026-03-10T20:00:00Z',
    ind_ata_at: '2026-03-12T20:00:00Z',
  }
  await insertBoxes(
    container('c1', inland),
    container('c2', inland),
    container('c3', { ...inland, final_destination_full_out_at: '2026-03-13T20:00:00Z' }),
    container('c4', inland),
    container('c5'),
  )
  const rail = { place: 'ramp', time_zone: 'America/Chicago' }
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '_terminal', '2026-03-09'),
    says('c1', '_rail', '2026-03-14', rail),
    says('c2', '_rail', '2026-03-14', rail),
    says('c4', '_terminal', '2026-03-09'),
    says('c4', '_rail', '2026-03-14', rail),
  ])
  await insertKnown(scene, 'container_fees', [
    { ...fee('c2', 'storage', '75'), fee_key: 'ramp', place: 'ramp' },
    // Of the port's list, while it is at the ramp; and of the ramp's, while it is at the port.
    fee('c4', 'storage', '33'),
    { ...fee('c5', 'storage', '22'), fee_key: 'ramp', place: 'ramp' },
  ])
  await insertRule('storage', [[1, '40']])
  await insertRule('detention', [[1, '120']])
  const columns = ['container_id', 'place', 'charge', 'state', 'days_over', 'cost_amount']
  // 01:30 of the 18th in Chicago. The port's clocks of c2 and c3 ended in time.
  expect(await read([...columns, 'rule_amount', 'last_free_on'])).toEqual([
    ['c1', 'port', 'storage', 'ended_late', 1, '40', '40', '2026-03-09'],
    ['c1', 'ramp', 'storage', 'overdue', 4, '160', '160', '2026-03-14'],
    ['c2', 'ramp', 'listed fees', 'overdue', 4, '75', null, '2026-03-14'],
    ['c2', 'ramp', 'storage', 'overdue', 4, null, '160', '2026-03-14'],
    ['c3', 'out', 'detention', 'overdue', 1, '120', '120', '2026-03-17'],
    ['c4', 'port', 'storage', 'ended_late', 1, '40', '40', '2026-03-09'],
    ['c4', 'ramp', 'listed fees', 'overdue', 4, '33', null, '2026-03-14'],
    ['c4', 'ramp', 'storage', 'overdue', 4, null, '160', '2026-03-14'],
    ['c5', 'port', 'storage', 'overdue', 4, '160', '160', '2026-03-13'],
  ])
})

it('counts by the rule where no fee has an amount', { tags: ['FE5'] }, async () => {
  await insertBoxes(container('c1'), container('c2'))
  await insertKnown(scene, 'container_fees', [
    fee('c1', 'exam', '0'),
    { ...fee('c2', 'exam', '0'), amount: null },
  ])
  await insertRule('storage', [[1, '40']])
  expect(await read(['container_id', 'charge', 'cost_amount', 'source'])).toEqual([
    ['c1', 'storage', '160', 'rule'],
    ['c2', 'storage', '160', 'rule'],
  ])
})

it('costs as much on a day to come as it says now, if nothing moves', async () => {
  await insertBoxes(
    ...['c1', 'c2', 'c3'].map((id) => container(id)),
    container('c4', { pod_full_out_at: '2026-03-12T20:00:00Z' }),
    container('c5', { pod_full_out_at: '2026-03-15T20:00:00Z' }),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    says('c1', '_terminal', '2026-03-12'),
    says('c2', '_terminal', '2026-03-20'),
    says('c3', '_line', '2026-04-20'),
  ])
  await insertKnown(scene, 'container_fees', [fee('c1', 'demurrage', '700')])
  await insertRule('storage', [
    [1, '40'],
    [6, '90'],
  ])
  await insertRule('demurrage', [[1, '100']], { cap: '900', counts: 'working' })
  await insertRule('detention', [[1, '120']], { charged: 'working', minimum: '200' })
  const columns = ['container_id', 'charge', 'rule_amount']
  const next = [
    [1, 'next_day_amount'],
    [7, 'next_7_days_amount'],
    [14, 'next_14_days_amount'],
  ] as const
  const ofRule = (rows: unknown[][]) => rows.filter(([, charge]) => charge !== 'listed fees')
  for (const [days, column] of next) {
    const now = ofRule(await read([...columns, column]))
    const day = String(18 + days).padStart(2, '0')
    const then = day > '31' ? '2026-04-01T06:30:00Z' : `2026-03-${day}T06:30:00Z`
    const later = ofRule(await read(columns, then))
    const sums = now.map(([id, charge, soFar, more]) => [id, charge, String(+soFar! + +more!)])
    expect(later, column).toEqual(sums)
    expect(later.length).toBeGreaterThan(7)
  }
})
