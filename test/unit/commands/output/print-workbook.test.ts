import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { asPieces } from '../../../../src/extensions/answers/output/print-answer.js'
import {
  asWorkbook,
  type WorkbookOptions,
} from '../../../../src/extensions/answers/output/print-workbook.js'
import { readWorkbook } from '../../../support/read-workbook.js'

const [TEXT, INT8, FLOAT8, NUMERIC] = [25, 20, 701, 1700]
const [DATE, TIMESTAMP, TIMESTAMPTZ] = [1082, 1114, 1184]

async function write(
  types: readonly number[],
  rows: readonly (readonly unknown[])[],
  columns = types.map((_, at) => `column_${at}`),
  more: WorkbookOptions = {},
) {
  const notes: string[] = []
  const note = (text: string) => notes.push(text)
  const chunks: Uint8Array[] = []
  const workbook = asWorkbook(asPieces({ columns, types, rows }), { note, ...more })
  for await (const chunk of workbook) chunks.push(chunk)
  return { ...readWorkbook(Buffer.concat(chunks)), notes }
}

describe('a workbook', () => {
  it('links each number to its page, and writes no formula for it', async () => {
    const columns = ['bill_of_lading_number', 'x', 'container_number']
    const rows = [
      ['B&1', 'MSKU0000001', 'MSKU0000001'],
      [null, 'x', 'MSKU0000002'],
    ]
    const pageOf = (number: unknown) =>
      typeof number === 'string' ? `https://service.example/find?a="<1>&q=${number}` : undefined
    const written = await write([TEXT, TEXT, TEXT], rows, columns, { pageOf })
    expect(Object.fromEntries(written.links)).toEqual({
      A2: pageOf('B&1'),
      C2: pageOf('MSKU0000001'),
      C3: pageOf('MSKU0000002'),
    })
    expect(written).toMatchObject({ rows: [columns, ...rows], hasFormulas: false })
    expect((await write([TEXT, TEXT, TEXT], rows, columns)).links.size).toBe(0)
  })

  it('has days and instants as such, and says of instants that they are UTC', async () => {
    const written = await write(
      [DATE, TIMESTAMPTZ, TIMESTAMP],
      [
        ['2026-03-01', '2026-03-01 23:59:58.5+00', '2026-03-01 08:00:00'],
        ['1900-03-01', '2026-03-01 05:30:00+05:30', null],
        ['1899-12-31', 'infinity', '0044-03-15 12:00:00 BC'],
      ],
      ['binding_on', 'start_at', 'start_local'],
    )
    expect(written.rows).toEqual([
      ['binding_on', 'start_at (UTC)', 'start_local'],
      [
        new Date('2026-03-01T00:00:00Z'),
        new Date('2026-03-01T23:59:58.5Z'),
        new Date('2026-03-01T08:00:00Z'),
      ],
      [new Date('1900-03-01T00:00:00Z'), new Date('2026-03-01T00:00:00Z'), null],
      ['1899-12-31', 'infinity', '0044-03-15 12:00:00 BC'],
    ])
    expect([0, 1].map((column) => written.format(1, column))).toEqual([
      'yyyy-mm-dd',
      'yyyy-mm-dd hh:mm:ss',
    ])
  })

  it('has numbers as numbers, money with its decimals, and as texts what is too large', async () => {
    const written = await write(
      [INT8, FLOAT8, NUMERIC, TEXT, NUMERIC],
      [
        [7, 0.25, '4097.5', 'USD', '1.33333333333333333333'],
        [-1, 1e300, '12', 'JPY', '-9007199254740991'],
        ['9007199254740993', NaN, null, null, '12345678901234567890.10'],
      ],
      ['n', 'share', 'amount', 'currency_code', 'ratio'],
    )
    expect(written.rows.slice(1)).toEqual([
      [7, 0.25, 4097.5, 'USD', 1.3333333333333333],
      [-1, 1e300, 12, 'JPY', -9007199254740991],
      ['9007199254740993', 'NaN', null, null, '12345678901234567890.10'],
    ])
    expect([1, 2].map((row) => written.format(row, 2))).toEqual(['0.00', '0'])
  })

  it('has texts that are no formulas, truths, lists and objects', { tags: ['T10'] }, async () => {
    const rows = [
      ['=1+1', true, ['a', 'b, c'], { a: 1 }],
      ['@SUM(1)', false, [], null],
      ['_x0041_ <&> "é 🚢"', null, ['x', null], null],
    ]
    const written = await write([TEXT, 16, 1009, 3802], rows)
    expect(written.hasFormulas).toBe(false)
    expect((await write([TEXT], [], ['a'])).rows).toEqual([['a']])
    expect(written.rows.slice(1)).toEqual([
      ['=1+1', true, 'a, b, c', '{"a":1}'],
      ['@SUM(1)', false, null, null],
      ['_x0041_ <&> "é 🚢"', null, 'x, ', null],
    ])
  })

  it('cuts a text that Excel would not take, and tells it', async () => {
    const { rows, notes } = await write([TEXT], [['x'.repeat(32_767)], ['y'.repeat(32_768)]])
    expect(rows.slice(1).map(([text]) => (text as string).length)).toEqual([32_767, 32_767])
    expect(notes).toEqual([
      'cut 1 text of the column column_0 to 32,767 characters, the most that a cell holds; ' +
        'csv has all of it',
    ])
  })

  it.each([
    ['1,048,575 rows, the most that a sheet holds', 1, 1_048_575, 'x'],
    ['4,000,000 cells', 400, 10_000, 'x'],
    ['100,000,000 characters', 1, 3_052, 'x'.repeat(32_767)],
  ])('refuses more than %s', async (most, width, height, text) => {
    const columns = Array<string>(width).fill('a')
    const row = Array<string>(width).fill(text)
    const parts = [[row], Array<string[]>(height).fill(row)].map((rows) => ({
      columns,
      types: columns.map(() => TEXT),
      rows,
    }))
    const workbook = asWorkbook(Readable.from(parts), {})
    await expect(workbook.next()).rejects.toThrow(
      `--format xlsx cannot hold this answer: it has more than ${most}; ` +
        'narrow it, add --limit, or take --format csv',
    )
  })
})

it('a workbook stops at no value: what Excel cannot say is a text', { tags: ['JB2'] }, async () => {
  const row = [
    'infinity',
    '0044-03-15 BC',
    '294276-12-31 00:00:00+00',
    'NaN',
    '1e400',
    NaN,
    '\u0001',
  ]
  const types = [DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC, NUMERIC, FLOAT8, TEXT]
  const { rows } = await write(types, [row])
  expect(rows[1]!.slice(0, 6)).toEqual(row.slice(0, 6).map(String))
})
