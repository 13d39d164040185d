import { afterEach } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import {
  createWarehouse,
  type Warehouse,
  type WarehouseOptions,
} from '../../../src/warehouse/connection/warehouse.js'
import { endPrograms } from '../../support/run-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

export interface FaultScenes {
  open(options?: SimulatorOptions): Promise<Scene>
  /** Called after the test and before its scene is closed, the latest first. */
  atEnd(close: () => Promise<unknown>): void
  /** Another pool on the database that was opened last. */
  warehouse(options?: Partial<WarehouseOptions>): Warehouse
}

/** To be called once in a test file. */
export function useFaultScenes(): FaultScenes {
  const closers: (() => Promise<unknown>)[] = []
  let url = ''

  afterEach(async () => {
    await endPrograms()
    for (const close of closers.splice(0).reverse()) await close()
    await closeScenes()
  })

  const atEnd: FaultScenes['atEnd'] = (close) => {
    closers.push(close)
  }

  return {
    atEnd,
    open: async (options = {}) => {
      const scene = await openScene({ shipments: 6, ...options })
      url = scene.url
      return scene
    },
    warehouse: (options = {}) => {
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
