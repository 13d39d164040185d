import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { membersOf } from '../../../src/source/jsonapi/document.js'
import { splitJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import { type RawRecord } from '../../../src/source/jsonapi/raw-record.js'

/** The entries of the lists of a document, unparsed. */
function rawRecords(text: string): readonly RawRecord[] {
  const { data, included = [] } = splitJsonBytes(Buffer.from(text)) as Record<string, RawRecord[]>
  return [...(data ?? []), ...included]
}

function rawRecord(record: string): RawRecord {
  const [raw] = rawRecords(`{"data":[${record}]}`)
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
  test('reads off type, id and linkages what the parser reads, or nothing', () => {
    fc.assert(
      fc.property(records, fc.constantFrom(undefined, 1, '\t'), (record, indent) => {
        const raw = rawRecord(JSON.stringify(record, undefined, indent))
        const isPlain = (text: string): boolean => JSON.stringify(text) === `"${text}"`
        const expected = (text: string | undefined): string | undefined =>
          text !== undefined && isPlain(text) ? Buffer.from(text).toString() : undefined
        expect(raw.id).toBe(expected(record.id))
        expect(raw.type).toBe(record.type)
        expect(raw.identity).toEqual({ type: record.type, id: membersOf(raw.parse()).id })
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

  test('has the same digest for the same bytes only', () => {
    fc.assert(
      fc.property(records, records, (one, other) => {
        const [first, again, second] = rawRecords(
          JSON.stringify({ data: [one], included: [one, other] }),
        )
        expect(first?.digest).toBe(again?.digest)
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(second?.digest === first?.digest).toBe(isSame)
        expect([first?.place, again?.place]).toEqual(['data', 'included'])
      }),
    )
  })
})
