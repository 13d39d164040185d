import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { containerNumberProblem } from '../../../../src/extensions/answers/questions/container-number.js'
import { containerCheckDigit } from '../../../../src/extensions/simulator/world/check-digits.js'
import { notesOf, parseInvoices } from '../../../../src/extensions/answers/questions/dd-invoices.js'
import { parseRulesFile } from '../../../../src/extensions/answers/questions/rules-file.js'

const [HEADER = '', FIRST = ''] = readFileSync('config/invoices.example.csv', 'utf8').split('\n')
const COLUMNS = HEADER.split(',')

/** The first line of the example with other cells. */
const lineWith = (cells: Readonly<Record<string, string>>, separator = ',') =>
  FIRST.split(',')
    .map((cell, at) => cells[COLUMNS[at] ?? ''] ?? cell)
    .join(separator)

const parse = (...lines: readonly string[]) =>
  parseInvoices('invoices.csv', [HEADER, ...lines].join('\n'))

describe('an identifier that a spreadsheet damaged', { tags: ['JB10'] }, () => {
  it.each([
    ['1.23457E+11', 'rounded it'],
    ['1,23457E+11', 'rounded it'],
    ['2.17E+08', 'rounded it'],
    ['1E+15', 'rounded it'],
    ['123456789012345000', 'kept 15 digits'],
    ['12345.0', 'took it for a number'],
    ['Mar-24', 'took it for a day'],
    ['24-Mar', 'took it for a day'],
    ['Okt 24', 'took it for a day'],
    ['3/24/2026', 'took it for a day'],
    ['#NAME?', 'shows an error'],
    ['########', 'shows an error'],
  ])('%s is refused in its line, wherever it stands', (cell, what) => {
    const quoted = `"${cell}"`
    for (const column of ['invoice_number', 'bill_of_lading_number', 'container_number']) {
      expect(() => parse(FIRST, lineWith({ [column]: quoted, line_number: '2' }))).toThrow(
        new RegExp(`line 3: ${column} "${cell.replace(/[+?.]/g, '\\$&')}" is no longer .*${what}`),
      )
    }
  })

  it.each(['INV-2026-1071', '0012345', 'E10', '1E5', '123456789012345678', 'MARCH-24', '26/1071'])(
    '%s is none',
    (cell) => {
      expect(parse(lineWith({ invoice_number: cell }))).toMatchObject([{ invoice_number: cell }])
    },
  )

  it.each(['="0012345"', '"=""0012345"""'])('%s is the text that it says', (cell) => {
    for (const separator of [',', ';', '\t']) {
      const header = HEADER.replaceAll(',', separator)
      const line = lineWith({ invoice_number: cell, note: cell }, separator)
      expect(parseInvoices('invoices.csv', `${header}\r\n${line}\r\n`)).toMatchObject([
        { invoice_number: '0012345', note: '0012345' },
      ])
    }
  })

  it('is one that a rule names, too', () => {
    const rule = 'rule,charge,terminal,currency\none,storage,1.00E+10,USD'
    expect(() => parseRulesFile('rules.csv', rule)).toThrow(
      /line 2: terminal "1\.00E\+10" is no longer/,
    )
  })
})

describe('a container number', { tags: ['JB10'] }, () => {
  it.each([
    ['МRKU7762146', 'Cyrillic М \\(U\\+041C\\)'],
    ['MRΚU7762146', 'Greek Κ \\(U\\+039A\\)'],
    ['СЕКU9023130', 'Cyrillic С \\(U\\+0421\\)'],
    ['MRKÜ7762146', 'character Ü \\(U\\+00DC\\)'],
  ])('%s is refused with the letter', (container_number, letter) => {
    expect(() => parse(lineWith({ container_number }))).toThrow(
      new RegExp(`line 2: container_number "${container_number}" has the ${letter}`),
    )
  })

  it.each(['mrku 776214-6', 'MRKU\u00a07762146', 'ＭＲＫＵ７７６２１４６', '\u200bMRKU7762146'])(
    '%s is MRKU7762146',
    (container_number) => {
      expect(parse(lineWith({ container_number }))).toMatchObject([
        { container_number: 'MRKU7762146' },
      ])
    },
  )

  it('with another check digit or form is taken and noted, once', () => {
    const numbers = ['MRKU7762147', 'MRKU7762147', 'MRKX7762146', 'MRKU776214', 'MRKU7762146']
    const read = parse(
      ...numbers.map((container_number, at) =>
        lineWith({ container_number, line_number: `${at + 1}` }),
      ),
    )
    expect(read.map((line) => line.container_number)).toEqual(numbers)
    expect(notesOf(read)).toEqual([
      'container MRKU7762147 ends with the check digit 7, but ISO 6346 requires 6',
      'container MRKX7762146 is not three letters, U, J or Z, and seven digits, as ISO 6346 requires',
      'container MRKU776214 is not three letters, U, J or Z, and seven digits, as ISO 6346 requires',
    ])
  })

  it('has the check digit that another implementation finds', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
    for (let at = 0; at < 2000; at += 1) {
      const [one, two, three] = [at, at * 7, at * 11].map((place) => letters[place % 26] ?? '')
      const ten = `${one}${two}${three}U${String(at * 487).padStart(6, '0')}`
      const digit = containerCheckDigit(ten)
      expect(containerNumberProblem(`${ten}${digit}`)).toBeUndefined()
      expect(containerNumberProblem(`${ten}${(digit + 1) % 10}`)).toContain(`requires ${digit}`)
    }
  })
})

describe('a file of a spreadsheet', { tags: ['JB13'] }, () => {
  it.each(['sep=;', '"sep=;"', 'sep=;;;'])('may say its separator first: %s', (first) => {
    const rows = [first, HEADER.replaceAll(',', ';'), lineWith({ amount: 'much' }, ';')].join('\n')
    expect(() => parseInvoices('invoices.csv', rows)).toThrow(/line 3: amount "much"/)
    expect(parseInvoices('invoices.csv', rows.replace('much', '1'))).toHaveLength(1)
  })

  it('may have rows without a value, and lines are still counted', () => {
    const empty = ','.repeat(COLUMNS.length - 1)
    expect(parse(empty, FIRST, empty, '', '  , ,')).toHaveLength(1)
    expect(() => parse(empty, lineWith({ amount: 'much' }))).toThrow(/line 3: amount "much"/)
  })

  it('is refused at the row that has no end', { tags: ['JD7'] }, () => {
    expect(() => parse(FIRST, `"${'x'.repeat(70_000)}`)).toThrow(
      /line 3: the row that ends here has more than 65536 characters; is a quote missing\?/,
    )
  })
})
