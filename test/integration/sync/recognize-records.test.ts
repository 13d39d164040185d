import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TrackingService } from '../../../src/source/client/endpoints.js'
import { RawRecord } from '../../../src/source/jsonapi/raw-record.js'
import { openLoadedScene, type Scene } from './sync-scene.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** How many records of each type a sync did not parse, the first page of each list not counted. */
type Unread = Record<string, { unread: number; read: number }>

/** A sync of small pages, and what it parsed of them. */
async function syncAndCount(scene: Scene): Promise<Unread> {
  const records: RawRecord[] = []
  const watchPages = (service: TrackingService): TrackingService['listRecords'] =>
    async function* (stream, options) {
      for await (const page of service.listRecords(stream, options)) {
        const { primary, included } = page.document
        if (page.number > 1) records.push(...primary, ...included)
        yield page
      }
    }
  const parsed = vi.spyOn(RawRecord.prototype, 'parse').mockClear()
  const report = await scene.sync({
    command: 'sync',
    settings: { pageSize: 5 },
    watch: (service) => ({ ...service, listRecords: watchPages(service) }),
  })
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
  const read = new Set(parsed.mock.contexts)
  const counts: Unread = {}
  for (const record of records) {
    const sum = (counts[record.type ?? ''] ??= { unread: 0, read: 0 })
    sum[read.has(record) ? 'read' : 'unread'] += 1
  }
  return counts
}

const openLoaded = () => openLoadedScene({ shipments: 10, extras: false })

const MAIN_TYPES = ['shipment', 'container', 'transport_event', 'tracking_request'] as const

function expectAllKnown(counts: Unread): void {
  for (const type of MAIN_TYPES) {
    expect(counts[type], type).toEqual({ unread: expect.any(Number) as number, read: 0 })
    expect(counts[type]?.unread, type).toBeGreaterThan(0)
  }
}

describe('a record whose bytes have not changed', () => {
  it('is met among such that changed, and only those are read', { tags: ['I1'] }, async () => {
    const scene = await openLoaded()
    const { world, clock, edits } = scene.simulator
    const last = scene.records('shipment').at(-1)
    const container = world.containersOf(last?.id ?? '', clock.now())[0]
    edits.change('shipment', last?.id ?? '', { customer_name: 'Somebody else' })
    edits.change('container', container?.id ?? '', { seal_number: 'S-1' })
    clock.advance(1_000)
    const counts = await syncAndCount(scene)
    expect(counts.shipment?.read).toBeLessThanOrEqual(1)
    expect(counts.container?.read).toBeLessThanOrEqual(1)
    expect((counts.shipment?.read ?? 0) + (counts.container?.read ?? 0)).toBeGreaterThan(0)
    expect(await scene.differences()).toEqual([])
    expectAllKnown(await syncAndCount(scene))
  })
})

describe('a row that does not tell of which bytes it was made', () => {
  it.each([
    ['of before an upgrade', 'null'],
    ['of a version that read it in another way', `'old!' || substr(_digest, 5)`],
  ])('%s is told once, and known from then on', { tags: ['release'] }, async (_, digest) => {
    const scene = await openLoaded()
    for (const table of MAIN_TYPES) {
      await scene.query(`update tracking.${table}s set _digest = ${digest}`)
    }
    const content = `select * from tracking.containers order by 1`
    const before = await scene.query(content)
    const counts = await syncAndCount(scene)
    expect(MAIN_TYPES.map((type) => counts[type]?.unread)).toEqual([0, 0, 0, 0])
    const noted = await scene.query(content)
    const isNoted = (row: Record<string, unknown>): boolean => typeof row._digest === 'string'
    expect(noted.every(isNoted)).toBe(true)
    const withoutDigest = (rows: Record<string, unknown>[]): unknown[] =>
      rows.map((row) => ({ ...row, _digest: null }))
    expect(withoutDigest(noted)).toEqual(withoutDigest(before))
    const snapshot = await scene.snapshot()
    expectAllKnown(await syncAndCount(scene))
    expect(await scene.snapshot()).toEqual(snapshot)
  })

  it('that the version before has written is compared', { tags: ['G4'] }, async () => {
    const scene = await openLoaded()
    // Such a program sets values and fingerprint and knows nothing of digests; then the source
    // goes back to what it said before.
    await scene.run`
    update tracking.shipments
    set customer_name = 'meanwhile', _fingerprint = 'of the row meanwhile'`
    await scene.run`update tracking.transport_events set _deleted_at = _observed_at`
    await syncAndCount(scene)
    expect(await scene.differences()).toEqual([])
  })
})

describe('an attribute that few records carry', { tags: ['K2'] }, () => {
  it('has not vanished while a record that nobody read carries it', async () => {
    const scene = await openLoaded()
    const { clock, edits } = scene.simulator
    const last = scene.records('shipment').at(-1)
    edits.change('shipment', last?.id ?? '', { rare_attribute: 1 })
    clock.advance(1_000)
    await syncAndCount(scene)
    const report = await scene.sync({ command: 'sync', settings: { pageSize: 5 } })
    expect(report.drift).toEqual([])
  })
})
