import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { createFailpoint, SimulatedCrash, type Failpoint } from '../../../src/base/failpoint.js'
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'
import type { RecordType } from '../../../src/extensions/simulator/world/world.js'
import type { RunSettings } from '../../../src/ingest/run.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, RAIL, type CompareOptions } from '../../support/compare-warehouse.js'
import { runTestSync, type TestSyncOptions } from '../../support/run-test-sync.js'
import { snapshotRows, type RowSnapshot } from '../../support/snapshot-tables.js'
import { rowReader, type RowReader } from '../../support/row-reader.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { answersOf, type Answers } from '../../support/scenes/answers.js'
import { openLoadedWarehouse } from '../../support/scenes/loaded-worlds.js'
import { holdOldest } from '../../support/small-world.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** A service with a stopped clock, and an empty warehouse. */
export interface Scene extends RowReader {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  /** The warehouse's database. */
  readonly url: string
  readonly answers: Answers
  /** Records of a type that the service has now. */
  readonly records: (type: RecordType) => ResourceObject[]
  ids(type: RecordType): string[]
  sync(options?: Partial<TestSyncOptions>): Promise<RunReport>
  /** A run that is killed there; the next finds its lease free, as if it had run out. */
  crash(failpoint: string, options?: Partial<TestSyncOptions>): Promise<void>
  /** How the warehouse differs from the service as it is now. */
  differences(options?: CompareOptions): Promise<string[]>
  /** Every row and the transaction that wrote it; see `snapshotRows`. */
  snapshot(): Promise<RowSnapshot>
  /** Rows of a table for which a condition holds. */
  count(table: string, condition?: string): Promise<number>
  /** For a text that is put together; see `rows` for the others. */
  readonly query: <Result = Record<string, unknown>>(
    sqlText: string,
    ...parameters: unknown[]
  ) => Promise<Result[]>
}

export const START = new Date('2026-03-02T08:00:00Z')
export const HOUR = 3_600_000

/** Of what hooks have opened. */
const closers: (() => Promise<void>)[] = []

/** An opened scene is closed with its test; one that a hook opens, by `afterAll(closeScenes)`. */
export async function openScene(options: SimulatorOptions = {}): Promise<Scene> {
  return open(options, await borrowTestWarehouse())
}

/**
 * The same after a backfill, whose requests are not in the log. For a test that needs rows and not
 * the run that wrote them: most get a copy of a warehouse that was loaded before.
 */
export async function openLoadedScene(
  { shipments = 8, ...others }: SimulatorOptions = {},
  settings: Partial<RunSettings> = {},
): Promise<Scene> {
  const options = { shipments, ...others }
  if (Object.keys(options).some((name) => !OF_THE_WORLD.has(name))) {
    const scene = await openScene(options)
    await scene.sync({ settings })
    scene.simulator.requests.reset()
    return scene
  }
  const name = JSON.stringify([Object.entries(options).sort(), Object.entries(settings).sort()])
  const target = await openLoadedWarehouse(name, async (warehouse) => {
    const source = await startService(options)
    await runTestSync({ warehouse, source, settings }).finally(() => source.close())
  })
  return open(options, target)
}

/** Options of a service that choose its answers: where they are equal, so are the rows. */
const OF_THE_WORLD = new Set([
  'shipments',
  'seed',
  'extras',
  'acceptedIncludes',
  'onUnknownInclude',
  'filters',
  'webhooks',
])

async function open(options: SimulatorOptions, target: TestWarehouse): Promise<Scene> {
  closeAtEnd(target.drop)
  const simulator = await startService(options)
  closeAtEnd(() => simulator.close())
  return sceneOf(simulator, target, options)
}

/** A service as `openScene` has it: it begins at `START`, and its clock is stopped. */
export async function startService(options: SimulatorOptions): Promise<Simulator> {
  const simulator = await startSimulator({
    seed: 7,
    shipments: 8,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    ...options,
  })
  holdOldest(simulator)
  return simulator
}

export function sceneOf(
  simulator: Simulator,
  { warehouse, url }: Pick<TestWarehouse, 'warehouse' | 'url'>,
  { shipments = 8 }: SimulatorOptions = {},
): Scene {
  const mayLack = shipments <= 8 ? RAIL : []
  const { run, ...others } = rowReader(warehouse)
  const sync: Scene['sync'] = (given = {}) =>
    runTestSync({ warehouse, source: simulator, ...given })
  const records: Scene['records'] = (type) => [
    ...simulator.world.records(type, simulator.clock.now()),
  ]
  return {
    ...others,
    run,
    answers: answersOf(simulator),
    records,
    ids: (type) => records(type).map(({ id }) => id),
    simulator,
    warehouse,
    url,
    sync,
    crash: async (failpoint, given = {}) => {
      const reachFailpoint = createFailpoint(failpoint, () => {
        throw new SimulatedCrash(failpoint.split(':')[0] as Failpoint)
      })
      await expect(sync({ ...given, reachFailpoint })).rejects.toThrow(SimulatedCrash)
      await run`delete from tracking_sync.lease`
    },
    differences: (given) =>
      compareWarehouse(warehouse, simulator.world, simulator.clock.now(), { mayLack, ...given }),
    snapshot: () => snapshotRows(warehouse),
    count: (table, condition = 'true') =>
      others.value<number>`
        select count(*)::int from ${sql.raw(table)} where ${sql.raw(condition)}`,
    query: (sqlText, ...parameters) =>
      warehouse.query('look at the rows', rawStatement(sqlText, [...parameters])),
  }
}

function closeAtEnd(close: () => Promise<void>): void {
  try {
    onTestFinished(close)
  } catch {
    // Called outside of a test.
    closers.push(close)
  }
}

/** Ends every service and drops every database that a hook opened. */
export async function closeScenes(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
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
