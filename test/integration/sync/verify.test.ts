import { afterEach, describe, expect, it } from 'vitest'
import { verifySource, type VerifyReport } from '../../../src/sync/verify.js'
import { silentLogger } from '../../../src/logger.js'
import { createWarehouse } from '../../../src/warehouse/warehouse.js'
import { TEST_SETTINGS, withTestService } from '../../support/test-service.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Over connections that cannot write. */
async function verify(scene: Scene, sample = 50, seed = 1): Promise<VerifyReport> {
  const warehouse = createWarehouse({
    url: scene.url,
    schema: 'tracking',
    logger: silentLogger,
    isReadOnly: true,
  })
  try {
    return await withTestService(scene.simulator, (service) =>
      verifySource({
        service,
        warehouse,
        settings: TEST_SETTINGS,
        signal: new AbortController().signal,
        sample,
        seed,
      }),
    )
  } finally {
    await warehouse.close()
  }
}

const verdictOf = (report: VerifyReport, stream: string) =>
  report.streams.find((verdict) => verdict.stream === stream)

describe('verify', () => {
  it('finds a fresh warehouse equal, record by record', async () => {
    const scene = await openScene({ shipments: 40 })
    await scene.sync()
    const before = await scene.snapshot()
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [], volatile: {} })
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 40, equal: 40 })
    expect(verdictOf(report, 'containers')).toMatchObject({ compared: 50, equal: 50 })
    const events = verdictOf(report, 'transport_events')!
    expect(events.compared).toBeGreaterThan(300)
    expect(events.equal).toBe(events.compared)
    expect(report.counts).toEqual([
      expect.objectContaining({ stream: 'shipments', service: 40, warehouse: 40, difference: 0 }),
      expect.objectContaining({ stream: 'containers', difference: 0, isWithin: true }),
      expect.objectContaining({ stream: 'tracking_requests', difference: 0, isWithin: true }),
    ])
    expect(report.requests).toBe(3 + 40 + 2 * 50)
    expect(await scene.snapshot()).toEqual(before)
  })

  it('names every field that differs, with both values', async () => {
    const scene = await openScene({ shipments: 10 })
    await scene.sync()
    const [shipment] = await scene.query<{ id: string }>(
      `update tracking.shipments set customer_name = 'Wrong', pod_eta_at = '2001-01-01T00:00:00Z'
      where shipment_id = (select min(shipment_id) from tracking.shipments) returning shipment_id as id`,
    )
    const [event] = await scene.query<{ key: string }>(
      `update tracking.transport_events set voyage_number = 'XX'
      where (container_id, transport_event_id) = (select container_id, transport_event_id from tracking.transport_events order by 1, 2 limit 1)
      returning container_id || ' ' || transport_event_id as key`,
    )
    const report = await verify(scene)
    expect(report.isEqual).toBe(false)
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 10, equal: 9, differing: 1 })
    expect(
      report.differences.map(({ stream, record, column, warehouse }) => [
        stream,
        record,
        column,
        warehouse,
      ]),
    ).toEqual([
      ['shipments', shipment!.id, 'customer_name', 'Wrong'],
      ['shipments', shipment!.id, 'pod_eta_at', '2001-01-01 00:00:00+00'],
      ['transport_events', event!.key, 'voyage_number', 'XX'],
    ])
  })

  it('tells volatile columns apart', async () => {
    const scene = await openScene({ shipments: 10 })
    await scene.sync()
    await scene.query(
      `update tracking.containers set terminal_checked_at = '2001-01-01T00:00:00Z' where terminal_checked_at is not null`,
    )
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(report.volatile['containers.terminal_checked_at']).toBeGreaterThan(0)
  })

  it('finds what is gone at the source, and lists that do not match', async () => {
    const scene = await openScene({ shipments: 40 })
    await scene.sync()
    const { edits, world, clock } = scene.simulator
    for (const { id } of world.page('shipment', 0, 12, clock.now())) edits.delete('shipment', id)
    const report = await verify(scene, 100)
    expect(report.isEqual).toBe(false)
    expect(verdictOf(report, 'shipments')).toMatchObject({ equal: 28, missingAtSource: 12 })
    expect(report.counts[0]).toMatchObject({
      service: 28,
      difference: 12,
      tolerance: 10,
      isWithin: false,
    })
  })

  it('does not blame the warehouse for a record that the service is changing at this moment', async () => {
    const scene = await openScene({ shipments: 5 })
    await scene.sync()
    let reads = 0
    scene.simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
          const { data, ...rest } = document as { data: { attributes: object } }
          const customer_name = `busy ${(reads += 1)}`
          return { ...rest, data: { ...data, attributes: { ...data.attributes, customer_name } } }
        },
      },
      match: { path: /^\/shipments\/[^/]+$/ },
      times: Infinity,
    })
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 5, changing: 5 })
  })

  it('takes the same sample for the same seed', async () => {
    const scene = await openScene({ shipments: 16 })
    await scene.sync()
    const asked = async (seed: number) => {
      scene.simulator.requests.reset()
      await verify(scene, 5, seed)
      return scene.simulator.requests.recent.map(({ path }) => path)
    }
    const one = await asked(1)
    expect(await asked(1)).toEqual(one)
    expect(await asked(2)).not.toEqual(one)
  })

  it('says what a backfill of those records then mends', async () => {
    const scene = await openScene({ shipments: 10 })
    await scene.sync()
    scene.simulator.clock.advance(72 * HOUR)
    expect((await verify(scene)).isEqual).toBe(false)
    await scene.sync({ command: 'sync' })
    expect(await verify(scene)).toMatchObject({ isEqual: true, differences: [] })
  })
})
