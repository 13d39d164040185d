import { afterEach, describe, expect, it } from 'vitest'
import { WarehouseDataError } from '../../../src/base/errors.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { TO_BE_UPSERTED } from '../../../src/warehouse/rows/insert-rows.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { readRows } from '../../support/snapshot-tables.js'
import { closeScenes, HOUR, openLoadedScene, openScene } from './sync-scene.js'

const WITH_EVENTS = ['containers', 'containers.transport_events', 'transport_events']

/** The same warehouse, in which every row that is copied is there already: nothing is. */
function withoutCopy(warehouse: Warehouse, onRefusal: () => void): Warehouse {
  const refuse = (): Promise<never> => {
    onRefusal()
    return Promise.reject(
      new WarehouseDataError('is there', { context: { code: [...TO_BE_UPSERTED][0] } }),
    )
  }
  return {
    ...warehouse,
    transaction: (action, work) =>
      warehouse.transaction(action, (session) => work({ ...session, copy: refuse })),
  }
}

afterEach(closeScenes)

describe('rows that are not there yet', () => {
  it.each([
    { world: 'on pages', includes: WITH_EVENTS, pageSize: 4 },
    { world: 'on one page, of which nothing comes included', includes: [], pageSize: 100 },
  ])(
    'make the same rows, histories and children as an upsert: a world $world',
    { tags: ['release'] },
    async ({ includes, pageSize }) => {
      const acceptedIncludes = { shipment: includes, container: includes }
      const scene = await openScene({ shipments: 14, acceptedIncludes })
      const settings = { pageSize }
      const other = await openScene({ shipments: 1 })
      let refused = 0
      const warehouse = withoutCopy(other.warehouse, () => (refused += 1))
      for (const hours of [0, 120]) {
        scene.simulator.clock.advance(hours * HOUR)
        const command = hours === 0 ? 'backfill' : 'sync'
        expect(await scene.sync({ command, settings })).toMatchObject({ exitCode: 0 })
        const report = await runTestSync({ warehouse, source: scene.simulator, command, settings })
        expect(report).toMatchObject({ exitCode: 0 })
        expect(await readRows(scene.warehouse)).toEqual(await readRows(warehouse))
      }
      expect(await scene.differences()).toEqual([])
      expect(refused).toBeGreaterThan(0)
    },
  )

  it('are written otherwise where they came meanwhile', { tags: ['I1'] }, async () => {
    const settings = { pageSize: 4 }
    const scene = await openScene({ shipments: 8 })
    const other = await openLoadedScene()
    const events = await other.rows<{ container_id: string; event_id: string }>`
      select container_id, transport_event_id as event_id from tracking.transport_events`
    // Containers do not have a row yet, so nobody looks for these.
    await scene.run`
      insert into tracking.transport_events
        (container_id, transport_event_id, _observed_at, _first_seen_at, _changed_at)
      select container_id, event_id, early, early, early
      from json_to_recordset(${JSON.stringify(events)}) as event (container_id text, event_id text)
      cross join (values (timestamptz '2026-03-01 00:00Z')) as seen (early)`
    expect(await scene.sync({ settings })).toMatchObject({ exitCode: 0, outcome: 'complete' })
    expect(await scene.differences()).toEqual([])
    const count = await scene.value<number>`
      select count(*)::int as count
      from tracking.transport_events
      where _first_seen_at < _observed_at`
    expect(count).toBe(events.length)
    const before = await scene.snapshot()
    await scene.sync({ command: 'sync', settings })
    expect(await scene.snapshot()).toEqual(before)
  })
})
