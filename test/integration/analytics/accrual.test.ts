import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertBoxes, insertRule, type Box } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()

const NOW = '2026-12-24T20:00:00Z'
/** Ten in the morning of a day of October to December in Los Angeles. */
const at = (month: number, date: number) =>
  new Date(Date.UTC(2026, month - 1, date, 18)).toISOString()
const dateOf = (month: number, date: number) => at(month, date).slice(0, 10)

type Line = Readonly<Record<string, unknown>>

/** A line of an invoice for demurrage of the box `A`, by MAEU. */
const line = (line_number: number, more: Line): Line => ({
  invoice_number: 'I',
  line_number,
  issuer: 'MAEU',
  charge: 'demurrage',
  container_number: 'A',
  charged_from_on: dateOf(10, 30),
  charged_to_on: dateOf(11, 1),
  amount: '300',
  currency_code: 'USD',
  ...more,
})
const insertLines = (lines: readonly Line[]) => scene.insertInto('analytics', 'dd_invoices', lines)

/** Boxes that are free to 28 October by the line, and left on 2 November: five days over. */
async function insertOuts(boxes: readonly Box[]): Promise<void> {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: null }])
  const out = { pod_discharged_at: at(10, 20), pod_full_out_at: at(11, 2), pod_terminal_id: 't1' }
  await insertBoxes(
    scene,
    boxes.map((box) => ({
      customer: 'Acme',
      lastFree: '2026-10-28',
      ...box,
      more: { ...out, ...box.more },
    })),
  )
}

/** 100 a day of MAEU at the port, from the first day over on. */
const rule = (more: Line & { readonly charge?: string } = {}, rate = '100', from_day = 1) =>
  insertRule(
    scene,
    { charge: 'demurrage', place: 'port', shipping_line_scac: 'MAEU', ...more },
    { [from_day]: rate },
  )

const MONEY =
  'incurred_amount | invoiced_amount | credited_amount | paid_amount | not_invoiced_amount'

const shows = (rest: string, table: string) =>
  scene.expectRows('accrual', { asOf: NOW, rest }, table)

it('has a row of each month, with every column', async () => {
  await insertOuts([{ id: 'A' }, { id: 'B' }])
  await rule()
  // 100.01 over three days: 33.34, 33.33, 33.34; the last of them in November.
  await insertLines([line(1, { amount: '100.01', paid_amount: '50', paid_on: dateOf(12, 1) })])
  // Belongs to the line and to its months, and not to the day that it names.
  await insertLines([
    line(2, { amount: '-10', charged_from_on: dateOf(12, 1), charged_to_on: dateOf(12, 1) }),
  ])
  const options = { asOf: NOW, rest: `where charge = 'demurrage'` }
  expect(await scene.read('accrual', options)).toMatchSnapshot()
})

it('parts what is not invoiced from what nobody can tell', async () => {
  const box = (id: string, customer: string, equipment_type = 'dry', line = 'MAEU'): Box => ({
    id,
    customer,
    line,
    more: { equipment_type },
  })
  await insertOuts([
    ...[box('A', 'Acme'), box('cad', 'Cad'), box('rest', 'Rest'), box('all', 'All')],
    ...[box('none', 'None', 'dry', 'HLCU'), box('late', 'Late', 'dry', 'ONEY')],
    ...[box('ruled', 'Mixed'), box('unruled', 'Mixed', 'reefer')],
    ...[box('ruled too', 'Silent'), box('unruled too', 'Silent', 'reefer')],
  ])
  await rule({ equipment_type: 'dry' })
  // Without a tier for the first day.
  await rule({ rule_name: 'late', shipping_line_scac: 'ONEY' }, '100', 2)
  const october = { charged_from_on: dateOf(10, 29), charged_to_on: dateOf(10, 31) }
  await insertLines([
    line(1, { ...october, container_number: 'cad', amount: '120', currency_code: 'CAD' }),
    line(2, { ...october, container_number: 'rest', amount: '280' }),
    line(3, { ...october, container_number: 'rest', amount: '-30' }),
    line(4, { ...october, container_number: 'all', amount: '300' }),
    line(5, { ...october, container_number: 'ruled', amount: '10' }),
  ])
  await shows(
    `where month_on = '2026-10-01' and charge = 'demurrage'`,
    `
    customer_name | currency_code | days_incurred | days_without_rate | ${MONEY}
    Acme          | USD           | 3             | 0                 | 300 | -      | -     | - | 300
    All           | USD           | 3             | 0                 | 300 | 300.00 | -     | - | -
    Cad           | CAD           | 0             | 0                 | -   | 120.00 | -     | - | -
    Cad           | USD           | 3             | 0                 | 300 | -      | -     | - | -
    Late          | USD           | 3             | 1                 | 200 | -      | -     | - | -
    Mixed         | USD           | 3             | 0                 | 300 | 10.00  | -     | - | -
    Mixed         | -             | 3             | 3                 | -   | -      | -     | - | -
    None          | -             | 3             | 3                 | -   | -      | -     | - | -
    Rest          | USD           | 3             | 0                 | 300 | 280.00 | 30.00 | - | 50.00
    Silent        | USD           | 3             | 0                 | 300 | -      | -     | - | 300
    Silent        | -             | 3             | 3                 | -   | -      | -     | - | -`,
  )
})

it('keeps lines of unknown containers, credit notes of no line, and days named twice', async () => {
  await insertOuts([{ id: 'A' }])
  await insertLines([
    line(1, { amount: '300' }),
    line(2, { amount: '30', charged_from_on: dateOf(11, 1) }),
    // Of nobody we know.
    line(3, { container_number: 'X', amount: '7.125', charged_from_on: dateOf(10, 31) }),
    // Of an issuer without such a line.
    line(1, { issuer: 'CTB', amount: '-5', charged_from_on: dateOf(11, 1) }),
    line(4, { amount: '0', container_number: 'Y' }),
  ])
  await shows(
    'where currency_code is not null order by month_on, customer_name',
    `
    month_on   | charge    | customer_name | shipping_line_scac | pod_terminal | containers | days_invoiced | ${MONEY}
    2026-10-01 | demurrage | Acme          | MAEU               | West Basin   | 1          | 2             | - | 200.00 | -    | - | -
    2026-10-01 | demurrage | -             | -                  | -            | 1          | 1             | - | 3.563  | -    | - | -
    2026-11-01 | demurrage | Acme          | MAEU               | West Basin   | 1          | 1             | - | 130.00 | 5.00 | - | -
    2026-11-01 | demurrage | -             | -                  | -            | 1          | 1             | - | 3.562  | -    | - | -`,
  )
})

it('lays invoices of detention beside the one clock of the line', async () => {
  await insertOuts([{ id: 'A', more: { empty_terminated_at: at(11, 4) } }])
  await rule({ until: 'empty_return' })
  const days = { charged_from_on: dateOf(11, 3), charged_to_on: dateOf(11, 4) }
  await insertLines([line(1, { ...days, charge: 'detention', amount: '150' })])
  await shows(
    '',
    `
    month_on   | charge    | days_incurred | ${MONEY}
    2026-11-01 | demurrage | 4             | 400 | 150.00 | - | - | 250.00
    2026-10-01 | demurrage | 3             | 300 | -      | - | - | 300`,
  )
})
