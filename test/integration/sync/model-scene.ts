import { sql } from 'kysely'
import { expect } from 'vitest'
import { createFailpoint, SimulatedCrash, type Failpoint } from '../../../src/base/failpoint.js'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { countUnlistedEvents } from '../../../src/warehouse/rows/unlisted-events.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, COUNTED_TABLES, SELDOM } from '../../support/compare-warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import { findCheckpointLies } from './checkpoint-lies.js'
import { DRIFT_MARK, disturb, type Disturbance } from './model-disturbances.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

export interface ModelWorld {
  readonly seed: number
  readonly shipments: number
  /** Includes of the lists of shipments. */
  readonly includes: readonly string[]
  /** Includes of the lists of containers; by default those of the simulator. */
  readonly containerIncludes?: readonly string[]
}

export interface ModelSync {
  readonly command: 'backfill' | 'sync'
  readonly pageSize: number
  /** Containers whose transport events a sync reads again to be sure. */
  readonly checks: number
  readonly disturbance: Disturbance
  readonly crash: { readonly point: Failpoint; readonly hit: number } | null
}

/** The service, the warehouse, and what was seen of both so far. */
export interface ModelScene {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  /** Microseconds of `_observed_at`, by table and key. */
  readonly observed: Map<string, number>
  /** Values that a watched attribute had at the source when somebody looked, by id. */
  readonly held: Map<string, Set<unknown>>
}

/** A value of transport events that only a read of them shows: their ids stay. */
export const EVENT_MARK = 'voyage_number is'

const START = new Date('2026-03-02T08:00:00Z')
/** Longer than any clock of the model is wrong. */
export const LONGEST_SKEW_MS = 3 * 3_600_000

export async function openModelScene(warehouse: Warehouse, world: ModelWorld): Promise<ModelScene> {
  await emptyWarehouse(warehouse)
  const simulator = await startSimulator({
    seed: world.seed,
    shipments: world.shipments,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    extras: false,
    acceptedIncludes: {
      shipment: world.includes,
      container: world.containerIncludes ?? DEFAULT_INCLUDES.container!,
    },
  })
  return { simulator, warehouse, observed: new Map(), held: new Map() }
}

/** One run with its disturbances, and everything that must hold after it. */
export async function runModelSync(scene: ModelScene, sync: ModelSync): Promise<void> {
  const { simulator, warehouse } = scene
  // No two runs see the service in the same millisecond.
  simulator.clock.advance(1_000)
  const firstRun = (await lastRun(warehouse)) + 1
  await noteHeldValues(scene, sync.disturbance.kind === 'attributeGone')
  disturb(simulator, sync.disturbance)
  const report = await runOrCrash(scene, sync)
  simulator.faults.clear()
  if (report === undefined) {
    // As if the minute had passed after which a silent holder is taken over.
    await warehouse.query('drop the lease', sql`delete from tracking_sync.lease`)
  } else {
    await expectTrueEnd(scene, report)
  }
  await expectNoFalseDeath(scene)
  await expectNoInvention(scene)
  if (sync.disturbance.kind === 'none') {
    await expectTrueCheckpoints(scene, sync.pageSize, firstRun)
  }
}

/** Undefined after a crash. */
async function runOrCrash(scene: ModelScene, sync: ModelSync): Promise<RunReport | undefined> {
  const { crash } = sync
  try {
    return await runTestSync({
      warehouse: scene.warehouse,
      source: scene.simulator,
      command: sync.command,
      settings: { pageSize: sync.pageSize, transportEventChecksPerSync: sync.checks },
      ...(crash === null
        ? {}
        : {
            reachFailpoint: createFailpoint(`${crash.point}:${crash.hit}`, () => {
              throw new SimulatedCrash(crash.point)
            }),
          }),
    })
  } catch (thrown) {
    if (thrown instanceof SimulatedCrash) return undefined
    throw thrown
  }
}

/**
 * I16 and I17: the run row says what the report says, exit 0 means that every stream is complete,
 * and counts add up.
 */
