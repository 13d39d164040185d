import { expect, test } from 'vitest'
import { documentSchema } from '../../../src/source/jsonapi/schemas.js'
import { parseJsonBytes } from '../../../src/source/jsonapi/parse-json-bytes.js'
import { readRecords } from '../../../src/ingest/intake.js'

const OPTIONS = {
  stream: 'shipments',
  source: 'test',
  observedAt: new Date('2026-03-02T08:00:00Z'),
  completeTypes: new Set<string>(),
}

/** A shipment and containers that point to it, to each other in a circle, and to themselves. */
function circleOf(count: number): Buffer {
  const container = (index: number) => ({
    type: 'container',
    id: `container-${index}`,
    attributes: { number: `NUM${index}` },
    relationships: {
      shipment: { data: { type: 'shipment', id: 'shipment-1' } },
      pickup_facility: { data: { type: 'terminal', id: `terminal-${index % 10}` } },
      next: { data: { type: 'container', id: `container-${(index + 1) % count}` } },
      self: { data: { type: 'container', id: `container-${index}` } },
    },
  })
  const containers = Array.from({ length: count }, (_, index) => container(index))
  const shipment = {
    type: 'shipment',
    id: 'shipment-1',
    attributes: {},
    relationships: { containers: { data: containers.map(({ type, id }) => ({ type, id })) } },
  }
  return Buffer.from(JSON.stringify({ data: [shipment], included: containers }))
}

function read(bytes: Buffer) {
  return readRecords(documentSchema.parse(parseJsonBytes(bytes)), OPTIONS)
}

test('10,000 included records in circles are read once each', { tags: ['T9'] }, () => {
  // Of the processor's time, which others on a busy machine do not add to.
  const millisecondsFor = (bytes: Buffer): number => {
    const before = process.cpuUsage()
    read(bytes)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  const [few, many] = [circleOf(1_250), circleOf(10_000)]
  // Warm first; the better of two, for a busy machine.
  read(few)
  const best = (bytes: Buffer) => Math.min(...[1, 2].map(() => millisecondsFor(bytes)))
  const [short, long] = [best(few), best(many)]
  expect(long).toBeLessThan(2_000)
  // Eight times as many; quadratic would be sixty-four times as long.
  expect(long / Math.max(short, 1)).toBeLessThan(32)
  const { sightings, quarantined } = read(few)
  expect(sightings.get('containers')).toHaveLength(1_250)
  expect(sightings.get('shipments')).toHaveLength(1)
  expect(quarantined).toEqual([])
})
