import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { container, flatten, readArrayLiteral, storable } from './flat-rows.js'

const REASON = 'characters that PostgreSQL cannot store were replaced by U+FFFD'

describe('U+0000', { tags: ['T1'] }, () => {
  test('in a text, a list and a jsonb column becomes U+FFFD and is flagged with its original', () => {
    const holds = [{ name: 'a\u0000', status: 'hold' }]
    const row = flatten(
      container({ number: 'A\u0000B', ref_numbers: ['\u0000'], holds_at_pod_terminal: holds }),
    )
    expect(row.columns.number).toBe('A\ufffdB')
    expect(row.columns.ref_numbers).toBe('{"\ufffd"}')
    expect(row.columns.holds_at_pod_terminal).toBe('[{"name":"a\ufffd","status":"hold"}]')
    expect(row.coercions).toEqual({
      number: { reason: REASON, original: '"A\\u0000B"' },
      ref_numbers: { reason: REASON, original: '["\\u0000"]' },
      holds_at_pod_terminal: { reason: REASON, original: JSON.stringify(holds) },
    })
  })

  test('what looks like an escape and is text stays as it is, without a flag', () => {
    const row = flatten(container({ number: '\\u0000', new_thing: 'C:\\users\\u0000' }))
    expect(row.columns.number).toBe('\\u0000')
    expect(row.unmapped).toEqual({ new_thing: 'C:\\users\\u0000' })
    expect(row.coercions).toEqual({})
  })

  test('in the id of something linked is replaced, and nobody is sent to read that id', () => {
    const row = flatten(
      container({}, { pod_terminal: { data: { type: 'terminal', id: 't\u0000' } } }),
    )
    expect(row.columns.pod_terminal_id).toBe('t\ufffd')
    expect(row.coercions.pod_terminal_id?.original).toBe('"t\\u0000"')
    expect(row.flat.references).toEqual([])
  })
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
    'NULL',
    '{}',
    '',
  ),
)

describe('texts', { tags: ['T2', 'T5'] }, () => {
  test('any JSON string comes out as it went in, or with exactly the replacements and a flag', () => {
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

  test('the text NULL in a list stays a text, null stays null', () => {
    expect(flatten(container({ ref_numbers: ['NULL', null, ''] })).columns.ref_numbers).toBe(
      '{"NULL",NULL,""}',
    )
  })
})
