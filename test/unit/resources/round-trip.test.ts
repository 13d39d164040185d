import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExactJson } from '../../../src/source/jsonapi/exact-json.js'
import { containers, resources } from '../../../src/source/records/index.js'
import type { Resource } from '../../../src/source/records/resource.js'
import { readPayloads } from '../../support/read-payloads.js'
import { accountFor } from './account-for.js'
import { container, flatten, type JsonObject } from './flat-rows.js'

describe('names that could take the place of another', () => {
  test('an attribute named like one of our own columns stays apart from that column', () => {
    const row = flatten(
      container(
        { shipment_id: 'x', pickup_lfd_line: 'y', container_id: 'z' },
        { shipment: { data: { type: 'shipment', id: 's' } } },
      ),
    )
    expect(row.columns).toMatchObject({ shipment_id: 's', container_id: 'container-1' })
    expect(row.columns.pickup_lfd_line).toBeUndefined()
    expect(row.unmapped).toEqual({ shipment_id: 'x', pickup_lfd_line: 'y', container_id: 'z' })
  })
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  // Halves of surrogate pairs, and U+0000.
  fc
    .array(fc.constantFrom(0, 0x41, 0xd83d, 0xde00, 0xfffd, 0x202e), { maxLength: 5 })
    .map((codes) => String.fromCharCode(...codes)),
)

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  anyText,
  fc.constantFrom(
    '2026-03-08T10:00:00Z',
    '2026-02-30T00:00:00Z',
    '2020-05-20',
    '20210',
    'true',
    ' 12 ',
    '44,000',
    'NaN',
    20210.5,
    1e21,
    1e-7,
    '',
  ),
  fc.array(anyText, { maxLength: 3 }),
  fc.record({ pickup_lfd_rail: fc.constantFrom('2026-03-08T10:00:00Z', null, 5, {}) }),
)

const anyName = fc.oneof(
  anyText.filter((name) => name !== '__proto__'),
  fc.constantFrom('id', 'meta', 'links', 'a.b', 'constructor', 'toString', 'hasOwnProperty'),
)

const anyIdentifier = fc.record(
  {
    id: fc.oneof(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.constantFrom('', 5, null)),
    type: fc.constantFrom('port', 'shipment', 'container', 'metro_area', 'new_type'),
    meta: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['id', 'type'] },
)

const anyRelationship = fc.oneof(
  fc.record(
    {
      data: fc.oneof(
        fc.constant(null),
        anyIdentifier,
        fc.array(anyIdentifier, { maxLength: 3 }),
        fc.jsonValue({ maxDepth: 1 }),
      ),
      links: fc.constant({ related: '/v2/x' }),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue({ maxDepth: 1 }),
)

/** Records of one type: known and unknown names, right and wrong values. */
function recordsOfType({ type, attributes, relationships }: Resource): fc.Arbitrary<JsonObject> {
  const known = [...attributes.keys()]
  const names = known.length === 0 ? anyName : fc.oneof(anyName, fc.constantFrom(...known))
  const relations = [...relationships.keys(), 'something_new']
  return (
    fc
      .record({
        id: fc.stringMatching(/^[a-z0-9-]{1,12}$/),
        attributes: fc.dictionary(names, anyValue, { maxKeys: 12, noNullPrototype: true }),
        relationships: fc.dictionary(fc.constantFrom(...relations), anyRelationship, {
          maxKeys: 5,
          noNullPrototype: true,
        }),
        links: fc.constantFrom({}, { self: '/other' }, null),
        meta: fc.jsonValue({ maxDepth: 2 }),
      })
      .map((record) => keyed({ ...record, type: type === '*' ? 'new_type' : type }))
      // As it comes over the wire: plain objects, without members called __proto__.
      .map((record) => parseExactJson(JSON.stringify(record)) as JsonObject)
  )
}

/** With what the key of the row needs. */
function keyed(record: JsonObject): JsonObject {
  const linked = { data: { type: 'container', id: 'container-1' } }
  const { relationships } = record as Record<string, JsonObject>
  if (record.type === 'transport_event') {
    return { ...record, relationships: { ...relationships, container: linked } }
  }
  return record
}

/** Without notifications and webhooks: neither makes a row of its own. */
function recordsOf(directory: string): JsonObject[] {
  return readPayloads(directory)
    .flatMap(({ data, included }) => [...data, ...included])
    .filter(({ type }) => !type.startsWith('webhook'))
}

describe('published payloads', { tags: ['K8'] }, () => {
  test.each([
    ['samples', 40],
    ['full-payloads', 20],
  ])('%s: every value is in its column, in unmapped or in coercions', (directory, least) => {
    const records = recordsOf(directory)
    expect(records.length).toBeGreaterThan(least)
    expect(records.flatMap(accountFor)).toEqual([])
  })

  test('with all that the service documents leave nothing unmapped and nothing flagged', () => {
    const known = recordsOf('full-payloads').filter(
      ({ type }) => !/^(?:user|party|container_updated_event)$/.test(String(type)),
    )
    for (const record of known) {
      const { unmapped, coercions } = flatten(record)
      expect({ id: record.id, unmapped, coercions }).toEqual({
        id: record.id,
        unmapped: {},
        coercions: {},
      })
    }
  })
})

describe('generated records', { tags: ['K8'] }, () => {
  test.each(resources)('$stream: what a record holds is in some column', (resource) => {
    fc.assert(
      fc.property(recordsOfType(resource), (record) => {
        expect(accountFor(record)).toEqual([])
      }),
      { numRuns: resource === containers ? 400 : 150 },
    )
  })
})
