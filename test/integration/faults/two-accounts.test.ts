import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator } from '../../../src/extensions/simulator/server.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, RAIL } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import { START } from '../sync/sync-scene.js'
import { openBench, statesOf, store } from '../webhooks/process-scene.js'
import { useFaultScenes } from './fault-scene.js'
import { changeAll } from './notify-of-all.js'

const scenes = useFaultScenes()

describe('two accounts in one database, each in schemas of its own', { tags: ['D12'] }, () => {
  it(
    'with the same ids and other contents stay apart, in runs and in deliveries',
    { tags: ['release'] },
    async () => {
      const scene = await scenes.open()
      const { simulator, warehouse } = scene
      // The same seed: the same ids.
      const other = await startSimulator({
        seed: 7,
        shipments: 6,
        startAt: START,
        speed: 0,
        rateLimitPerMinute: null,
        apiKey: 'the-key-of-another-account',
      })
      scenes.atEnd(() => other.close())
      holdOldest(other)
      const second = createWarehouse({ url: scene.url, schema: 'second', logger: silentLogger })
      scenes.atEnd(() => second.close())
      await prepareSchemas(second, { sleep: () => Promise.resolve() })
      const ids = [...other.world.records('container', other.clock.now())].map(({ id }) => id)
      expect(ids).toEqual(
        [...simulator.world.records('container', simulator.clock.now())].map(({ id }) => id),
      )
      for (const id of ids) other.edits.change('container', id, { seal_number: 'OF-THE-SECOND' })
      // In parallel: the lease of one account does not concern the other.
      const [one, two] = await Promise.all([
        scene.sync(),
        runTestSync({ warehouse: second, source: other }),
      ])
      expect([one.exitCode, two.exitCode]).toEqual([0, 0])
      const differencesOfSecond = (): Promise<string[]> =>
        compareWarehouse(second, other.world, other.clock.now(), { mayLack: RAIL })
      expect(await scene.differences()).toEqual([])
      expect(await differencesOfSecond()).toEqual([])

      const untouched = await snapshotRows(second, { hasVersions: true })
      const bodies = changeAll(scene, 'OF-THE-FIRST')
      await store(warehouse, ...bodies)
      for (const [target, source] of [
        [second, other],
        [warehouse, simulator],
      ] as const) {
        const bench = openBench(target, source)
        await bench.settle()
        await bench.close()
      }
      expect(new Set(Object.values(await statesOf(warehouse)))).toEqual(new Set(['processed']))
      expect(
        await second.query('look', sql`select from second_sync.webhook_notifications`),
      ).toEqual([])
      expect(await snapshotRows(second, { hasVersions: true })).toEqual(untouched)
      expect(await scene.differences()).toEqual([])

      // A record that one account deletes stays with the other.
      const shipment = [...simulator.world.records('shipment', simulator.clock.now())][0]!
      simulator.edits.delete('shipment', shipment.id)
      for (let pass = 0; pass < 2; pass += 1) {
        simulator.clock.advance(60_000)
        await scene.sync({ command: 'sync' })
      }
      expect(await scene.differences()).toEqual([])
      expect(await differencesOfSecond()).toEqual([])

      // And the other way round.
      const [, another] = [...other.world.records('shipment', other.clock.now())]
      other.edits.delete('shipment', another!.id)
      for (let pass = 0; pass < 2; pass += 1) {
        other.clock.advance(60_000)
        await runTestSync({ warehouse: second, source: other, command: 'sync' })
      }
      expect(await differencesOfSecond()).toEqual([])
      expect(await scene.differences()).toEqual([])
    },
  )
})