async function expectTrueEnd({ warehouse }: ModelScene, report: RunReport): Promise<void> {
  const { outcome, exitCode, streams, problems } = report
  const isComplete = streams.every((stream) => stream.outcome === 'complete')
  expect({ outcome, isComplete, hasProblems: problems.length > 0 }).toEqual(
    exitCode === 0
      ? { outcome: 'complete', isComplete: true, hasProblems: false }
      : {
          outcome: expect.stringMatching(/^(?:incomplete|failed)$/) as unknown,
          isComplete: false,
          hasProblems: true,
        },
  )
  const [row] = await warehouse.query(
    'read the run',
    sql`select outcome, exit_code, finished_at is not null as is_finished, error_message is null as is_quiet,
        (select count(*)::int from tracking_sync.sync_run_streams as stream
        where stream.sync_run_id = run.sync_run_id
            and (fetched != inserted + updated + unchanged + stale + duplicate + quarantined
                or outcome = 'running')) as wrong_streams,
        (select count(*)::int from tracking_sync.sync_run_streams as stream
        where stream.sync_run_id = run.sync_run_id) as streams
    from tracking_sync.sync_runs as run where sync_run_id = ${report.syncRunId}`,
  )
  expect(row).toEqual({
    outcome,
    exit_code: exitCode,
    is_finished: true,
    is_quiet: exitCode === 0,
    wrong_streams: 0,
    streams: streams.length,
  })
}

/**
 * I8: what the last run marked as gone is not at the source, where nothing changes during a run.
 */
async function expectNoFalseDeath({ simulator, warehouse }: ModelScene): Promise<void> {
  const { world, clock } = simulator
  const now = clock.now()
  const marked = await warehouse.query(
    'read what was marked',
    sql<{
      type: string
      id: string
      parent: string | null
    }>`with last as (select max(sync_run_id) as run from tracking_sync.sync_runs)
    select 'shipment' as type, shipment_id as id, null as parent from tracking.shipments, last
    where _deleted_at is not null and _sync_run_id = run
    union all select 'container', container_id, null from tracking.containers, last
    where _deleted_at is not null and _sync_run_id = run
    union all select 'tracking_request', tracking_request_id, null from tracking.tracking_requests, last
    where _deleted_at is not null and _sync_run_id = run
    union all select 'transport_event', transport_event_id, container_id from tracking.transport_events, last
    where _deleted_at is not null and _sync_run_id = run`,
  )
  const alive = marked.filter(({ type, id, parent }) =>
    parent === null
      ? world.record(type, id, now) !== undefined
      : world.transportEventsOf(parent, now).some((event) => event.id === id),
  )
  expect(alive, 'marked as gone while alive').toEqual([])
}

async function lastRun(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query(
    'count the runs',
    sql<{
      last: number
    }>`select coalesce(max(sync_run_id), 0)::int as last from tracking_sync.sync_runs`,
  )
  return row?.last ?? 0
}

/**
 * I9: what a checkpoint of this run says is in the warehouse is there. Rows that an earlier run saw
 * by a clock that was ahead are newer than what the pass saw, and so are events that it did not
 * read: their container's list of them was the stored one.
 */
async function expectTrueCheckpoints(
  { simulator, warehouse }: ModelScene,
  pageSize: number,
  sinceRun: number,
): Promise<void> {
  const sincePass = simulator.clock.now()
  const lies = await findCheckpointLies({ simulator, warehouse, pageSize, sinceRun, sincePass })
  if (lies.length === 0) return
  const ahead = await warehouse.query(
    'name the rows that are ahead',
    sql<{
      id: string
    }>`with ahead as (select container_id from tracking.containers where _observed_at > ${sincePass.toISOString()})
    select shipment_id as id from tracking.shipments where _observed_at > ${sincePass.toISOString()}
    union all select tracking_request_id from tracking.tracking_requests where _observed_at > ${sincePass.toISOString()}
    union all select container_id from ahead
    union all select transport_event_id from tracking.transport_events
    where _observed_at > ${sincePass.toISOString()} or container_id in (select container_id from ahead)`,
  )
  const ids = new Set(ahead.map(({ id }) => id))
  const lasting = lies.filter((line) => !ids.has(line.split(' ')[1]?.replace(':', '') ?? ''))
  expect(lasting.filter((line) => !isKeptDrift(line) && !line.includes(EVENT_MARK))).toEqual([])
}

const WATCHED = [
  { type: 'shipment', table: 'shipments', attribute: 'customer_name' },
  { type: 'container', table: 'containers', attribute: 'seal_number' },
] as const

async function noteHeldValues(scene: ModelScene, isAttributeGone: boolean): Promise<void> {
  const { simulator, held, observed } = scene
  await Promise.resolve()
  for (const { type, table, attribute } of WATCHED) {
    for (const { id, attributes } of simulator.world.records(type, simulator.clock.now())) {
      const values = held.get(id) ?? new Set()
      values.add(attributes?.[attribute] ?? null)
      // An attribute that was never sent is null.
      if (isAttributeGone && !observed.has(`${table} ${id}`)) values.add(null)
      held.set(id, values)
    }
  }
}

