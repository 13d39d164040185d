import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  asChangedCells,
  asColumns,
  compareAnswers,
  describeComparison,
  type ComparedColumns,
  type Comparison,
} from '../../../../src/extensions/answers/output/compare-answers.js'
import type { TableAnswer } from '../../../../src/extensions/answers/read-answer.js'

const [TEXT, INTEGER, NUMERIC] = [25, 23, 1700]
const NAMES = ['box', 'days_over', 'fee_amount', 'fee_currency_code', '_key', '_position']

type Row = readonly [string, number | null, string | null, string | null, number]

/** In pieces of two rows, as a long answer comes. */
function answer(...given: readonly Row[]): AsyncIterable<TableAnswer> {
  const types = [TEXT, INTEGER, NUMERIC, TEXT, TEXT, 20]
  const all = given.map(([box, ...cells]) => [
    ...[box, ...cells.slice(0, 3)],
    ...[`["${box}"]`, String(cells[3])],
  ])
  const pieces = [[], all.slice(0, 2), all.slice(2, 4), all.slice(4)]
  return Readable.from(pieces.map((rows) => ({ columns: NAMES, types, rows })))
}

// By bytes the letter of three bytes comes before the one of four; by UTF-16 units it does not.
const [THREE_BYTES, FOUR_BYTES] = ['\uff21', '\u{1f6a2}']

const compare = (columns?: ComparedColumns['columns'], most?: number): Promise<Comparison> =>
  compareAnswers(
    answer(
      ['A', 3, '1200.00', 'USD', 1],
      ['B', 5, '80', 'USD', 4],
      ['C', 1, '10.50', 'USD', 3],
      ['D', 2, '7', 'USD', 2],
      [FOUR_BYTES, 1, null, null, 5],
    ),
    answer(
      ['A', 10, '2800.5', 'USD', 2],
      ['C', 1, '10.5', 'USD', 1],
      ['D', 2, '9', 'EUR', 3],
      [THREE_BYTES, 4, '3', 'USD', 5],
      [FOUR_BYTES, 1, null, null, 4],
    ),
    { columns, key: '_key', position: '_position', sums: ['fee_amount'], most },
  )

describe('two answers side by side', () => {
  it('say what came, went and changed: was → is, and the difference of a number', async () => {
    const compared = await compare()
    const { columns, rows } = asChangedCells(compared)
    expect(columns).toEqual(['change', 'box', 'days_over', 'fee_amount', 'fee_currency_code'])
    expect(rows).toEqual([
      ['came', THREE_BYTES, 4, '3', 'USD'],
      ['went', 'B', 5, '80', 'USD'],
      ['changed', 'A', '3 → 10 (+7)', '1200.00 → 2800.5 (+1600.5)', 'USD'],
      // Amounts in two currencies cannot be subtracted.
      ['changed', 'D', 2, '7 → 9', 'USD → EUR'],
    ])
    expect(describeComparison(compared)).toEqual([
      '1 came, 1 went, 2 changed, 2 did not change',
      'fee_amount in EUR: 0.00 → 9.00 (+9.00)',
      'fee_amount in USD: 1297.50 → 2814.00 (+1516.50)',
    ])
  })

  it('have the same columns for every difference, for programs', async () => {
    const { columns, types, rows } = asColumns(await compare(), ['box'])
    expect(columns.join()).toBe(
      'change,box,days_over,days_over_was,days_over_difference,fee_amount,fee_amount_was,' +
        'fee_amount_difference,fee_currency_code,fee_currency_code_was',
    )
    expect(types.slice(2, 5)).toEqual([INTEGER, INTEGER, INTEGER])
    expect(rows).toEqual([
      ['came', THREE_BYTES, 4, null, null, '3', null, null, 'USD', null],
      ['went', 'B', 5, 5, null, '80', '80', null, 'USD', 'USD'],
      ['changed', 'A', 10, 3, 7, '2800.5', '1200.00', '1600.5', 'USD', 'USD'],
      ['changed', 'D', 2, 2, 0, '9', '7', null, 'EUR', 'USD'],
    ])
  })

  it('are compared by the columns that were asked for', async () => {
    const { rows } = asChangedCells(await compare(['days_over', 'box']))
    expect(rows).toEqual([
      ['came', 4, THREE_BYTES],
      ['went', 5, 'B'],
      ['changed', '3 → 10 (+7)', 'A'],
    ])
  })
})

it('keeps no more differences than a door may, and says how to have fewer', async () => {
  const count = (await compare()).differences.length
  expect(count).toBeGreaterThan(1)
  expect((await compare(undefined, count)).differences).toHaveLength(count)
  await expect(compare(undefined, count - 1)).rejects.toThrow(/differences; narrow the question/)
})
