import { Readable } from 'node:stream'
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

/**
 * A parser for RFC 4180 that shares no code with the tested one: null for an empty field without
 * quotes.
 */
function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = []
  let record: (string | null)[] = []
  let at = 0
  while (at < text.length) {
    const quoted = /"((?:[^"]|"")*)"/y
    const bare = /[^",\r\n]*/y
    quoted.lastIndex = at
    bare.lastIndex = at
    const match = quoted.exec(text)
    if (match === null) {
      const [word] = bare.exec(text)!
      record.push(word === '' ? null : word)
      at += word.length
    } else {
      record.push(match[1]!.replaceAll('""', '"'))
      at += match[0].length
    }
    if (text.startsWith(',', at)) at += 1
    else if (text.startsWith('\r\n', at)) {
      records.push(record)
      record = []
      at += 2
    } else throw new Error(`neither comma nor CRLF at ${at}`)
    if (text[at - 1] === ',' && (at === text.length || text.startsWith('\r\n', at))) {
      record.push(null)
      records.push(record)
      record = []
      at += 2
    }
  }
  return records
}

describe('comma-separated values', () => {
  it('have a header line and end every line with CRLF, the last one too', async () => {
    const rows = [
      ['a', 1],
      ['b', 2.5],
    ]
    expect(await formatCsv(['name', 'count'], rows)).toBe('name,count\r\na,1\r\nb,2.5\r\n')
  })

  it('tell null from an empty text', async () => {
    expect(await formatCsv(['a', 'b', 'c'], [[null, '', undefined]])).toBe('a,b,c\r\n,"",\r\n')
  })

  it('quote commas, quotes and line breaks, and nothing else', async () => {
    const rows = [['a,b', 'say "hi"', 'one\r\ntwo', 'one\ntwo', 'one\rtwo', " it's ; fine "]]
    expect(await formatCsv(['1', '2', '3', '4', '5', '6'], rows)).toBe(
      `1,2,3,4,5,6\r\n"a,b","say ""hi""","one\r\ntwo","one\ntwo","one\rtwo", it's ; fine \r\n`,
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
