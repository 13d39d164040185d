import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, RAIL, type CompareOptions } from '../../support/compare-warehouse.js'
import { runTestSync, type TestSyncOptions } from '../../support/run-test-sync.js'
import { snapshotRows, type RowSnapshot } from '../../support/snapshot-tables.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** A service with a stopped clock, and an empty warehouse. */
export interface Scene {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  /** The warehouse's database. */
  readonly url: string
  sync(options?: Partial<TestSyncOptions>): Promise<RunReport>
  /** How the warehouse differs from the service as it is now. */
  differences(options?: CompareOptions): Promise<string[]>
  /** Every row and the transaction that wrote it; see `snapshotRows`. */
  snapshot(): Promise<RowSnapshot>
  readonly query: <Result = Record<string, unknown>>(
    sqlText: string,
    ...parameters: unknown[]
  ) => Promise<Result[]>
}

export const START = new Date('2026-03-02T08:00:00Z')
export const HOUR = 3_600_000

const openScenes: { close(): Promise<void> }[] = []

export async function openScene(options: SimulatorOptions = {}): Promise<Scene> {
  const { warehouse, url, drop } = await borrowTestWarehouse()
  openScenes.push({ close: drop })
  const simulator = await startSimulator({
    seed: 7,
    shipments: 8,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    ...options,
  })
  openScenes.push(simulator)
  holdOldest(simulator)
  const mayLack = (options.shipments ?? 8) <= 8 ? RAIL : []
  return {
    simulator,
    warehouse,
    url,
    sync: (given = {}) => runTestSync({ warehouse, source: simulator, ...given }),
    differences: (given) =>
      compareWarehouse(warehouse, simulator.world, simulator.clock.now(), { mayLack, ...given }),
    snapshot: () => snapshotRows(warehouse, { hasVersions: true }),
    query: (sqlText, ...parameters) =>
      warehouse.query('look at the rows', rawStatement(sqlText, [...parameters])),
  }
}

/** For `afterEach`: ends every service and drops every database that a test opened. */
export async function closeScenes(): Promise<void> {
  for (const opened of openScenes.splice(0).reverse()) await opened.close()
}

/**
 * Requests of a complete pass over a small account besides shipments, containers and tracking
 * requests.
 */
export const OTHER_LISTS = {
  '/custom_field_definitions': 1,
  '/custom_field_definitions/*/options': 3,
  '/custom_fields': 1,
  '/webhooks/events': 1,
}

/** Requests to the service since its log was last reset, by path, ids replaced by `*`. */
export function requestCounts({ requests }: Simulator): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { path } of requests.recent) {
    const name = path.replace(/^\/v2/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
