import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertBoxes, insertRule, type Box } from '../../support/scenes/charges.js'
import { expectRows, rowsOf } from '../../support/tables.js'

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
      ...{ customer: 'Acme', lastFree: '2026-10-28', ...box },
      more: { ...out, ...box.more },
    })),
  )
}

/** 100 a day of MAEU at the port, from the first day over on. */
const rule = (more: Line & { readonly charge?: string } = {}, rate = '100', from_day = 1) =>
  insertRule(
    scene,
    {
      ...{ rule_name: 'line', charge: 'demurrage', place: 'port', shipping_line_scac: 'MAEU' },
      counts: 'calendar',
      ...more,
    },
    { [from_day]: rate },
  )

const MONEY = [
  'incurred_amount',
  'invoiced_amount',
  'credited_amount',
  'paid_amount',
  'not_invoiced_amount',
]

async function read(columns: readonly string[], rest?: string): Promise<unknown[][]> {
  const rows = await scene.read('accrual', { asOf: NOW, columns, ...(rest && { rest }) })
  return rows.map((row) => Object.values(row))
}

it('has a row of each month, with every column', async () => {
  await insertOuts([{ id: 'A' }, { id: 'B' }])
  await rule()
  // 100.01 over three days: 33.34, 33.33, 33.34; the last of them in November.
  await insertLines([line(1, { amount: '100.01', paid_amount: '50', paid_on: dateOf(12, 1) })])
  // Belongs to the line and to its months, and not to the day that it names.
  await insertLines([
    line(2, { amount: '-10', charged_from_on: dateOf(12, 1), charged_to_on: dateOf(12, 1) }),
  ])
  const rows = await scene.read('accrual', { asOf: NOW, rest: `where charge = 'demurrage'` })
  expect(rows).toMatchSnapshot()
})

it('parts what is not invoiced from what nobody can tell', async () => {
  const boxes = rowsOf(`
    id          | customer | line | type
    A           |          |      | dry
    cad         | Cad      |      | dry
    rest        | Rest     |      | dry
    all         | All      |      | dry
    none        | None     | HLCU | dry
    late        | Late     | ONEY | dry
    ruled       | Mixed    |      | dry
    unruled     | Mixed    |      | reefer
    ruled too   | Silent   |      | dry
    unruled too | Silent   |      | reefer`)
  await insertOuts(
    boxes.map(({ type, ...box }) => ({
      ...(box as unknown as Box),
      more: { equipment_type: type },
    })),
  )
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
  const columns = ['customer_name', 'currency_code', 'days_incurred', 'days_without_rate']
  expect(
    await read([...columns, ...MONEY], `where month_on = '2026-10-01' and charge = 'demurrage'`),
  ).toEqual([
    ['Acme', 'USD', 3, 0, '300', null, null, null, '300'],
    ['All', 'USD', 3, 0, '300', '300.00', null, null, null],
    ['Cad', 'CAD', 0, 0, null, '120.00', null, null, null],
    ['Cad', 'USD', 3, 0, '300', null, null, null, null],
    ['Late', 'USD', 3, 1, '200', null, null, null, null],
    ['Mixed', 'USD', 3, 0, '300', '10.00', null, null, null],
    ['Mixed', null, 3, 3, null, null, null, null, null],
    ['None', null, 3, 3, null, null, null, null, null],
    ['Rest', 'USD', 3, 0, '300', '280.00', '30.00', null, '50.00'],
    ['Silent', 'USD', 3, 0, '300', null, null, null, '300'],
    ['Silent', null, 3, 3, null, null, null, null, null],
  ])
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
  const rest = 'where currency_code is not null order by month_on, customer_name'
  await expectRows(
    scene,
    'accrual',
    { asOf: NOW, rest },
    `
    month_on   | charge    | customer_name | shipping_line_scac | pod_terminal | containers | days_invoiced | ${MONEY.join(' | ')}
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
  expect(await read(['month_on', 'charge', 'days_incurred', ...MONEY])).toEqual([
    ['2026-11-01', 'demurrage', 4, '400', '150.00', null, null, '250.00'],
    ['2026-10-01', 'demurrage', 3, '300', null, null, null, '300'],
  ])
})
