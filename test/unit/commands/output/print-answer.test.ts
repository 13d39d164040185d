import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../../src/base/errors.js'
import {
  asPieces,
  printAnswer,
  type AnswerFormat,
  type AnswerOptions,
} from '../../../../src/extensions/answers/output/print-answer.js'
import { widthOf } from '../../../../src/commands/output/print-table.js'
import { readShippedQueries } from '../../../../src/extensions/answers/questions/shipped-queries.js'
import type { TableAnswer } from '../../../../src/extensions/answers/read-answer.js'
import { SchemaNames } from '../../../../src/warehouse/connection/schema-names.js'
import { createSink } from '../../../support/sink.js'

const [TEXT, NUMERIC, INTEGER, TIMESTAMPTZ] = [25, 1700, 23, 1184]

const FEES: TableAnswer = {
  columns: ['container_number', 'state', 'fee_amount', 'fee_currency_code', 'remark', 'days_over'],
  types: [TEXT, TEXT, NUMERIC, TEXT, TEXT, INTEGER],
  rows: [
    ['ABCU1234567', 'overdue', '2040.8', 'USD', 'x'.repeat(70), 6],
    ['ABCU7654321', 'out late', '1000', 'USD', null, 0],
    ['DEFU1234567', 'overdue', '5000', 'JPY', 'short', 12],
    ['DEFU7654321', 'overdue', null, null, '', 1],
  ],
}

async function print(
  answer: TableAnswer,
  options: AnswerOptions = {},
  format: AnswerFormat = 'table',
): Promise<string> {
  const { stream, text } = createSink(false)
  await printAnswer(asPieces(answer), format, stream, options)
  return text()
}

const plain = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '')
const widest = (text: string): number =>
  plain(text)
    .split('\n')
    .reduce((most, line) => Math.max(most, widthOf(line)), 0)