/** I7, of two attributes: every live row has a value that the source had when somebody looked. */
async function expectNoInvention({ warehouse, held }: ModelScene): Promise<void> {
  for (const { type, table, attribute } of WATCHED) {
    const rows = await warehouse.query(
      'read the watched values',
      sql<{
        id: string
        value: unknown
      }>`select ${sql.raw(type)}_id as id, ${sql.raw(attribute)} as value from tracking.${sql.raw(table)} where _deleted_at is null`,
    )
    const invented = rows.filter(({ id, value }) => held.get(id)?.has(value) !== true)
    expect(invented, `values of ${attribute} that the source never had`).toEqual([])
  }
}

/** I4: since the last look no row went back. */
export async function expectNoGoingBack({ warehouse, observed }: ModelScene): Promise<void> {
  const tables = [
    'shipments',
    'containers',
    'tracking_requests',
    'ports',
    'terminals',
    'vessels',
  ].map((table) => ({ table, key: `${table.slice(0, -1)}_id` }))
  const parts = [
    ...tables,
    { table: 'transport_events', key: `container_id || ' ' || transport_event_id` },
  ].map(
    ({ table, key }) =>
      `select '${table} ' || ${key} as key, (extract(epoch from _observed_at) * 1e6)::float8 as at from tracking.${table}`,
  )
  const rows = await warehouse.query(
    'look at the stamps',
    rawStatement<{ key: string; at: number }>(parts.join(' union all ')),
  )
  const back = rows.filter(({ key, at }) => at < (observed.get(key) ?? -Infinity))
  expect(back, 'rows whose _observed_at went back').toEqual([])
  for (const { key, at } of rows) observed.set(key, at)
}

const ALL_CONTAINERS = 1000

/**
 * I1 and I2: once the source is quiet, at most three syncs make the warehouse equal to it, except
 * for events that changed under their id: the third sync may ask for a deleted row, and then leaves
 * the check of events to the next. From then on it stays equal, and a sync writes nothing.
 */
export async function expectConvergence(scene: ModelScene): Promise<void> {
  const { simulator, warehouse } = scene
  const sync = async (transportEventChecksPerSync = 0): Promise<void> => {
    const report = await runTestSync({
      warehouse,
      source: simulator,
      command: 'sync',
      settings: { transportEventChecksPerSync },
    })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
    await expectTrueEnd(scene, report)
  }
  simulator.clock.advance(LONGEST_SKEW_MS)
  // The warehouse's clock does not move with the service's.
  await warehouse.query(
    'let that time pass here too',
    sql`update tracking_sync.refetch_queue set not_before = not_before - make_interval(secs => ${sql.raw(String(LONGEST_SKEW_MS / 1000))})`,
  )
  for (let syncs = 0; syncs < 3 && (syncs === 0 || !(await isSettled(scene))); syncs += 1) {
    simulator.clock.advance(60_000)
    await sync()
  }
  simulator.clock.advance(60_000)
  await sync(ALL_CONTAINERS)
  expect(await differencesOf(scene)).toEqual([])
  expect(await countUnlistedEvents(warehouse)).toBe(0)
  await expectNoGoingBack(scene)
  const before = await snapshotRows(warehouse, { hasVersions: true })
  await sync()
  expect(await snapshotRows(warehouse, { hasVersions: true })).toEqual(before)
}

/** Equal to the source, and nothing is left to be counted or asked for. */
async function isSettled(scene: ModelScene): Promise<boolean> {
  const pending = await scene.warehouse.query(
    'look for what is left to do',
    sql`select stream from tracking_sync.absences
    union all select resource_type from tracking_sync.refetch_queue limit 1`,
  )
  return pending.length === 0 && (await differencesOf(scene)).length === 0
}

/** Of the world of a history. */
const MOST_SHIPMENTS = 4

/** A value without a column is kept when it is absent later, even if it was sent by mistake. */
async function differencesOf({ simulator, warehouse }: ModelScene): Promise<string[]> {
  const { world, clock } = simulator
  const count = (type: 'shipment' | 'container') => [...world.records(type, clock.now())].length
  const [shipments, containers] = [count('shipment'), count('container')]
  // A history may delete the only container of a shipment that stays.
  const shown = [...(shipments > 0 ? ['shipments'] : []), ...(containers > 0 ? ['containers'] : [])]
  const isWhole = shipments >= MOST_SHIPMENTS && containers > 0
  const found = await compareWarehouse(warehouse, world, clock.now(), {
    hasRevivedRows: true,
    mayLack: isWhole ? SELDOM : COUNTED_TABLES.filter((name) => !shown.includes(name)),
  })
  return found.filter((line) => !isKeptDrift(line))
}

function isKeptDrift(line: string): boolean {
  return line.endsWith(`_unmapped is ${JSON.stringify(DRIFT_MARK)} and should be null`)
}
