import { describe, expect, test } from 'vitest'
import { ApiContractError } from '../../../src/base/errors.js'
import { flattenAnyRecord } from '../../../src/source/records/index.js'
import { container, flatten, SEEN, type JsonObject } from './flat-rows.js'

/** The reason to set a record aside: `pointer: reason`. */
function refusalOf(record: unknown): string {
  try {
    flattenAnyRecord(record, SEEN)
  } catch (error) {
    if (!(error instanceof ApiContractError)) throw error
    expect(error.fate).toBe('quarantine')
    return `${error.pointer}: ${error.message}`
  }
  return 'taken'
}

const good = { id: 'c', type: 'container', attributes: { number: 'A' } }

describe('records of the wrong form', { tags: ['T7'] }, () => {
  test.each([[null], [5], ['container'], [[good]]])('%j is set aside as no object', (record) => {
    expect(refusalOf(record)).toBe(': the record is not an object')
  })

  const NO_OBJECT = '/attributes: attributes is not an object'
  const ODD_ID = '/id: id holds control characters or lone surrogates'
  test.each([
    ['without attributes', { attributes: undefined }, '/attributes: attributes are missing'],
    ['attributes as a list', { attributes: [] }, NO_OBJECT],
    ['attributes null', { attributes: null }, NO_OBJECT],
    ['id as a number', { id: 5 }, '/id: id is missing or not a text'],
    ['an empty id', { id: '' }, '/id: id is missing or not a text'],
    ['without id', { id: undefined }, '/id: id is missing or not a text'],
    ['id as an object', { id: {} }, '/id: id is missing or not a text'],
    ['without type', { type: undefined }, '/type: type is missing'],
    ['an empty type', { type: '' }, '/type: type is missing'],
    ['type as a number', { type: 7 }, '/type: type is missing'],
    ['links as a list', { relationships: [] }, '/relationships: relationships is not an object'],
    ['an id of 256 characters', { id: 'x'.repeat(256) }, '/id: id is longer than 255 characters'],
    ['U+0000 in the id', { id: 'a\u0000' }, ODD_ID],
    ['a line break in the id', { id: 'a\nb' }, ODD_ID],
    ['half a surrogate pair in the id', { id: 'a\ud83d' }, ODD_ID],
  ])(
    '%s is set aside with a pointer to what is wrong',
    { tags: ['T4'] },
    (_what, wrong, refusal) => {
      expect(refusalOf({ ...good, ...wrong })).toBe(refusal)
    },
  )

  test.each([
    ['a list where one is expected', 'shipment', [{ type: 'shipment', id: 's' }], 'shipment_id'],
    ['an object without id', 'shipment', { type: 'shipment' }, 'shipment_id'],
    ['an id that is a number', 'shipment', { type: 'shipment', id: 5 }, 'shipment_id'],
    ['an empty id', 'shipment', { type: 'shipment', id: '' }, 'shipment_id'],
    ['one where a list is expected', 'transport_events', good, 'transport_event_ids'],
    ['null where a list is expected', 'transport_events', null, 'transport_event_ids'],
    ['a list with a null', 'transport_events', [good, null], 'transport_event_ids'],
  ])('a linkage that is %s becomes null, and the record is kept', (_what, name, data, column) => {
    const row = flatten(container({ number: 'A' }, { [name]: { data } }))
    expect(row.columns.number).toBe('A')
    expect(row.columns[column]).toBeNull()
    expect(row.coercions).toEqual({
      [column]: { reason: 'not a resource linkage', original: JSON.stringify(data) },
    })
    expect(row.unmapped).toEqual({})
  })

  test('every other member of a record and of a relationship is kept', () => {
    const row = flatten({
      ...good,
      meta: { page: 1 },
      links: { self: '/v2/containers/c', more: '/x' },
      relationships: {
        shipment: { data: { type: 'shipment', id: 's' }, links: { related: '/y' } },
        pod_terminal: { data: { type: 'port', id: 'p' } },
        strange: { data: null },
      },
    })
    expect(row.columns).toMatchObject({ shipment_id: 's', pod_terminal_id: 'p' })
    expect(row.unmapped).toEqual({
      'record.meta': { page: 1 },
      'links.more': '/x',
      'relationships.shipment': { links: { related: '/y' } },
      'relationships.pod_terminal': { data: { type: 'port', id: 'p' } },
      'relationships.strange': { data: null },
    })
  })

  test('an id of 255 characters, and one that is no UUID, are taken', () => {
    for (const id of ['x'.repeat(255), 'x92acf88-g534c071baaf3', 'tracking-events', 'ü 1']) {
      expect(flatten({ ...good, id }).columns.container_id).toBe(id)
    }
  })

  test.each(['port', 'metro_area', 'vessel', 'tracking_request', 'webhook_event_category'])(
    'a %s without attributes is a row that says only that it exists',
    (type) => {
      const row = flatten({ id: 'x', type })
      expect(Object.values(row.columns).filter((value) => value !== undefined)).toEqual(['x'])
    },
  )

  test.each(['shipment', 'container', 'terminal', 'rail_terminal'])(
    'a %s without attributes is set aside, as the interface requires them',
    (type) => {
      expect(refusalOf({ id: 'x', type })).toBe('/attributes: attributes are missing')
    },
  )
})

describe('rows whose key has two parts', () => {
  const event = (containerId: unknown, id = 'e') => ({
    id,
    type: 'transport_event',
    attributes: {},
    relationships: { container: { data: { type: 'container', id: containerId } } },
  })
  test.each([
    ['no container', { id: 'e', type: 'transport_event' }, 'container_id is missing'],
    ['U+0000 in the container', event('a\u0000'), 'container_id holds control characters'],
    ['a container of 256 characters', event('x'.repeat(256)), 'container_id is missing'],
  ])('%s: the record is set aside', (_what, record, reason) => {
    expect(refusalOf(record)).toContain(reason)
  })

  test('no two rows share a key: a space is refused in all parts but the last', () => {
    expect(refusalOf(event('a b', 'c'))).toContain('container_id holds a space')
    expect(flatten(event('a', 'b c')).flat.key).toBe('a b c')
  })
})

describe('transport events', () => {
  const to = (type: string, id: string) => ({ data: { type, id } })
  const event = (attributes: JsonObject, relationships: JsonObject = {}): JsonObject => ({
    id: 'e-1',
    type: 'transport_event',
    attributes,
    relationships,
  })

  test.each([
    ['no relationships', {}],
    ['a null container', { container: { data: null } }],
    ['a relationship without data', { container: { links: { related: '/v2/containers/c-9' } } }],
  ])('with %s takes its container from the request', (_what, relationships) => {
    const row = flatten(event({}, relationships), { containerId: 'c-9' })
    expect(row.flat.key).toBe('c-9 e-1')
    expect(row.columns.container_id).toBe('c-9')
  })

  test("the record's own container stands above the one of the request", () => {
    const own = event({}, { container: to('container', 'c-1') })
    expect(flatten(own, { containerId: 'c-9' }).columns.container_id).toBe('c-1')
  })
})
