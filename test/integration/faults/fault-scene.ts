import { onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import {
  createWarehouse,
  type Warehouse,
  type WarehouseOptions,
} from '../../../src/warehouse/connection/warehouse.js'
import { openScene, type Scene } from '../sync/sync-scene.js'

export function openFaultScene(options: SimulatorOptions = {}): Promise<Scene> {
  return openScene({ shipments: 6, ...options })
}

/** Another pool on the database of a scene, closed with the test. */
export function openPool({ url }: Scene, options: Partial<WarehouseOptions> = {}): Warehouse {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger, ...options })
  onTestFinished(() => warehouse.close())
  return warehouse
}

/** Streams of the last run whose counts do not add up (I16). */
export async function wrongCounts({ query }: Pick<Scene, 'query'>): Promise<unknown[]> {
  return query(
    `select * from tracking_sync.sync_run_streams
    where sync_run_id = (select max(sync_run_id) from tracking_sync.sync_runs)
        and fetched <> inserted + updated + unchanged + stale + duplicate + quarantined`,
  )
}
