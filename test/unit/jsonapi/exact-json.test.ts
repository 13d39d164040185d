import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ExactNumber,
  JsonNestingError,
  parseExactJson,
  stringifyExactJson,
} from '../../../src/source/jsonapi/exact-json.js'

describe('parseExactJson', () => {
  test.each([
    '9007199254740993',
    '1e400',
    '1e200000',
    '850.000000000000000001',
    '0.1000000000000000000001',
    '12345678901234567890.5',
    '1e99999999999999999999',
  ])('%s keeps its digits', { tags: ['N2'] }, (source) => {
    const parsed = parseExactJson(`{"a":[${source}]}`)
    expect(parsed).toEqual({ a: [new ExactNumber(source)] })
    expect(stringifyExactJson(parsed)).toBe(`{"a":[${source}]}`)
  })

  test.each([
    ['850.00', 850],
    ['1000000000000000000000', 1e21],
    ['0.10000000000000000000', 0.1],
    ['0e999999', 0],
    ['-0', -0],
  ])('%s stays a number', { tags: ['N1'] }, (source, value) => {
    expect(parseExactJson(source)).toBe(value)
  })

  test('digits within strings and names are text', () => {
    const text = '{"9007199254740993":"\\"9007199254740993, 1e400","b":9007199254740993}'
    const expected = JSON.parse(text) as Record<string, unknown>
    expect(parseExactJson(text)).toEqual({ ...expected, b: new ExactNumber('9007199254740993') })
  })

  test('a BOM before the text is accepted', { tags: ['H11'] }, () => {
    expect(parseExactJson('\ufeff{"a":1}')).toEqual({ a: 1 })
    expect(parseExactJson('\ufeff[1e400]')).toEqual([new ExactNumber('1e400')])
  })

  test.each([
    '',
    '{',
    '[1,]',
    '{"a":NaN}',
    '[-Infinity]',
    '01',
    '.5',
    '[1e400',
    '{"a":9007199254740993,}',
    '{9007199254740993:1}',
    '<html>',
    '1 2',
  ])('%j is no JSON', { tags: ['N3'] }, (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
  })

  test.each([65, 1_000, 50_000, 200_000])('refuses %d levels', { tags: ['T6'] }, (levels) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const text = `${open!.repeat(levels)}1${close!.repeat(levels)}`
      expect(() => parseExactJson(text)).toThrow(JsonNestingError)
    }
  })

  test('accepts 64 levels, and ignores brackets within strings', { tags: ['T6'] }, () => {
    const text = `${'['.repeat(64)}9007199254740993${']'.repeat(64)}`
    expect(stringifyExactJson(parseExactJson(text))).toBe(text)
    const brackets = JSON.stringify('\\"[{'.repeat(1_000))
    expect(parseExactJson(`[${brackets}]`)).toHaveLength(1)
  })

  test.each(['', ',"n":9007199254740993'])('drops __proto__ (%j)', { tags: ['T8'] }, (more) => {
    const text = `{"a":[{"__proto__":{"x":1},"\\u005f_proto__":{"x":2},"b":1}],"constructor":1${more}}`
    const parsed = parseExactJson(text) as { a: Record<string, unknown>[] }
    expect(Object.keys(parsed.a[0]!)).toEqual(['b'])
    expect(Object.assign({}, parsed.a[0])).not.toHaveProperty('x')
    expect(Object.getPrototypeOf(parsed.a[0])).toBe(Object.prototype)
    expect(Object.hasOwn(parsed, 'constructor')).toBe(true)
    expect(({} as { x?: unknown }).x).toBeUndefined()
    const escaped = parseExactJson(`{"\\u005f_proto__":{"x":1},"b":1${more}}`) as object
    expect(Object.keys(escaped)).not.toContain('__proto__')
    expect(Object.getPrototypeOf(escaped)).toBe(Object.prototype)
  })

  test('of members with one name the last one counts, either way', { tags: ['T8'] }, () => {
    expect(parseExactJson('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(parseExactJson('{"a":1e400,"a":2}')).toEqual({ a: 2 })
  })

  test('property: ordinary values come through as JSON.parse gives them', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), undefined, indent)
        const isProto = /__proto__|\\u00/.test(text)
        if (!isProto) expect(parseExactJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })
})

describe('stringifyExactJson', () => {
  /** Values with exact numbers of which no JS number holds one. */
  const exactNumbers = fc
    .tuple(fc.constantFrom('', '-'), fc.bigInt({ min: 10n ** 20n, max: 10n ** 40n }), fc.nat(99))
    .map(([sign, digits, fraction]) => new ExactNumber(`${sign}${digits * 10n + 1n}.${fraction}1`))
  const names = fc.string().filter((name) => name !== '__proto__')
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      exactNumbers,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))

  test('property: what is written is read back equal, with numbers', { tags: ['I18'] }, () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(parseExactJson(stringifyExactJson(value))).toEqual(value)
      }),
    )
  })

  test('property: ordinary values are written as JSON.stringify writes them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyExactJson(value)).toBe(JSON.stringify(value))
        const withExact = [value, new ExactNumber('1e400')]
        expect(stringifyExactJson(withExact)).toBe(`[${JSON.stringify(value)},1e400]`)
      }),
    )
  })

  test('leaves out undefined members at every level', () => {
    const value = { b: [{ z: 1, a: undefined, c: null }], a: new ExactNumber('1e400') }
    expect(stringifyExactJson(value)).toBe('{"b":[{"z":1,"c":null}],"a":1e400}')
  })
})
