import { describe, expect, it } from 'vitest'
import { formatParts, formatTable, widthOf } from '../../../../src/commands/output/print-table.js'

const text = 'ALERT: nothing works any more, so run `tracking-sync replay --state dead` soon'

it('a sentence breaks between words on a terminal, and not within a command', () => {
  expect(formatParts([text], { width: 45 }).split('\n')).toEqual([
    'ALERT: nothing works any more, so run',
    '`tracking-sync replay --state dead` soon',
  ])
  expect(formatParts([text])).toBe(text)
})

it.each([
  ['Köln', 4],
  ['e\u0301', 1],
  ['上海', 4],
  ['𠮷野家', 6],
  ['🚢', 2],
])('%s takes %i columns', (text, columns) => {
  expect(widthOf(text)).toBe(columns)
})

describe('a table', () => {
  it('has a header, a rule as wide as its columns, and numbers to the right', () => {
    const table = formatTable(
      ['line', 'containers', 'note'],
      [
        ['MAEU', 7, 'a'],
        ['ONEY', 1234, null],
      ],
    )
    expect(table.split('\n')).toEqual([
      'line  containers  note',
      '----  ----------  ----',
      'MAEU           7  a',
      'ONEY        1234',
    ])
  })

  it('shows null as nothing, lists joined, objects as JSON and zero as zero', () => {
    const rows = [[null, ['a', 'b'], { c: 1 }, 0, false, '', undefined]]
    const [, , row] = formatTable(['a', 'b', 'c', 'd', 'e', 'f', 'g'], rows).split('\n')
    expect(row).toMatch(/^ +a, b {2}\{"c":1\} {2}0 {2}false$/)
  })

  it('neither steers the terminal nor breaks its lines, with any text', () => {
    const hostile = '\u001b[31mred\u001b[0m\r\n\tnext\u0007\u009b2J\u0000'
    const table = formatTable(['text'], [[hostile], [[hostile]], ['last']])
    expect(table).toContain('\\u001b[31mred\\u001b[0m\\r\\n\\tnext\\u0007')
    expect(table).not.toMatch(/[^\P{Cc}\n]/u)
    expect(table.split('\n')).toHaveLength(5)
  })
})
