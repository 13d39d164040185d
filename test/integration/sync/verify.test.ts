import { afterEach, describe, expect, it } from 'vitest'
import { showDifference } from '../../../src/commands/verify.js'
import { verifySource, type VerifyReport } from '../../../src/sync/verify-warehouse.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
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

describe('a difference', () => {
  it('is shown from where the two values begin to differ', { tags: ['FD11'] }, () => {
    expect(showDifference('Maersk', 'Maersk Line')).toEqual(['Maersk', 'Maersk Line'])
    expect(showDifference(null, 'x'.repeat(100))).toEqual([null, `${'x'.repeat(60)}…`])
    const same = 'same '.repeat(40)
    const [one, other] = showDifference(`${same}ONE${same}`, `${same}TWO`)
    expect(one).toMatch(/^….{20}ONE.{37}…$/)
    expect(other).toMatch(/^….{20}TWO$/)
  })
})

describe('verify', () => {
  it('finds a fresh warehouse equal, record by record', async () => {
    const scene = await openScene({ shipments: 40 })
    await scene.sync()
    const before = await scene.snapshot()
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
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

  it(
    'looks at what is derived of a row too, and names the table that differs',
    { tags: ['FA3'] },
    async () => {
      const scene = await openScene({ shipments: 20 })
      await scene.sync()
      expect(await verify(scene)).toMatchObject({ isEqual: true, differences: [] })
      const edited = await scene.query<{ id: string }>(
        `update tracking.container_import_deadlines
        set local_date = local_date - 1
        where container_id = (
            select container_id from tracking.container_import_deadlines
            where local_date is not null order by container_id limit 1
        )
        returning container_id as id`,
      )
      expect(edited.length).toBeGreaterThan(0)
      const report = await verify(scene)
      expect(report.isEqual).toBe(false)
      expect(report.differences).toEqual([
        {
          stream: 'containers',
          record: edited[0]!.id,
          column: 'container_import_deadlines',
          warehouse: expect.stringContaining('local_date') as unknown,
          service: expect.stringContaining('local_date') as unknown,
        },
      ])
    },
  )

  it('takes no difference of a volatile column for a fault', async () => {
    const scene = await openScene({ shipments: 10 })
    await scene.sync()
    await scene.query(
      `update tracking.containers set terminal_checked_at = '2001-01-01T00:00:00Z' where terminal_checked_at is not null`,
    )
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
  })

  it(
    'takes what only tells when the service looked last for no difference',
    { tags: ['FD11'] },
    async () => {
      const scene = await openScene({ shipments: 10 })
      await scene.sync()
      const attributes = (more: object) => ({
        kind: 'transform' as const,
        apply: (document: unknown) => {
          const { data, ...rest } = document as { data: { attributes: object } }
          return { ...rest, data: { ...data, attributes: { ...data.attributes, ...more } } }
        },
      })
      const match = { path: /^\/containers\/[^/]+$/ }
      const looked = { rail2_last_tracking_request_at: '2026-11-01T00:00:00Z' }
      const faults = scene.simulator.faults.add({
        fault: attributes(looked),
        match,
        times: Infinity,
      })
      const report = await verify(scene)
      expect(report).toMatchObject({ isEqual: true, differences: [] })
      faults.remove()
      scene.simulator.faults.add({
        fault: attributes({ ...looked, new_one: 1 }),
        match,
        times: Infinity,
      })
      expect((await verify(scene)).differences[0]).toMatchObject({ column: '_unmapped' })
    },
  )

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
      tolerance: 0,
      isWithin: false,
    })
  })

  it('finds an empty warehouse of a small account', { tags: ['FF3'] }, async () => {
    const scene = await openScene({ shipments: 4 })
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: false, wholeHoursAgo: null })
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 4, differing: 4 })
    expect(verdictOf(report, 'tracking_requests')?.differing).toBeGreaterThanOrEqual(4)
    expect(report.differences[0]).toMatchObject({ column: '(row)', service: 'exists' })
    expect(report.counts.map(({ isWithin }) => isWithin)).toEqual([false, false, false])
  })

  it('finds nine of sixty shipments missing, by name and by count', { tags: ['FF3'] }, async () => {
    const scene = await openScene({ shipments: 60 })
    await scene.sync()
    const lost = await scene.query<{ id: string }>(
      `with lost as (
          select shipment_id as id from tracking.shipments order by md5(shipment_id) limit 9
      )
      update tracking.shipments set _deleted_at = now() from lost where shipment_id = id
      returning id`,
    )
    const report = await verify(scene, 10)
    expect(report.isEqual).toBe(false)
    expect(report.counts[0]).toMatchObject({ difference: -9, tolerance: 0, isWithin: false })
    const missing = report.differences.filter(({ column }) => column === '(row)')
    expect(missing.map(({ record }) => record).sort()).toEqual(lost.map(({ id }) => id).sort())
    // A missing row and one that is gone at the source: the counts alone would be equal.
    for (const { id } of lost.slice(1)) scene.simulator.edits.delete('shipment', id)
    const [other] = await scene.query<{ id: string }>(
      'select shipment_id as id from tracking.shipments where _deleted_at is null limit 1',
    )
    scene.simulator.edits.delete('shipment', other!.id)
    const balanced = await verify(scene, 1)
    expect(balanced.counts[0]).toMatchObject({ difference: 0, isWithin: true })
    expect(verdictOf(balanced, 'shipments')?.differing).toBe(1)
  })

  it('does not miss what is created while it looks', { tags: ['FF3'] }, async () => {
    const scene = await openScene({ shipments: 6 })
    await scene.sync()
    const { edits, clock } = scene.simulator
    scene.simulator.faults.add({
      match: ({ path }) => path === '/containers',
      fault: {
        kind: 'transform',
        apply: (document) => {
          clock.advance(5_000)
          edits.insertShipments(2)
          return document
        },
      },
    })
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(report.counts[2]).toMatchObject({ difference: -2, tolerance: 2, isWithin: true })
    clock.advance(60_000)
    expect((await verify(scene)).isEqual).toBe(false)
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
