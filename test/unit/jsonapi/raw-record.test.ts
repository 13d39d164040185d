import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExactJson } from '../../../src/jsonapi/exact-json.js'
import { parseJsonBytes, parseUnrecognized } from '../../../src/jsonapi/parse-json-bytes.js'
import { digestOf, type RawRecord } from '../../../src/jsonapi/raw-record.js'

/** The records of a document as they are before they are parsed. */
async function rawRecords(text: string): Promise<readonly RawRecord[]> {
  let found: readonly RawRecord[] = []
  await parseUnrecognized(Buffer.from(text), (records) => {
    found = records
    return Promise.resolve(new Map())
  })
  return found
}

async function rawRecord(record: string): Promise<RawRecord> {
  const [raw] = await rawRecords(`{"data":[${record}]}`)
  if (raw === undefined) throw new Error('there is no record')
  return raw
}

const ids = fc.oneof(fc.uuid(), fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', 'é"}'))
const identifiers = fc.record({ id: ids, type: fc.constantFrom('port', 'container') })
const linkages = fc.oneof(identifiers, fc.array(identifiers, { maxLength: 3 }), fc.constant(null))
const names = fc.constantFrom('container', 'containers', 'data', 'id', 'transport_events')
const relationships = fc.dictionary(
  names,
  fc.record(
    { data: linkages, links: fc.jsonValue(), meta: fc.constant({ data: { id: 'no', type: 'x' } }) },
    { requiredKeys: [] },
  ),
)
const values = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant({ id: 'inner', type: 'inner' }))
const records = fc
  .record({
    id: ids,
    type: fc.constantFrom('shipment', 'container', 'transport_event'),
    attributes: fc.dictionary(fc.oneof(names, fc.string()), values),
    relationships,
    meta: values,
  })
  .chain((record) =>
    fc
      .shuffledSubarray(Object.entries(record), { minLength: 2 })
      .map((entries) => Object.fromEntries(entries) as Partial<typeof record>),
  )

describe('RawRecord', () => {
  test('reads off type, id and linkages what the parser reads, or nothing', async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom(undefined, 1, '\t'), async (record, indent) => {
        const raw = await rawRecord(JSON.stringify(record, undefined, indent))
        const isPlain = (text: string): boolean => JSON.stringify(text) === `"${text}"`
        const expected = (text: string | undefined): string | undefined =>
          text !== undefined && isPlain(text) ? Buffer.from(text).toString() : undefined
        expect(raw.id).toBe(expected(record.id))
        expect(raw.type).toBe(record.type)
        for (const name of ['container', 'containers', 'transport_events', 'id']) {
          const data = record.relationships?.[name]?.data
          expect(raw.linkage(name)).toEqual(data ?? undefined)
          const isOne = data !== null && data !== undefined && !Array.isArray(data)
          expect(raw.linkedId(name)).toBe(isOne ? expected(data.id) : undefined)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('tells nothing of the members of members', async () => {
    const raw = await rawRecord(
      '{"attributes":{"id":"a","relationships":{"container":{"data":{"id":"b"}}}},"links":{"type":"c"}}',
    )
    expect([raw.id, raw.type, raw.linkage('container')]).toEqual([undefined, undefined, undefined])
  })

  test('has the same digest for the same bytes only', async () => {
    await fc.assert(
      fc.asyncProperty(records, records, async (one, other) => {
        const [first, again, second] = await rawRecords(
          JSON.stringify({ data: [one], included: [one, other] }),
        )
        expect(first?.digest).toBe(again?.digest)
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(second?.digest === first?.digest).toBe(isSame)
        expect([first?.place, again?.place]).toEqual(['data', 'included'])
      }),
    )
  })

  test('hands its digest to the record that is parsed of it, and to no copy', async () => {
    const text = '{"data":[{"id":"1","type":"a"}],"included":[7,{"id":"2","type":"b"}]}'
    const raws = await rawRecords(text)
    const { data, included } = parseJsonBytes(Buffer.from(text)) as Record<string, object[]>
    expect([data?.[0], included?.[1]].map(digestOf)).toEqual(raws.map(({ digest }) => digest))
    expect(digestOf({ ...data?.[0] })).toBeUndefined()
    expect([7, null, undefined, 'text'].map(digestOf)).toEqual(Array(4).fill(undefined))
  })
})

describe('parseUnrecognized', () => {
  test('puts in the place of what is recognized what stands for it, and parses the rest', async () => {
    const text = '{"data":[{"id":"1"},{"id":"2"}],"included":[{"id":"3"},null],"meta":{"a":1}}'
    const known = { known: true }
    const value = await parseUnrecognized(Buffer.from(text), (raws) =>
      Promise.resolve(new Map(raws.filter(({ id }) => id !== '2').map((raw) => [raw, known]))),
    )
    expect(value).toEqual({ data: [known, { id: '2' }], included: [known, null], meta: { a: 1 } })
  })

  test(
    'gives and refuses what the parser of the whole text does when nothing is recognized',
    { tags: ['N3'] },
    async () => {
      const damage = fc.tuple(
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', ',', '"', ']', '}', '{', '\\'),
      )
      const nothing = (): Promise<ReadonlyMap<RawRecord, object>> => Promise.resolve(new Map())
      await fc.assert(
        fc.asyncProperty(fc.array(records, { maxLength: 3 }), damage, async (data, damaged) => {
          const [place, length, put] = damaged
          const whole = JSON.stringify({ data, included: data })
          const at = place % (whole.length + 1)
          const text = Buffer.from(whole.slice(0, at) + put + whole.slice(at + length)).toString()
          const outcome = await parseUnrecognized(Buffer.from(text), nothing).catch(
            (error: unknown) => (error as Error).name,
          )
          let expected: unknown
          try {
            expected = parseExactJson(text)
          } catch (error) {
            expected = (error as Error).name
          }
          expect(outcome).toEqual(expected)
        }),
        { numRuns: 500 },
      )
    },
  )
})
