import { describe, expect, test } from 'vitest'
import { parseJsonBytes, splitJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import { documentSchema, rawListSchema } from '../../../src/source/jsonapi/schemas.js'
import {
  hasRead,
  readPage,
  readRecords,
  shownKeys,
  type Intake,
} from '../../../src/ingest/intake.js'

const OPTIONS = {
  stream: 'shipments',
  source: '/shipments',
  observedAt: new Date('2026-03-02T08:00:00Z'),
  completeTypes: new Set(['container']),
}

const shipment = (id: string, name: string): object => ({
  id,
  type: 'shipment',
  attributes: { customer_name: name },
})
const container = (id: string, events: readonly string[]): object => ({
  id,
  type: 'container',
  attributes: { number: 'MSCU0000001' },
  relationships: {
    transport_events: { data: events.map((event) => ({ id: event, type: 'transport_event' })) },
  },
})

/**
 * A page that was split, of which the records with these ids are recognized at their first place.
 */
async function readSplit(
  recognized: readonly string[],
  data: readonly object[],
  included: readonly object[] = [],
): Promise<Intake> {
  const value = splitJsonBytes(Buffer.from(JSON.stringify({ data, included })))
  const document = rawListSchema.parse(value)
  const left = new Set(recognized)
  const found = [...document.included, ...document.primary].filter(({ id = '' }) => left.delete(id))
  return readPage(document, OPTIONS, new Map(found.map((raw) => [raw, raw.id ?? ''])))
}

const readNames = (intake: Intake): unknown =>
  intake.sightings.get('shipments')?.map(({ key, values }) => [key, values.includes('B')])

describe('a page with records that were recognized by their bytes', () => {
  test('shows them and what they list, and has read only the others', async () => {
    const intake = await readSplit(
      ['s1', 'c1'],
      [shipment('s1', 'A'), shipment('s2', 'B')],
      [container('c1', ['e2', 'e1']), container('c2', ['e3'])],
    )
    expect(shownKeys(intake, 'shipments')).toEqual(['s2', 's1'])
    expect(shownKeys(intake, 'containers')).toEqual(['c2', 'c1'])
    expect(Object.fromEntries(intake.transportEventIds)).toEqual({ c1: ['e1', 'e2'], c2: ['e3'] })
    const isRead = hasRead(intake)
    expect([isRead('shipments', 's1'), isRead('shipments', 's2')]).toEqual([false, true])
  })

  test('reads one after all when the page says something else', { tags: ['P3'] }, async () => {
    const intake = await readSplit(['s1'], [shipment('s1', 'A'), shipment('s1', 'B')])
    expect(readNames(intake)).toEqual([
      ['s1', false],
      ['s1', true],
    ])
    expect(intake.recognized.get('shipments') ?? []).toEqual([])
  })

  test('sets a record aside that is no JSON, and keeps the others', async () => {
    const text =
      '{"data":[{"id":"s1","type":"shipment","x":nan},{"id":"s2","type":"shipment","attributes":{}}]}'
    const document = rawListSchema.parse(splitJsonBytes(Buffer.from(text)))
    const intake = await readPage(document, OPTIONS, new Map())
    expect(shownKeys(intake, 'shipments')).toEqual(['s2'])
    expect(intake.quarantined).toMatchObject([
      {
        recordId: 's1',
        resourceType: 'shipment',
        reason: 'the record is no JSON',
        stream: 'shipments',
      },
    ])
    expect(JSON.parse(intake.quarantined[0]?.payload ?? '')).toContain('"x":nan')
  })
})

describe('a record that was read', () => {
  test('has a digest, whether it came in a list or by itself, and none when the request had to help', () => {
    const event = { id: 'e1', type: 'transport_event', attributes: { event: 'x' } }
    const flat = (data: unknown, containerId?: string): string | null | undefined => {
      const document = documentSchema.parse(parseJsonBytes(Buffer.from(JSON.stringify({ data }))))
      const context = containerId === undefined ? {} : { containerId }
      const intake = readRecords(document, { ...OPTIONS, ...context })
      return [...intake.sightings.values()][0]?.[0]?.digest
    }
    const inList = flat([shipment('s1', 'A')])
    expect(inList).toMatch(/^[\w-]{20}$/)
    expect(flat(shipment('s1', 'A'))).toBe(inList)
    expect(flat(shipment('s1', 'B'))).not.toBe(inList)
    expect(flat([event], 'c1')).toBeNull()
    const own = {
      ...event,
      relationships: { container: { data: { id: 'c1', type: 'container' } } },
    }
    expect(flat([own], 'c1')).toMatch(/^[\w-]{20}$/)
  })
})
