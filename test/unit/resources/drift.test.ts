import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExactJson } from '../../../src/source/jsonapi/exact-json.js'
import type { ColumnType, EncodedValue } from '../../../src/source/records/column.js'
import { resources } from '../../../src/source/records/index.js'
import type { Resource } from '../../../src/source/records/resource.js'
import { readPayloads } from '../../support/read-payloads.js'
import {
  container,
  flatten,
  readArrayLiteral,
  type JsonObject,
  type NamedRow,
} from './flat-rows.js'

test('a new attribute is kept in unmapped and makes no coercion', { tags: ['K1'] }, () => {
  const row = flatten(container({ number: 'A', carbon_kg: 12.5, legs: [{ mode: 'rail' }] }))
  expect(row.unmapped).toEqual({ carbon_kg: 12.5, legs: [{ mode: 'rail' }] })
  expect(row.coercions).toEqual({})
  expect(row.columns.number).toBe('A')
})

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

interface Cell {
  readonly resource: Resource
  readonly attribute: string
  readonly type: ColumnType
}

const cells: readonly Cell[] = resources.flatMap((resource) =>
  [...resource.attributes].map(([attribute, { type }]) => ({ resource, attribute, type })),
)

/** A record with only what the key of its row needs, and one attribute more. */
function partial({ type }: Resource, attributes: JsonObject): JsonObject {
  const linked = { data: { type: 'container', id: 'c' } }
  const isEvent = type === 'transport_event'
  return { id: 'x', type, attributes, relationships: isEvent ? { container: linked } : {} }
}

/** Values for `""` and `[]` by the type of their column; undefined: null and a coercion. */
const EMPTY_TEXT: Partial<Record<ColumnType, string>> = { text: '', jsonb: '""' }
const EMPTY_LIST: Partial<Record<ColumnType, string>> = { 'text[]': '{}', jsonb: '[]' }

describe('absent, null, "" and [] are four different things', { tags: ['K3'] }, () => {
  test('every attribute of the interface is tested', () => {
    expect(cells.length).toBe(176)
  })

  test.each(cells.map((cell) => ({ ...cell, name: `${cell.resource.stream}.${cell.attribute}` })))(
    '$name',
    ({ resource, attribute, type }) => {
      const absent = flatten(partial(resource, {}))
      expect(absent.columns[attribute]).toBeUndefined()
      expect(absent.coercions).toEqual({})

      const empty = flatten(partial(resource, { [attribute]: null }))
      expect(empty.columns[attribute]).toBeNull()
      expect(empty.coercions).toEqual({})

      for (const [value, stored] of [
        ['', EMPTY_TEXT[type]],
        [[], EMPTY_LIST[type]],
      ] as const) {
        const row = flatten(partial(resource, { [attribute]: value }))
        expect(row.columns[attribute]).toBe(stored ?? null)
        const original = row.coercions[attribute]?.original
        expect(original).toBe(stored === undefined ? JSON.stringify(value) : undefined)
      }
    },
  )
})

