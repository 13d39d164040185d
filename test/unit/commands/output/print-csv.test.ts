import { Readable } from 'node:stream'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  asCsv,
  type AnswerOptions,
} from '../../../../src/extensions/answers/output/print-answer.js'

async function formatCsv(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  options: AnswerOptions = {},
): Promise<string> {
  let text = ''
  const pieces = [{ columns, rows, types: [] }]
  for await (const piece of asCsv(Readable.from(pieces), options)) text += piece
  return text
}

/** By a parser that shares no code with ours: null for an empty field without quotes. */
function parseCsv(text: string): (string | null)[][] {
  return parse(text, {
    record_delimiter: '\r\n',
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  })
}

describe('comma-separated values', () => {
  it('have a header line, end with CRLF, and quote no more than must be', async () => {
    const rows = [
      ['a', 1],
      [null, 2.5],
      ['', undefined],
      ['say "hi"', " it's ; fine "],
    ]
    expect(await formatCsv(['name', 'count'], rows)).toBe(
      `name,count\r\na,1\r\n,2.5\r\n"",\r\n"say ""hi""", it's ; fine \r\n`,
    )
  })

  it('hold lists and objects as JSON, booleans as words, and decimal texts digit by digit', async () => {
    const rows = [[['x', 'y'], { a: 'b' }, true, '12345678901234567890.10']]
    expect(await formatCsv(['list', 'object', 'flag', 'sum'], rows)).toBe(
      'list,object,flag,sum\r\n"[""x"",""y""]","{""a"":""b""}",true,12345678901234567890.10\r\n',
    )
  })

  it.each(['=1+1', '+1+1', '-1+cmd', '@sum', '\t=1', '\r=1', '\n=1', '＝1', '＠sum'])(
    'hold %j for a spreadsheet as a text, and a number with a sign as a number',
    { tags: ['T10', 'HQ7'] },
    async (formula) => {
      const [, line] = parseCsv(
        await formatCsv(['a', 'b', 'c'], [[formula, '-1', '+2.5']], { isSpreadsheetSafe: true }),
      )
      expect(line).toEqual([`'${formula}`, '-1', '+2.5'])
    },
  )

  it('are read back as they were written, with any contents', async () => {
    const cell = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', ',', '\r\n', '",\r\n"')),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }), async (rows) => {
        const [, ...read] = parseCsv(await formatCsv(['a', 'b', 'c'], rows))
        expect(read).toEqual(rows)
      }),
    )
  })
})
