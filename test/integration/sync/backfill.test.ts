import { afterEach, describe, expect, it } from 'vitest'
import { rowCount } from '../../support/snapshot-tables.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, openScene, requestCounts } from './sync-scene.js'

afterEach(closeScenes)

describe('a backfill', () => {
  it('makes the warehouse equal to the service, and a second run writes no row', async () => {
    const scene = await openScene({ shipments: 60 })
    const settings = { pageSize: 20 }
    await syncToEquality(scene, { command: 'backfill', settings })
    expect(requestCounts(scene.simulator)).toMatchObject({
      // Two nested includes are refused, one request each, then three pages.
      '/shipments': 5,
      '/tracking_requests': 4,
      '/webhooks/events': 1,
    })
    const world = scene.simulator.world.counts(scene.simulator.clock.now())
    const snapshot = await scene.snapshot()
    expect(rowCount(snapshot, 'shipments')).toBe(world.shipment)
    expect(rowCount(snapshot, 'containers')).toBe(world.container)
    expect(rowCount(snapshot, 'tracking_requests')).toBe(world.tracking_request)
    for (const table of ['container_holds', 'container_fees', 'container_import_deadlines']) {
      expect(rowCount(snapshot, table)).toBeGreaterThan(0)
    }
    expect(rowCount(snapshot, 'container_history')).toBe(world.container)
    expect(rowCount(snapshot, 'refetch_queue')).toBe(0)

    await expectNothingToWrite(scene, { settings })
    expect(requestCounts(scene.simulator)).toEqual({
      '/shipments': 3,
      '/tracking_requests': 4,
      '/custom_fields': 6,
      '/custom_field_definitions': 1,
      '/custom_field_definitions/*/options': 3,
      '/webhooks/events': 1,
    })
  })

  it('reads every row when the service caps the page size', { tags: ['P13'] }, async () => {
    const scene = await openScene()
    scene.answers.play(/^\/(?:shipments|tracking_requests)$/, { kind: 'capPageSize', size: 7 })
    await syncToEquality(scene, { command: 'backfill' })
    const { shipment } = scene.simulator.world.counts(scene.simulator.clock.now())
    await expectNothingToWrite(scene)
    expect(requestCounts(scene.simulator)['/shipments']).toBe(Math.ceil(shipment / 7))
  })
})
