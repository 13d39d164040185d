import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentSchema } from '../../../src/source/jsonapi/schemas.js'
import {
  JsonNestingError,
  decodeUtf8,
  parseExactJson,
} from '../../../src/source/jsonapi/exact-json.js'
import {
  JsonSizeError,
  parseJsonBytes,
  splitJsonBytes,
} from '../../../src/source/jsonapi/parse-json-bytes.js'
import { RawRecord } from '../../../src/source/jsonapi/raw-record.js'

/** Enough that the text is read record by record. */
const PADDING = ' '.repeat(70_000)

/** The value, or the kind of error. */
function outcome(parse: () => unknown): { readonly value?: unknown; readonly error?: string } {
  try {
    return { value: parse() }
  } catch (error) {
    return { error: (error as Error).name }
  }
}

function expectSame(text: string): void {
  const bytes = Buffer.from(text + PADDING)
  // Half a surrogate pair is not UTF-8 and was replaced.
  const whole = bytes.toString('utf8')
  const [read, expected] = [
    outcome(() => parseJsonBytes(bytes)),
    outcome(() => parseExactJson(whole)),
  ]
  expect(read).toEqual(expected)
  expect(outcome(() => parseEach(splitJsonBytes(bytes)))).toEqual(expected)
  // `toEqual` does not compare prototypes.
  expect(prototypeOf(read.value)).toBe(prototypeOf(expected.value))
}

/** A document whose records were left unparsed, with all of them parsed. */
function parseEach(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const parse = (entry: unknown): unknown => (entry instanceof RawRecord ? entry.parse() : entry)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      Array.isArray(member) ? member.map(parse) : parse(member),
    ]),
  )
}

function prototypeOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined
}

const records = fc.array(fc.jsonValue({ maxDepth: 4 }), {
  maxLength: 4,
})
const documents = fc.record(
  {
    data: fc.oneof(records, fc.jsonValue()),
    included: records,
    links: fc.jsonValue(),
    meta: fc.dictionary(fc.string({ unit: 'binary' }), fc.double()),
    'a "name"': fc.string({ unit: 'binary' }),
  },
  { requiredKeys: [] },
)

describe('parseJsonBytes', () => {
  test('gives what the parser of the whole text gives', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom(undefined, 1, '\t'), (document, indent) => {
        expectSame(JSON.stringify(document, undefined, indent))
      }),
      { numRuns: 150 },
    )
  })

  test('refuses what the parser of the whole text refuses', { tags: ['N3'] }, () => {
    const damage = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ',', '"', ']', '}', '{', '\\'))
    fc.assert(
      fc.property(documents, damage, (document, [place, length, put]) => {
        const text = JSON.stringify(document)
        const at = place % (text.length + 1)
        expectSame(text.slice(0, at) + put + text.slice(at + length))
      }),
      { numRuns: 400 },
    )
  })

  test.each([
    '\ufeff{"data":[1,{"id":"ü€😀"}]}',
    '{"data":[9007199254740993],"meta":{"total":1e400}}',
    '{"data":[{"__proto__":{"a":1}}],"__proto__":{"b":2}}',
    '{"data":[{"\\u005f_proto__":1}]}',
    '{"\\u005f_proto__":{}}',
    '{"data":[1],"data":{"a":[1]}}',
    '{"d\\u0061ta":[1,2]}',
    '{"data":["a\nb"]}',
    '{"data":[\u00a01]}',
    '{"data":[tru]}',
    '{"data":[nul\u0000l]}',
    '[[1],[2]]',
    '',
  ])('does so for %j', expectSame)

  test('a list in a prototype that the text names is none', { tags: ['T8'] }, () => {
    const body = parseJsonBytes(Buffer.from('{"__proto__":{"data":[]}}'))
    expect(documentSchema.safeParse(body).success).toBe(false)
  })

  test('counts the levels of the whole document', { tags: ['T6'] }, () => {
    const nested = (levels: number) =>
      `{"data":[${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}]}`
    expectSame(nested(64))
    expect(() => parseJsonBytes(Buffer.from(nested(65) + PADDING))).toThrow(JsonNestingError)
  })

  test('bytes that are no UTF-8 become the marks of the whole text', { tags: ['T3'] }, () => {
    const bytes = Buffer.concat([
      Buffer.from('{"data":["a'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('","'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from(`"]}${PADDING}`),
    ])
    expect(parseJsonBytes(bytes)).toEqual(parseExactJson(decodeUtf8(bytes)))
  })
})

describe('limits', { tags: ['FB4', 'FG4'] }, () => {
  const limits = { records: 3, values: 1_000 }
  const many = (name: string, entry: string, count: number): Buffer =>
    Buffer.from(`{"${name}":[${Array.from({ length: count }, () => entry).join(',')}]}`)

  test.each(['{}', '{"id":"1"}', '1', 'null'])('of the records of all lists: %s', (entry) => {
    expect(parseJsonBytes(many('data', entry, 3), limits)).toHaveProperty('data.length', 3)
    expect(() => parseJsonBytes(many('data', entry, 4), limits)).toThrow(JsonSizeError)
    expect(() => parseJsonBytes(many('included', entry, 4), limits)).toThrow(JsonSizeError)
    const both = Buffer.from(`{"data":[${entry},${entry}],"included":[${entry},${entry}]}`)
    expect(() => parseJsonBytes(both, limits)).toThrow('more than 3 records')
  })

  test.each([
    ['in a record', '{"data":[{"a":[', ']}]}'],
    ['in meta', '{"data":[],"meta":{"a":[', ']}}'],
    ['alone', '[', ']'],
  ])('of the number of values %s', (_where, before, after) => {
    const values = Array.from({ length: 400_000 }, () => '{}').join(',')
    const text = Buffer.from(`${before}${values}${after}`)
    expect(() => parseJsonBytes(text, limits)).toThrow('more than 1000 values')
    expect(() => parseJsonBytes(text, { records: 3, values: 1_000_000 })).not.toThrow()
  })
})
