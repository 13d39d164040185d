import { describe, expect, test } from 'vitest'
import { parseJsonBytes, parseUnrecognized } from '../../../src/jsonapi/parse-json-bytes.js'
import { parseDocument, type Document } from '../../../src/jsonapi/document.js'
import { resourceOfType } from '../../../src/resources/index.js'
import { hasRead, readAgain, shownKeys, takeIn, type Intake } from '../../../src/ingest/intake.js'
import { RecognizedRecord } from '../../../src/ingest/recognized-record.js'

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

/** A page of which the records with these ids, at their first place, were known by their bytes. */
async function page(
  known: readonly string[],
  data: readonly object[],
  included: readonly object[] = [],
): Promise<Document> {
  const left = new Set(known)
  const text = JSON.stringify({ data, included })
  const value = await parseUnrecognized(Buffer.from(text), (raws) => {
    const found = raws.filter(({ id = '' }) => left.delete(id))
    return Promise.resolve(
      new Map(
        found.map((raw) => {
          return [raw, new RecognizedRecord(resourceOfType(raw.type ?? ''), raw.id ?? '', raw)]
        }),
      ),
    )
  })
  const document = parseDocument(value)
  if (document === undefined) throw new Error('this is no document')
  return document
}

const readNames = (intake: Intake): unknown =>
  intake.sightings.get('shipments')?.map(({ record }) => [record.key, record.values.includes('B')])

describe('a page with records that were known by their bytes', () => {
  test('shows them and what they list, and has read only the others', async () => {
    const document = await page(
      ['s1', 'c1'],
      [shipment('s1', 'A'), shipment('s2', 'B')],
      [container('c1', ['e2', 'e1']), container('c2', ['e3'])],
    )
    const intake = takeIn(document, OPTIONS)
    expect(shownKeys(intake, 'shipments')).toEqual(['s2', 's1'])
    expect(shownKeys(intake, 'containers')).toEqual(['c2', 'c1'])
    expect(Object.fromEntries(intake.transportEventIds)).toEqual({ c1: ['e1', 'e2'], c2: ['e3'] })
    const isRead = hasRead(intake)
    expect([isRead('shipments', 's1'), isRead('shipments', 's2')]).toEqual([false, true])
  })

  test(
    'reads one of them after all, in its place, when the page says something else of the same row too',
    { tags: ['P3'] },
    async () => {
      const document = await page(['s1'], [shipment('s1', 'A'), shipment('s1', 'B')])
      const intake = takeIn(document, OPTIONS)
      expect(readNames(intake)).toEqual([
        ['s1', false],
        ['s1', true],
      ])
      expect(intake.recognized?.get('shipments') ?? []).toEqual([])
    },
  )

  test('reads one of them after all when the page before it has read that row', async () => {
    const before = takeIn(await page([], [shipment('s1', 'B')]), OPTIONS)
    const intake = takeIn(
      await page(['s1', 's2'], [shipment('s1', 'A'), shipment('s2', 'A')]),
      OPTIONS,
    )
    expect(readNames(intake)).toBeUndefined()
    const again = readAgain(intake, hasRead(before), OPTIONS)
    expect(readNames(again)).toEqual([['s1', false]])
    expect(again.recognized?.get('shipments')?.map(({ key }) => key)).toEqual(['s2'])
    expect(again.sightings.get('shipments')?.map(({ isComplete }) => isComplete)).toEqual([true])
  })
})

describe('a record that was read', () => {
  test('has a digest, whether it came in a list or by itself, and none when the request had to help', () => {
    const event = { id: 'e1', type: 'transport_event', attributes: { event: 'x' } }
    const flat = (data: unknown, containerId?: string): string | null | undefined => {
      const document = parseDocument(parseJsonBytes(Buffer.from(JSON.stringify({ data }))))
      const context = containerId === undefined ? {} : { context: { containerId } }
      const intake = takeIn(document!, { ...OPTIONS, ...context })
      return [...intake.sightings.values()][0]?.[0]?.record.digest
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
