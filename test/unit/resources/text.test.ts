import fc from 'fast-check'
import { expect, test } from 'vitest'
import { container, flatten, readArrayLiteral, storable } from './flat-rows.js'

test('an id of something linked that PostgreSQL cannot store sends nobody to read it', () => {
  const row = flatten(
    container({}, { pod_terminal: { data: { type: 'terminal', id: 't\u0000' } } }),
  )
  expect(row.columns.pod_terminal_id).toBe('t\ufffd')
  expect(row.coercions.pod_terminal_id?.original).toBe('"t\\u0000"')
  expect(row.flat.references).toEqual([])
})

const hazardousText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom(
    ...['a\ud83d', '\ude00b', '\ude00\ud83d', '\ud83d\ud83d\ude00', 'A\u0000B'],
    '\u202eabc',
    '👩‍👩‍👧',
    'e\u0301',
    '\u00e9',
    'a\ufeffb',
    "Robert'); drop table shipments;--",
    '$1 %s {{x}} \\ " \' ;--',
    // Looks like an escape and is text.
    'C:\\users\\u0000',
    'NULL',
    '{}',
    '',
  ),
)

test('any text comes out as it went in, or flagged', { tags: ['T1', 'T2', 'T5'] }, () => {
  fc.assert(
    fc.property(hazardousText, (text) => {
      const expected = storable(text)
      const row = flatten(
        container({
          number: text,
          ref_numbers: [text, null],
          import_deadlines: [text],
          new_thing: text,
        }),
      )
      expect(row.unmapped).toEqual({ new_thing: expected })
      expect(row.columns.number).toBe(expected)
      expect(readArrayLiteral(row.columns.ref_numbers ?? '')).toEqual([expected, null])
      expect(JSON.parse(row.columns.import_deadlines ?? '')).toEqual([expected])
      const flagged = ['_unmapped', 'import_deadlines', 'number', 'ref_numbers']
      expect(Object.keys(row.coercions).sort()).toEqual(expected === text ? [] : flagged)
      if (expected !== text) expect(JSON.parse(row.coercions.number?.original ?? '')).toBe(text)
    }),
    { numRuns: 1000 },
  )
})
