import { afterAll, afterEach, beforeAll } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import {
  createWarehouse,
  type Warehouse,
  type WarehouseOptions,
} from '../../../src/warehouse/connection/warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { endPrograms } from '../../support/run-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { sceneOf, startService, type Scene } from '../sync/sync-scene.js'

export interface FaultScenes {
  /** A service with a stopped clock, and the warehouse of the file, empty again. */
  open(options?: SimulatorOptions): Promise<Scene>
  /** Called after the test, the latest first. */
  atEnd(close: () => Promise<unknown>): void
  /** Another pool on the database of the file. */
  warehouse(url?: string, options?: Partial<WarehouseOptions>): Warehouse
}

/**
 * To be called once in a test file: one database for all its tests, because making one costs more
 * than most of them.
 */
export function useFaultScenes(): FaultScenes {
  const closers: (() => Promise<unknown>)[] = []
  let target: TestWarehouse

  beforeAll(async () => {
    target = await createTestWarehouse()
  })

  afterEach(async () => {
    await endPrograms()
    for (const close of closers.splice(0).reverse()) await close()
  })

  afterAll(() => target.drop())

  const atEnd: FaultScenes['atEnd'] = (close) => {
    closers.push(close)
  }

  return {
    atEnd,
    open: async (options = {}) => {
      await emptyWarehouse(target.warehouse)
      const world = { shipments: 6, ...options }
      const simulator = await startService(world)
      atEnd(() => simulator.close())
      return sceneOf(simulator, target, world)
    },
    warehouse: (url = target.url, options = {}) => {
      const warehouse = createWarehouse({
        url,
        schema: 'tracking',
        logger: silentLogger,
        ...options,
      })
      atEnd(() => warehouse.close())
      return warehouse
    },
  }
}

/** Streams of the last run whose counts do not add up (I16). */
export async function wrongCounts({ query }: Pick<Scene, 'query'>): Promise<unknown[]> {
  return query(
    `select * from tracking_sync.sync_run_streams
    where sync_run_id = (select max(sync_run_id) from tracking_sync.sync_runs)
        and fetched <> inserted + updated + unchanged + stale + duplicate + quarantined`,
  )
}
