import { expect, test } from 'vitest'
import { FingerprintMemory } from '../../../src/ingest/fingerprint-memory.js'
import { takeIn } from '../../../src/ingest/intake.js'
import { RecordRecognizer } from '../../../src/ingest/recognize-records.js'
import type { Run } from '../../../src/ingest/run.js'
import type { Document } from '../../../src/source/jsonapi/document.js'
import { documentSchema } from '../../../src/source/jsonapi/schemas.js'
import { splitJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import type { RawRecord } from '../../../src/source/jsonapi/raw-record.js'
import type { Mode } from '../../../src/warehouse/rows/incoming-rows.js'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'

const PORT = { id: 'p1', type: 'port', attributes: { name: 'Hamburg' } }
const EVENT = {
  id: 'e1',
  type: 'transport_event',
  attributes: { event: 'x' },
  relationships: { container: { data: { id: 'c1', type: 'container' } } },
}

/**
 * Keys of the recognized records among a port that the run has met and an event that has an equal
 * row.
 */
async function recognize(
  mode: Mode,
  isDoubtful: (stream: string, key: string) => boolean,
): Promise<string[]> {
  const bytes = Buffer.from(JSON.stringify({ data: [PORT, EVENT] }))
  const { data } = documentSchema.parse(splitJsonBytes(bytes)) as Document<RawRecord>
  const memory = new FingerprintMemory()
  const options = { stream: 'ports', source: 'test', observedAt: new Date(0) }
  memory.remember([...takeIn({ data, included: [] }, options).sightings.values()].flat())
  // No record is unknown to this warehouse.
  const warehouse = { names: new SchemaNames('tracking'), query: () => Promise.resolve([]) }
  const run = { sink: { mode, memory, warehouse } } as unknown as Run
  return [...(await new RecordRecognizer(run).recognize(data, isDoubtful)).values()]
}

test('records are recognized by what the run has met and by their rows', async () => {
  expect(await recognize('sync', () => false)).toEqual(['p1', 'c1 e1'])
})

test('nothing is recognized of a row that the page before may have changed', async () => {
  const isDoubtful = (stream: string, key: string): boolean =>
    stream === 'transport_events' && key === 'c1 e1'
  expect(await recognize('sync', isDoubtful)).toEqual(['p1'])
  expect(await recognize('sync', (stream) => stream === 'ports')).toEqual(['c1 e1'])
})

test('a backfill recognizes nothing', async () => {
  expect(await recognize('backfill', () => false)).toEqual([])
})