describe('a value of another type', { tags: ['K4'] }, () => {
  test.each([
    ['a number as a text', 'weight_in_lbs', '20210', '20210'],
    ['a number as a text with blanks', 'weight_in_lbs', ' 20210.5 ', '20210.5'],
    ['a whole number as a text', 'equipment_length', '40', '40'],
    ['a whole number with a zero fraction', 'equipment_length', '40.0', '40'],
    ['true as a text', 'availability_known', 'true', 'true'],
    ['false as a text', 'availability_known', 'false', 'false'],
    ['a text as a number', 'number', 20210.5, '20210.5'],
    ['a text as true', 'number', true, 'true'],
    ['numbers in a list of texts', 'ref_numbers', [1, true, null], '{"1","true",NULL}'],
  ])('%s is cast, for nothing is lost', (_what, attribute, value, stored) => {
    const row = flatten(container({ [attribute]: value }))
    expect(row.columns[attribute]).toBe(stored)
    expect(row.coercions).toEqual({})
  })

  test.each([
    ['a text as an object', 'number', { a: 1 }, 'not a text'],
    ['a text as a list', 'seal_number', ['A'], 'not a text'],
    ['a whole number with a fraction', 'equipment_length', 20210.5, 'not a whole number'],
    ['a whole number beyond 32 bits', 'equipment_length', 2147483648, 'out of range'],
    ['a number as an object', 'weight_in_lbs', { lbs: 5 }, 'not a number'],
    ['a number as true', 'weight_in_lbs', true, 'not a number'],
    ['true as 1', 'availability_known', 1, 'not true or false'],
    ['true as "yes"', 'availability_known', 'yes', 'not true or false'],
    ['a list as an object', 'ref_numbers', { 0: 'A' }, 'not a list of texts'],
    ['a list as a text', 'ref_numbers', 'A', 'not a list of texts'],
    ['a list of objects', 'ref_numbers', [{ a: 1 }], 'not a list of texts'],
    ['a list of lists', 'ref_numbers', [['A']], 'not a list of texts'],
    ['a time as a number', 'pod_arrived_at', 1700000000, 'not an RFC 3339 date-time'],
    ['a time as an object', 'pod_arrived_at', {}, 'not an RFC 3339 date-time'],
  ])('%s becomes null, and its original and reason are kept', (_what, attribute, value, reason) => {
    const row = flatten(container({ number: 'A', [attribute]: value }))
    expect(row.columns[attribute]).toBeNull()
    expect(row.coercions).toEqual({ [attribute]: { reason, original: JSON.stringify(value) } })
    expect(row.columns.container_id).toBe('container-1')
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
  fc.constantFrom('2026-03-08T10:00:00Z', '2026-02-30T00:00:00Z', '20210', 'true', ' 12 ', 'NaN'),
  fc.constantFrom(20210.5, 1e21, 1e-7, ''),
  fc.array(anyText, { maxLength: 3 }),
)

/** A comparison by rules of its own, without the code that fills columns. */
function isSame(type: ColumnType, stored: EncodedValue | undefined, sent: unknown): boolean {
  if (stored === undefined) return false
  if (sent === null || stored === null) return sent === stored
  const textOf = (value: unknown): unknown =>
    value === null || typeof value === 'string' ? value : JSON.stringify(value)
  switch (type) {
    case 'timestamptz':
      return typeof sent === 'string' && Date.parse(stored) === Date.parse(sent)
    case 'numeric':
    case 'integer':
      return typeof sent !== 'boolean' && sent !== '' && Number(stored) === Number(sent)
    case 'text[]':
      return isDeepStrictEqual(readArrayLiteral(stored), (sent as unknown[]).map(textOf))
    case 'jsonb':
      return isDeepStrictEqual(JSON.parse(stored), sent)
    case 'text':
    case 'date':
    case 'boolean':
      return stored === textOf(sent)
    default:
      return type satisfies never
  }
}

/** Attributes that are neither in a column nor beside it; `id` only repeats the record's. */
function lostOf(
  { flat, columns, coercions, unmapped }: NamedRow,
  attributes: JsonObject = {},
): string[] {
  const isLost = ([name, sent]: [string, unknown]): boolean => {
    const type = flat.resource.attributes.get(name)?.type
    const original = coercions[name]?.original
    if (type === undefined) return name !== 'id' && !isDeepStrictEqual(unmapped[name], sent)
    if (original !== undefined) return !isDeepStrictEqual(JSON.parse(original), sent)
    return !isSame(type, columns[name], sent)
  }
  return Object.entries(attributes)
    .filter(isLost)
    .map(([name]) => name)
}

describe('a value is in its column, or beside it as it was sent', { tags: ['K4', 'K8'] }, () => {
  test.each([
    ['samples', 40],
    ['full-payloads', 20],
  ])('of the published %s', (directory, least) => {
    const records = readPayloads(directory)
      .flatMap(({ data, included }) => [...data, ...included])
      .filter(({ type }) => !type.startsWith('webhook'))
    expect(records.length).toBeGreaterThan(least)
    for (const record of records) {
      const row = flatten(record)
      expect(lostOf(row, record.attributes), record.id).toEqual([])
      const isNamedOnly = /^(?:user|party|container_updated_event)$/.test(record.type)
      if (directory === 'samples' || isNamedOnly) continue
      // The service documents all of it.
      expect({ ...row.unmapped, ...row.coercions }, record.id).toEqual({})
    }
  })

  test('of any record', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cells), anyText, anyValue, (cell, name, value) => {
        const { resource, attribute } = cell
        // As it comes over the wire, without members called __proto__.
        const sent = parseExactJson(JSON.stringify(value))
        const more = { [`new ${name.replaceAll('.', '')}`]: sent }
        const row = flatten(partial(resource, { [attribute]: sent, ...more }))
        expect(lostOf(row, { [attribute]: sent })).toEqual([])
        const replaced = row.coercions._unmapped?.original
        expect(replaced === undefined ? row.unmapped : JSON.parse(replaced)).toEqual(more)
      }),
      { numRuns: 2_000 },
    )
  })
})
