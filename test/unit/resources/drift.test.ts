import { describe, expect, test } from 'vitest'
import type { ColumnType } from '../../../src/source/records/column.js'
import { resources } from '../../../src/source/records/index.js'
import type { Resource } from '../../../src/source/records/resource.js'
import { container, flatten, type JsonObject } from './flat-rows.js'

test('a new attribute is kept in unmapped and makes no coercion', { tags: ['K1'] }, () => {
  const row = flatten(container({ number: 'A', carbon_kg: 12.5, legs: [{ mode: 'rail' }] }))
  expect(row.unmapped).toEqual({ carbon_kg: 12.5, legs: [{ mode: 'rail' }] })
  expect(row.coercions).toEqual({})
  expect(row.columns.number).toBe('A')
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
  const plain = cells

  test('every attribute of the interface is tested', () => {
    expect(plain.length).toBe(176)
  })

  test.each(plain.map((cell) => ({ ...cell, name: `${cell.resource.stream}.${cell.attribute}` })))(
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
