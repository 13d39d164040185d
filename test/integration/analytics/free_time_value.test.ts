import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertBoxes, insertRule, type Box, type Rates } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()

const NOW = '2026-12-24T20:00:00Z'
const ZONE = 'America/Los_Angeles'
/** Ten in the morning of a day of November, Los Angeles. */
const at = (date: number) => new Date(Date.UTC(2026, 10, date, 18)).toISOString()
const dateOf = (date: number) => at(date).slice(0, 10)

/** 100 for the first three days over, then 150, unless given. */
const rule = (more: object = {}, rates: Rates = { 1: '100', 4: '150' }) => {
  const line = { rule_name: 'line', charge: 'demurrage', place: 'port', free_days: 5 }
  return insertRule(scene, { ...line, ...more }, rates)
}

interface Out extends Omit<Box, 'lastFree'> {
  readonly to: number
  readonly lastFree?: number
}

/** Boxes discharged on the 2nd of November, a Monday. */
const insertOuts = (boxes: readonly Out[]) =>
  insertBoxes(
    scene,
    boxes.map(({ to, lastFree, more, ...box }) => ({
      ...box,
      lastFree: lastFree === undefined ? undefined : dateOf(lastFree),
      more: { pod_discharged_at: at(2), pod_full_out_at: at(to), ...more },
    })),
  )

const VARIANT = ['free_days', 'last_free_on', 'days_over', 'days_without_rate', 'amount']

/** Own, 4, 7 and 10 free days of a rule's charge: last free day of November, days over, amount. */
const variants = (rows: string, where = `rule_name = 'line'`) =>
  scene.expectRows(
    'free_time_variants',
    { asOf: NOW, rest: `where ${where} order by container_id, is_own desc, free_days` },
    `${VARIANT.join(' | ')}\n${rows}`,
  )

it('has each clock that ended with other numbers of free days, with every column', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: null }])
  await rule()
  // Out nine days after the start: four over, 100 + 100 + 100 + 150.
  await insertOuts([{ id: 'A', to: 11, more: { pod_terminal_id: 't1' } }])
  const [own, ...others] = await scene.read('free_time_variants', {
    asOf: NOW,
    rest: 'order by is_own desc, free_days',
  })
  expect(own).toMatchSnapshot()
  expect(others.map((row) => VARIANT.map((name) => row[name]))).toEqual([
    [4, dateOf(6), 5, 0, '600'],
    [7, dateOf(9), 2, 0, '200'],
    [10, dateOf(12), 0, 0, '0'],
  ])
  expect(await scene.read('free_time_value', { asOf: NOW })).toMatchSnapshot()
})

it('leaves all else of the rule as it is: working days, first day, tiers, one merged clock', async () => {
  // The 2nd is day 1; the 11th is a holiday. Free: 2, 3, 4, 5, 6 and no weekend.
  const working = { counts: 'working', charged: 'working', first_day: 1, holiday_calendar: 'us' }
  const merged = { tier_counts: 'start', until: 'empty_return', minimum: '120', cap: '700' }
  await rule({ ...working, ...merged }, { 1: '10', 6: '50', 9: '200' })
  await scene.insertInto('analytics', 'holidays', [{ calendar: 'us', holiday_on: dateOf(11) }])
  await insertOuts([
    // The empty is back on the 18th. Working days since the start: 9 to 13, but the 11th, then
    // 16 to 18: the 6th to the 12th: 9, 10, 12, 13, 16, 17, 18.
    { id: 'A', to: 9, more: { empty_terminated_at: at(18), empty_terminated_timezone: ZONE } },
    { id: 'B', to: 5, more: { empty_terminated_at: at(10), empty_terminated_timezone: ZONE } },
  ])
  // A: days 6, 7, 8 at 50 and 9 to 12 at 200: 950, at most 700; from day 5 on 10 more. From day 8
  // on 850, from day 11 on 400. B: day 6 and 7; day 5 to 7; none.
  await variants(`
    5  | 2026-11-06 | 12 | 0 | 700
    4  | 2026-11-05 | 13 | 0 | 700
    7  | 2026-11-10 | 8  | 0 | 700
    10 | 2026-11-16 | 2  | 0 | 400
    5  | 2026-11-06 | 4  | 0 | 120
    4  | 2026-11-05 | 5  | 0 | 120
    7  | 2026-11-10 | 0  | 0 | 0
    10 | 2026-11-16 | 0  | 0 | 0`)
  const used = { asOf: NOW, rest: 'where is_own order by container_id' }
  await scene.expectRows('free_time_variants', used, 'days_used\n12\n7')
})

