import { expect, test } from 'vitest'
import type { z } from 'zod'
import { ExactNumber } from '../../../src/source/jsonapi/exact-json.js'
import * as schemas from '../../../src/source/jsonapi/schemas.js'

const NOTHING = { next: null, last: null }
const EMPTY = { data: [], included: [], links: NOTHING, meta: { total: null } }
const RECORD = { type: 'container', id: 'c' }
const NO_SOURCE = { title: null, code: null, source: null }
const SILENT = { event: null, created_at: null, delivery_status: null }
const UNLINKED = { webhook: null, reference_object: null }
const UNTOLD = { url: null, active: null, events: null, headers: null }

/** A frame, an input, and the reading of it: a text is the pointer and reason of a refusal. */
const FRAMES: readonly (readonly [frame: string, sent: unknown, expected: unknown])[] = [
  ['list', { data: [RECORD, 7] }, { ...EMPTY, data: [RECORD, 7] }],
  ['list', { data: [], included: null, links: null, meta: null }, EMPTY],
  ['list', { data: RECORD }, '/data: data is not a list'],
  ['list', { errors: null, data: [] }, /^\/errors: /],
  ['list', [], ': it is not an object'],
  ['list', { data: [], included: {} }, '/included: included is not a list'],
  ['list', { data: [], links: [] }, '/links: links is not an object'],
  ['list', { data: [], meta: 7 }, '/meta: meta is not an object'],
  ['rawList', { data: [] }, { primary: [], included: [], links: NOTHING, meta: EMPTY.meta }],
  ['rawList', { data: [RECORD] }, '/data: data is not a list'],
  ['single', { data: RECORD }, { ...EMPTY, data: [RECORD] }],
  ['single', { data: [RECORD] }, '/data: data is not one record'],
  ['single', { data: null }, '/data: data is not one record'],
  ['document', { data: null }, EMPTY],
  ['document', { data: RECORD }, { ...EMPTY, data: [RECORD] }],
  ['document', {}, '/data: data is neither a list nor a record'],
  ['document', null, ': it is not an object'],
  ['record', { ...RECORD, id: '..' }, '/id: id cannot stand in an address'],
  ['errors', '<html>', []],
  ['errors', { errors: [7, null, '', {}] }, []],
  ['errors', { errors: ['no'] }, [{ ...NO_SOURCE, detail: 'no' }]],
  ['errors', { message: 'no' }, [{ ...NO_SOURCE, detail: 'no' }]],
  [
    'errors',
    { errors: [{ title: 'no', code: 5, source: { parameter: ' ', pointer: '/data' } }] },
    [{ title: 'no', detail: null, code: null, source: '/data' }],
  ],
  ['linkage', { data: { ...RECORD, meta: {} } }, RECORD],
  ['linkage', { data: [RECORD] }, null],
  ['linkage', { data: { ...RECORD, id: 'a\u0000' } }, null],
  ['links', { next: { href: ' ' }, last: 7 }, NOTHING],
  ['links', { next: { href: '?page=2' } }, { ...NOTHING, next: '?page=2' }],
  ['links', [], ': is not an object'],
  ['meta', { total: '30' }, { total: null }],
  [
    'notification',
    {
      id: 'n',
      attributes: [],
      relationships: { webhook: 'w', reference_object: { data: RECORD } },
    },
    { id: 'n', attributes: SILENT, relationships: { ...UNLINKED, reference_object: RECORD } },
  ],
  [
    'delivery',
    { data: { id: 'n', attributes: { event: 'a\u0000' } } },
    { data: { id: 'n', attributes: SILENT, relationships: UNLINKED } },
  ],
  ['delivery', { data: { id: '' } }, '/data/id: data.id is missing or not a text'],
  ['delivery', { data: [] }, '/data: data is not an object'],
  ['delivery', [], ': The body is not an object'],
  [
    'change',
    { type: 'x', attributes: { changeset: [], timestamp: 7, timezone: 'UTC' }, relationships: [] },
    {
      type: 'x',
      attributes: { changeset: null, timestamp: null, data_source: null, timezone: 'UTC' },
      relationships: { container: null },
    },
  ],
  ['webhook', { id: 'w' }, { id: 'w', attributes: UNTOLD }],
  [
    'webhook',
    {
      id: 'w',
      attributes: {
        url: 7,
        active: 'yes',
        events: ['a', 7],
        secret: '',
        headers: [{ name: 'h', value: 'v' }, 7],
      },
    },
    { id: 'w', attributes: { ...UNTOLD, events: ['a'], secret: null, headers: [{ name: 'h' }] } },
  ],
  ['eventCategory', null, { id: null, attributes: { events: null } }],
  [
    'eventCategory',
    { id: 'c', attributes: { events: [null, { name: 3 }, { name: 'x.y' }] } },
    { id: 'c', attributes: { events: [{ name: 'x.y', description: null }] } },
  ],
  [
    'addresses',
    { a: [{ b: ['192.0.2.1 ', '::1/128', '::ffff:192.0.2.1'] }, [7]] },
    ['192.0.2.1', '::1/128', '::ffff:192.0.2.1'],
  ],
  ['addresses', ['192.0.2.1/33'], ': the answer holds no list of addresses'],
]

const schemaOf = (frame: string) => Reflect.get(schemas, `${frame}Schema`) as z.ZodType

test.each(FRAMES)('the frame %s reads %j as %j', { tags: ['T7'] }, (frame, sent, expected) => {
  const { data, error } = schemaOf(frame).safeParse(sent)
  if (error === undefined) expect(data).toEqual(expected)
  else {
    const { pointer, reason } = schemas.refusalOf(error)
    expect(`${pointer}: ${reason}`).toMatch(expected as string)
  }
})

test('a broken one of each frame is tried', () => {
  const frames = Object.keys(schemas).filter((name) => name.endsWith('Schema'))
  expect([...new Set(FRAMES.map(([frame]) => `${frame}Schema`))].sort()).toEqual(frames.sort())
})

test('a total is a number of records, or none', { tags: ['P12'] }, () => {
  const read = (total: unknown) => schemas.metaSchema.parse({ total }).total
  expect([0, 59_229, 1e9].map(read)).toEqual([0, 59_229, 1e9])
  const odd = ['30', -1, 1.5, 2 ** 60, new ExactNumber('9007199254740993'), null]
  expect(odd.map(read)).toEqual(odd.map(() => null))
})

test('records of a page are checked in their place, not copied', () => {
  const data = [RECORD]
  expect(schemas.listSchema.parse({ data }).data).toBe(data)
  expect(schemas.singleSchema.parse({ data: RECORD }).data[0]).toBe(RECORD)
})
