import { expect, test } from 'vitest'
import { noFailpoints } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { readPage, readRawRecords } from '../../../src/ingest/intake.js'
import { recognizeByBytes } from '../../../src/ingest/recognize-records.js'
import { openNotes } from '../../../src/ingest/run.js'
import { Sink } from '../../../src/ingest/sink.js'
import { rawListSchema } from '../../../src/source/jsonapi/schemas.js'
import { splitJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import type { RawDocument } from '../../../src/source/jsonapi/raw-record.js'
import type { Mode } from '../../../src/warehouse/rows/incoming-rows.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'

const PORT = { id: 'p1', type: 'port', attributes: { name: 'Hamburg' } }
const EVENT = {
  id: 'e1',
  type: 'transport_event',
  attributes: { event: 'x' },
  relationships: { container: { data: { id: 'c1', type: 'container' } } },
}

const OPTIONS = { stream: 'ports', source: 'test', observedAt: new Date(0) }

const read = (data: readonly object[]): RawDocument =>
  rawListSchema.parse(splitJsonBytes(Buffer.from(JSON.stringify({ data }))))

/** Keys of the recognized ones of a port that the run has met and an event with an equal row. */
async function recognize(mode: Mode, before: readonly object[] = []): Promise<string[]> {
  // No record is unknown to this warehouse.
  const warehouse = { names: new SchemaNames('tracking'), query: () => Promise.resolve([]) }
  const sink = new Sink({
    warehouse: warehouse as unknown as Warehouse,
    mode,
    syncRunId: null,
    reachFailpoint: noFailpoints,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    logger: silentLogger,
  })
  const page = read([PORT, EVENT])
  sink.memory.remember([...readRawRecords(page, OPTIONS).sightings.values()].flat())
  const recognizePage = recognizeByBytes(sink, openNotes(silentLogger))
  expect([...(await recognizePage(page, undefined))]).toEqual([])
  return [...(await recognizePage(page, readRawRecords(read(before), OPTIONS))).values()]
}

test('records are recognized by what the run has met and by their rows, as the page before left them', async () => {
  expect(await recognize('sync')).toEqual(['p1', 'c1 e1'])
  expect(await recognize('sync', [EVENT])).toEqual(['p1'])
  expect(await recognize('sync', [PORT])).toEqual(['c1 e1'])
  expect(await recognize('backfill')).toEqual([])
})

test('one that comes twice in a page is read each time', { tags: ['P3'] }, async () => {
  const page = read([PORT, { ...PORT, attributes: { name: 'Bremen' } }])
  const intake = await readPage(page, OPTIONS, new Map([[page.primary[0]!, 'p1']]))
  const names = intake.sightings.get('ports')?.map(({ values }) => values.includes('Hamburg'))
  expect([names, intake.recognized.get('ports') ?? []]).toEqual([[true, false], []])
})

test('a record that its request had to help has no digest, and is read each time', () => {
  const digestOf = (record: object, containerId?: string): unknown => {
    const helped = containerId === undefined ? OPTIONS : { ...OPTIONS, containerId }
    return [...readRawRecords(read([record]), helped).sightings.values()][0]?.[0]?.digest
  }
  const alone = { ...EVENT, relationships: {} }
  expect(digestOf(alone, 'c1')).toBeNull()
  expect(digestOf(EVENT, 'c1')).toMatch(/^[\w-]{20}$/)
  expect(digestOf(PORT)).toMatch(/^[\w-]{20}$/)
})
