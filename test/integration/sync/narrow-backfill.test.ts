import { describe, expect, it } from 'vitest'
import { runNarrowedBackfill, type Narrowing } from '../../../src/sync/narrow-backfill.js'
import { readStatus } from '../../../src/status/read-status.js'
import { withRunDependencies } from '../../support/test-service.js'
import { openScene, requestCounts, type Scene } from './sync-scene.js'

const NOTHING: Narrowing = { streams: [], shipmentIds: [], containerIds: [] }

const backfill = (scene: Scene, narrowing: Partial<Narrowing>) =>
  withRunDependencies(scene, (dependencies) =>
    runNarrowedBackfill({ ...NOTHING, ...narrowing }, dependencies),
  )

const countsOf = async ({ query }: Scene) => {
  const tables = ['shipments', 'containers', 'transport_events', 'tracking_requests']
  const counts = tables.map((table) => `(select count(*) from tracking.${table}) as ${table}`)
  const [row] = await query(`select ${counts.join(', ')}`)
  return row
}

describe('a narrowed backfill', () => {
  it('reads a shipment with its containers and their events, and nothing else of its kind', async () => {
    const scene = await openScene({ shipments: 10 })
    const { world, clock } = scene.simulator
    const at = clock.now()
    const [shipment] = world.page('shipment', 3, 1, at)
    const containers = world.containersOf(shipment!.id, at)
    const events = containers.flatMap(({ id }) => world.transportEventsOf(id, at))
    const report = await backfill(scene, { shipmentIds: [shipment!.id] })
    expect(report).toMatchObject({ command: 'backfill', outcome: 'complete', exitCode: 0 })
    expect(await countsOf(scene)).toEqual({
      shipments: 1,
      containers: containers.length,
      transport_events: events.length,
      tracking_requests: 0,
    })
    expect(requestCounts(scene.simulator)).toMatchObject({
      '/shipments/*': 1,
      '/containers/*': containers.length,
      '/containers/*/transport_events': containers.length,
    })
    const [run] = await scene.rows`
      select options -> 'narrowing' as narrowing from tracking_sync.sync_runs`
    expect(run).toEqual({ narrowing: { ...NOTHING, shipmentIds: [shipment!.id] } })
    const before = await scene.snapshot()
    await backfill(scene, { shipmentIds: [shipment!.id] })
    expect(await scene.snapshot()).toEqual(before)
    // One shipment read is not the stream complete.
    const { streams } = await readStatus(scene.warehouse)
    expect(streams.filter(({ lastCompleteBeganAt }) => lastCompleteBeganAt !== null)).toEqual([])
  })

  it('walks only the lists that are named', async () => {
    const scene = await openScene({ shipments: 10 })
    const report = await backfill(scene, { streams: ['tracking_requests'] })
    expect(report.exitCode).toBe(0)
    expect(await countsOf(scene)).toMatchObject({ shipments: 0, containers: 0 })
    const { streams } = await readStatus(scene.warehouse)
    const complete = streams.filter(({ lastCompleteBeganAt }) => lastCompleteBeganAt !== null)
    expect(complete.map(({ stream }) => stream)).toContain('tracking_requests')
    expect(requestCounts(scene.simulator)).toEqual({ '/tracking_requests': 1 })
    // A stream without a list is refused before anything is asked or written.
    const attempt = backfill(scene, { streams: ['containers', 'transport_events'] })
    await expect(attempt).rejects.toThrow(/--stream transport_events names no list; there are: /)
    expect(scene.simulator.requests.total).toBe(1)
    expect(await scene.count('tracking_sync.sync_runs')).toBe(1)
  })
})