it('moves a reported day as the day of the rule moves, and counts from the start without one', async () => {
  await rule()
  // Reported two days later than the rule says, and one earlier.
  await insertOuts([
    { id: 'A', to: 11, lastFree: 9 },
    { id: 'B', to: 11, lastFree: 6 },
  ])
  await rule({ rule_name: 'own', shipping_line_scac: 'ONEY', free_days: null })
  await insertOuts([{ id: 'C', to: 11, lastFree: 5, line: 'ONEY' }])
  await variants(
    `
    5  | 2026-11-09 | 2 | 0 | 200
    4  | 2026-11-08 | 3 | 0 | 300
    7  | 2026-11-11 | 0 | 0 | 0
    10 | 2026-11-14 | 0 | 0 | 0
    5  | 2026-11-06 | 5 | 0 | 600
    4  | 2026-11-05 | 6 | 0 | 750
    7  | 2026-11-08 | 3 | 0 | 300
    10 | 2026-11-11 | 0 | 0 | 0
    -  | 2026-11-05 | 6 | 0 | 750
    4  | 2026-11-06 | 5 | 0 | 600
    7  | 2026-11-09 | 2 | 0 | 200
    10 | 2026-11-12 | 0 | 0 | 0`,
    'true',
  )
})

it('has no number for what has no rate, no rule, no start, no end or no last free day', async () => {
  await rule({}, { 3: '80' })
  await insertOuts([
    { id: 'A', to: 9 },
    { id: 'B', to: 8, line: 'HLCU', more: { pod_discharged_at: null }, lastFree: 6 },
    { id: 'C', to: 8, more: { pod_timezone: 'Mars/Olympus' } },
    { id: 'D', to: 8, more: { pod_full_out_at: null } },
    { id: 'E', to: 8, more: { pod_full_out_at: null, current_status: 'picked_up' } },
    // In the year before, and on the first day that counts.
    { id: 'F', to: 11, more: { pod_full_out_at: '2025-12-24T20:00:00Z' } },
    { id: 'G', to: 11, more: { pod_full_out_at: '2025-12-25T20:00:00Z' } },
  ])
  // Without a start, and out before it.
  const either = `where charge = 'demurrage' and (is_own or free_days = 4) order by container_id, is_own desc`
  const known = `
    container_id | days_used | days_over | days_without_rate | amount
    A            | 7         | 2         | 2                 | -
    A            | 7         | 3         | 2                 | 80
    G            | -         | 0         | 0                 | 0
    G            | -         | 0         | 0                 | 0`
  await scene.expectRows('free_time_variants', { asOf: NOW, rest: either }, known)
  const table = `
    containers | days_over | days_without_rate | amount | four_days_savings_amount
    2          | 2         | 2                 | 0      | -80`
  await scene.expectRows('free_time_value', { asOf: NOW }, table)
})

it('says what was used from ten containers on, by line, terminal, rule and charge', async () => {
  await rule()
  await rule({ rule_name: 'yard', charge: 'storage', free_days: 4 })
  await rule({ rule_name: 'empties', charge: 'detention', place: null })
  // 1 to 10 days.
  const boxes = Array.from({ length: 10 }, (_, n) => ({ id: `A${n}`, to: 3 + n }))
  await insertOuts([...boxes, ...boxes.slice(1).map(({ to }) => ({ id: `B${to}`, to, line: 'X' }))])
  // Five days over at most: 100, 200, 300, 450, 600; of storage 750 too.
  const used = `
    charge    | shipping_line_scac | rule_name | containers | median_days_used | p80_days_used | amount | four_days_amount
    storage   | MAEU               | yard      | 10         | 5.5              | 8.2           | 2400   | 2400
    storage   | X                  | yard      | 9          | -                | -             | 2400   | 2400
    demurrage | MAEU               | line      | 10         | 5.5              | 8.2           | 1650   | 2400
    demurrage | X                  | line      | 9          | -                | -             | 1650   | 2400`
  await scene.expectRows('free_time_value', { asOf: NOW }, used)
})