describe('an answer as a table', () => {
  it('shows leading columns, money and totals by currency', { tags: ['FD4'] }, async () => {
    const text = await print(FEES, {
      terminal: { width: 60, height: 40 },
      leading: ['container_number', 'days_over', 'fee_amount', 'fee_currency_code', 'gone'],
      sums: ['fee_amount'],
    })
    expect(text.split('\n')).toEqual([
      'container_   days_',
      'number        over   fee_amount  state',
      '-----------  -----  -----------  --------',
      'ABCU1234567      6  2040.80 USD  overdue',
      'ABCU7654321      0  1000.00 USD  out late',
      'DEFU1234567     12     5000 JPY  overdue',
      'DEFU7654321      1               overdue',
      '-----------  -----  -----------  --------',
      'total                  5000 JPY',
      'total               3040.80 USD',
      '(4 rows)',
      '(not shown: remark; see --columns, --wide, --vertical)',
      '',
    ])
  })

  it('shows shares as per cent and ages with a unit', async () => {
    const answer = {
      columns: ['line', 'on_time_share', 'milestone_completeness', 'age_hours', 'max_age_days'],
      types: [TEXT, NUMERIC, NUMERIC, NUMERIC, NUMERIC],
      rows: [
        ['a', '0.7778', '1.0000', '0.27', '2.5'],
        ['b', '0.9999', '0.00001', null, '0'],
        ['c', '0', null, '26.00', null],
      ],
    }
    const text = await print(answer, { terminal: { width: 80, height: 40 } })
    expect(text.split('\n').slice(3)).toEqual([
      '----  ------  ------------  ----------  --------',
      'a     77.8 %         100 %      16 min  2 d 12 h',
      'b     99.9 %         0.1 %                   0 s',
      'c        0 %                26 h 0 min',
      '(3 rows)',
      '',
    ])
    expect(await print(answer, {}, 'csv')).toContain('a,0.7778,1.0000,0.27,2.5')
  })

  it('sums no amounts whose currency is not shown', async () => {
    const columns = ['container_number', 'fee_amount', 'days_over']
    const text = await print(FEES, { columns, sums: ['fee_amount', 'days_over'] })
    expect(text.split('\n').filter((line) => line.startsWith('total'))).toEqual([
      expect.stringMatching(/^total +19$/),
    ])
  })

  it.each([80, 100, 140])('fits a terminal of %d columns', { tags: ['FD4'] }, async (width) => {
    const shipped = await readShippedQueries(new SchemaNames('tracking'))
    const wide = (columns: readonly string[]): TableAnswer => ({
      columns,
      types: columns.map(() => TEXT),
      rows: [columns.map(() => 'Maersk A/S 丸 '.repeat(4)), columns.map(() => null)],
    })
    for (const { name, columns, leading, sums } of shipped) {
      const answer = wide(columns.map((column) => column.name))
      const terminal = { width, height: 50 }
      const text = await print(answer, { terminal, leading, sums })
      expect({ name, isFitting: widest(text) <= width }).toEqual({ name, isFitting: true })
      const vertical = await print(answer, { terminal, isVertical: true, isAll: true })
      expect({ name, isFitting: widest(vertical) <= width }).toEqual({ name, isFitting: true })
      expect(text).toContain('…')
      for (const column of answer.columns) expect(vertical).toContain(`\n${column} `)
    }
  })

  it('shows a screen of rows, or all where asked for or piped', { tags: ['FD3'] }, async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => [index])
    const answer = { columns: ['n'], types: [INTEGER], rows }
    const terminal = { width: 80, height: 24 }
    const screen = await print(answer, { terminal })
    expect(screen.split('\n').length).toBeLessThanOrEqual(24)
    expect(screen).toContain('(2500 rows, the first 15 shown; --all shows all)')
    for (const options of [{ terminal, isAll: true }, {}]) {
      expect((await print(answer, options)).split('\n')).toHaveLength(2_504)
    }
  })

  it('has its first rows at once, and takes memory by the row', { tags: ['FD3'] }, async () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => ['ABCU1234567', index, 'x'.repeat(30)])
    const answer = { columns: ['one', 'two', 'three'], types: [TEXT, INTEGER, TEXT], rows }
    const asked: number[] = []
    // eslint-disable-next-line @typescript-eslint/require-await -- what is streamed is asynchronous
    async function* stream(): AsyncGenerator<TableAnswer> {
      for (let piece = 0; piece < 40; piece += 1) {
        asked.push(written)
        yield answer
      }
    }
    let written = 0
    const output = new PassThrough()
    output.on('data', (chunk: Buffer) => (written += chunk.length))
    const startedAt = performance.now()
    expect(await printAnswer(stream(), 'table', output as unknown as NodeJS.WriteStream)).toBe(
      40_000,
    )
    expect(asked[1]).toBeGreaterThan(0)
    // 40,000 rows; where a row cost what the rows before it do, this took minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  it('colours good and bad news on a terminal, and nothing else', { tags: ['FD4'] }, async () => {
    const terminal = { width: 80, height: 24 }
    const coloured = await print(FEES, { terminal: { ...terminal, isColoured: true } })
    expect(coloured).toContain('\u001b[31moverdue')
    expect(coloured).not.toContain('mout late')
    expect(plain(coloured)).toBe(await print(FEES, { terminal }))
    expect(await print(FEES)).not.toContain('\u001b')
  })

  it('cuts nothing off with --wide, and shows columns asked for', { tags: ['FD4'] }, async () => {
    for (const options of [{}, { terminal: { width: 60 }, isWide: true }]) {
      const text = await print(FEES, options)
      expect(text).toContain('x'.repeat(70))
      expect(text).toMatch(/^container_number {2}state +fee_amount {2}fee_currency_code/)
      expect(text).not.toContain('…')
    }
    const columns = ['fee_amount', 'container_number']
    expect(await print(FEES, { columns }, 'csv')).toMatch(/^fee_amount,container_number\r\n2040.8,/)
    const wrong = print(FEES, { columns: ['fee_amuont'] })
    await expect(wrong).rejects.toThrow(
      /fee_amuont, which the answer does not have; did you mean fee_amount\?/,
    )
    await expect(print(FEES, { columns: ['x'] })).rejects.toBeInstanceOf(ConfigError)
  })

  it('escapes what would steer the terminal, in cells, names and blocks', async () => {
    const hostile = { columns: ['a\u001b[2J'], types: [TEXT], rows: [['b\u001b[2J\nc']] }
    for (const options of [{}, { terminal: { width: 40 } }, { isVertical: true }]) {
      const text = await print(hostile, options)
      expect(text).not.toContain('\u001b')
      expect(text).toContain('b\\u001b[2J\\nc')
    }
  })
})

it('an answer for a spreadsheet disarms formulas', { tags: ['FD12'] }, async () => {
  const answer = {
    columns: ['at', 'list', 'formula', 'on', 'amount'],
    types: [TIMESTAMPTZ, 1009, TEXT, 1082, NUMERIC],
    rows: [['2026-09-11 16:25:00.123456+00', ['a', 'b'], '=1+1', '2026-09-11', '-2040.80']],
  }
  expect(await print(answer, { isForExcel: true }, 'csv')).toBe(
    "\ufeffat,list,formula,on,amount\r\n2026-09-11 16:25:00,a; b,'=1+1,2026-09-11,-2040.80\r\n",
  )
  expect(await print(answer, {}, 'csv')).toContain('2026-09-11 16:25:00.123456+00,"[""a"",""b""]"')
})

it('shipped questions name columns that they have', { tags: ['FD4', 'FD12'] }, async () => {
  const shipped = await readShippedQueries(new SchemaNames('tracking'))
  for (const { name, sqlText, leading, sums } of shipped) {
    const missing = [...leading, ...sums].filter(
      (column) => !new RegExp(`^ +(?:\\w+\\.)?${column},?$|as ${column},?$`, 'm').test(sqlText),
    )
    expect({ name, missing }).toEqual({ name, missing: [] })
  }
})
