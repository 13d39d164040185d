import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { SYNC_FAILPOINTS, type SyncFailpoint } from '../../../src/base/failpoint.js'
import { createDice, type Dice } from '../../../src/extensions/simulator/world/dice.js'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { compareWarehouse, SELDOM } from '../../support/compare-warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { runCli, type ProgramResult } from '../../support/run-cli.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { findCheckpointLies } from './checkpoint-lies.js'
import { presetFile } from '../../support/preset-file.js'
import { atScale } from '../../support/test-scale.js'

/** One world, one warehouse, and the built program between them. */
export interface CrashScene {
  readonly simulator: Simulator
  readonly dice: Dice
  readonly target: TestWarehouse
  readonly pageSize: number
  /** The service includes no transport events. */
  readonly isFetching: boolean
}

const START = new Date('2026-03-02T08:00:00Z')
const HOUR = 3_600_000
const SHIPMENTS = atScale(10, 16)

/**
 * Relations that lists include, by the number of the world. Where transport events are not among
 * them, they are fetched.
 */
const INCLUDES = [['containers'], [], DEFAULT_INCLUDES.shipment!] as const

export async function openCrashScene(
  target: TestWarehouse,
  number: number,
  point?: SyncFailpoint,
): Promise<CrashScene> {
  const dice = createDice(number, point === undefined ? -1 : SYNC_FAILPOINTS.indexOf(point))
  const isFetching = point === 'events_received'
  const shipment = INCLUDES[isFetching ? number % 2 : (number + dice.integer(0, 2)) % 3]!
  await emptyWarehouse(target.warehouse)
  const simulator = await startSimulator({
    seed: dice.integer(1, 1_000_000),
    shipments: SHIPMENTS,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    acceptedIncludes: { shipment, container: [] },
  })
  const scene = {
    simulator,
    dice,
    target,
    pageSize: dice.integer(5, 7),
    isFetching: shipment.length < 2,
  }
  waitForQuiet(scene)
  return scene
}

/** Times a point is surely reached by a backfill of a scene, and by a sync after `changeWorld`. */
const SURE_HITS: Readonly<Record<SyncFailpoint, readonly [backfill: number, sync: number]>> = {
  before_first_request: [1, 1],
  response_received: [5, 5],
  events_received: [3, 1],
  mid_batch: [8, 3],
  before_checkpoint: [5, 5],
  after_commit: [5, 5],
  mid_tombstones: [0, 1],
  before_run_complete: [1, 1],
}

export function drawHit({ dice }: CrashScene, point: SyncFailpoint, command: string): number {
  return dice.integer(1, SURE_HITS[point][command === 'backfill' ? 0 : 1])
}

export async function runBuiltCli(
  { simulator, target, pageSize }: CrashScene,
  command: string,
  failpoint = '',
): Promise<ProgramResult> {
  // The program reckons with whole seconds of the service's clock, so each run begins in a later
  // one.
  simulator.clock.advance(2_000)
  return runCli([command, '--json'], {
    directory: tmpdir(),
    env: {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: simulator.apiKey,
      DATABASE_URL: target.url,
      TRACKING_SERVICE: presetFile({ pageSize }),
      TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      // Each run is to end equal to the source.
      TRACKING_FULL_SYNC_HOURS: '0',
      TRACKING_LOG_LEVEL: 'error',
      TRACKING_FAILPOINT: failpoint,
    },
  })
}

/** One run in this process. */
export async function runHere(
  { simulator, target, pageSize }: CrashScene,
  command: 'backfill' | 'sync' = 'sync',
): Promise<RunReport> {
  simulator.clock.advance(2_000)
  const report = await runTestSync({
    warehouse: target.warehouse,
    source: simulator,
    command,
    settings: { pageSize },
  })
  expect(report).toMatchObject({ exitCode: 0, problems: [] })
  return report
}

const QUIET_MS = 60_000

/** Moves the clock on to an instant after which the world does not change for a minute. */
export function waitForQuiet({ simulator: { clock, world } }: CrashScene): void {
  const digest = (at: Date): string =>
    JSON.stringify(
      (['shipment', 'container', 'transport_event', 'tracking_request'] as const).map((type) => [
        ...world.records(type, at),
      ]),
    )
  for (let tries = 0; tries < 1_000; tries += 1) {
    const now = clock.now()
    if (digest(now) === digest(new Date(now.getTime() + QUIET_MS))) return
    clock.advance(7_000)
  }
  throw new Error('this world never stands still for a minute')
}

/**
 * Some hours, and changes by hand on several pages. Returns all deleted shipments; `gone` are the
 * ones deleted before.
 */
export function changeWorld(
  scene: CrashScene,
  gone: readonly string[],
  hasDeletion: boolean,
): string[] {
  const { simulator, dice } = scene
  const { world, edits, clock } = simulator
  clock.advance(dice.integer(6, 30) * HOUR)
  const shipments = [...world.records('shipment', clock.now())]
  const containers = [...world.records('container', clock.now())]
  for (const { id } of [shipments[0]!, shipments.at(-1)!, dice.pick(shipments)]) {
    edits.change('shipment', id, { customer_name: `Customer ${dice.integer(1, 99)}` })
  }
  for (let at = 2; at < containers.length; at += 5) {
    const { id } = containers[at]!
    edits.change('container', id, { seal_number: `SL${dice.integer(1_000, 9_999)}` })
    const name = dice.pick(['customs', 'freight'])
    if (dice.chance(0.3)) edits.clearHold(id, name)
    else edits.addHold(id, { name, status: 'hold', description: null })
    const [event] = world.transportEventsOf(id, clock.now())
    if (event !== undefined) edits.withdrawEvent(id, event.id)
  }
  // Of few containers: more than ten missing at once would count as a fault of the source.
  const small = shipments
    .slice(1, -1)
    .filter(({ id }) => world.containersOf(id, clock.now()).length < 3)
  const victims = hasDeletion ? [dice.pick(small).id] : []
  for (const id of victims) edits.delete('shipment', id)
  const [revived] = gone.length > 1 ? gone : []
  if (revived !== undefined) edits.revive('shipment', revived)
  if (dice.chance(0.6)) edits.insertShipments(dice.integer(1, 3))
  waitForQuiet(scene)
  return [...gone.filter((id) => id !== revived), ...victims]
}

/**
 * Contents of the warehouse when the program was killed, and the number of requests until then.
 */
export interface Kill {
  /** Pages of each list that the pass had stored; all of them where the list was complete. */
  readonly stored: ReadonlyMap<string, number>
  readonly requests: number
}

/** To be called after a kill; of the runs from `sinceRun` on. */
export async function recordKill(
  { simulator, target }: CrashScene,
  sinceRun: number,
): Promise<Kill> {
  const rows = await target.rows<{ stream: string; pages: number | null }>`
    select saved.stream,
        case when saved.completed_at is null
            then greatest((saved.position ->> 'page')::int, (advanced.position ->> 'page')::int)
        end as pages
    from tracking_sync.checkpoints as saved
    left join tracking_sync.pass_positions as advanced
        on advanced.stream = saved.stream and advanced.pass_started_at = saved.pass_started_at
    where saved.sync_run_id >= ${sinceRun}`
  const stored = new Map(rows.map(({ stream, pages }) => [stream, pages ?? Infinity]))
  return { stored, requests: simulator.requests.recent.length }
}

/**
 * How many pages that had been stored at a kill were read again after it, by the runs up to the
 * next.
 */
export function repeatedPages({ simulator }: CrashScene, kills: readonly Kill[]): number[] {
  return kills.map(({ stored, requests }, at) => {
    const after = simulator.requests.recent.slice(requests, kills[at + 1]?.requests)
    return after.filter(({ path, query, status }) => {
      const page = new URLSearchParams(query).get('page[number]')
      const pages = stored.get(path.slice('/v2/'.length)) ?? 0
      return status === 200 && page !== null && Number(page) <= pages
    }).length
  })
}

/**
 * Records that the warehouse lacks although a checkpoint covers their pages; for runs from
 * `sinceRun` on.
 */
export async function checkpointLies(
  { simulator, target, pageSize }: CrashScene,
  sinceRun: number,
): Promise<string[]> {
  return findCheckpointLies({ simulator, warehouse: target.warehouse, pageSize, sinceRun })
}

/**
 * Differences between warehouse and service. Rows of shipments just deleted may still be there:
 * they go after two passes.
 */
export async function differencesOf(
  { simulator, target }: CrashScene,
  gone: readonly string[] = [],
): Promise<string[]> {
  const { world, clock } = simulator
  const found = await compareWarehouse(target.warehouse, world, clock.now(), {
    hasRevivedRows: true,
    mayLack: SELDOM,
  })
  if (gone.length === 0) return found
  const leftovers = await target.rows<{ id: string }>`
    select unnest(array[shipment_id]) as id from tracking.shipments
    where shipment_id = any(${gone})
    union select container_id from tracking.containers where shipment_id = any(${gone})
    union select custom_field_id from tracking.custom_fields
    where entity_id = any(${gone})
        or entity_id in (select container_id from tracking.containers
        where shipment_id = any(${gone}))
    union select transport_event_id from tracking.transport_events
    where container_id in (select container_id from tracking.containers
    where shipment_id = any(${gone}))`
  return found.filter((line) => !leftovers.some(({ id }) => line.includes(id)))
}

export function snapshotOf({ target }: CrashScene) {
  return snapshotRows(target.warehouse, { hasVersions: true })
}

export async function runCount({ target }: CrashScene): Promise<number> {
  return target.value<number>`
    select coalesce(max(sync_run_id), 0)::int as last from tracking_sync.sync_runs`
}

/** Runs that nobody works on and that say they are running. */
export async function runsLeftOpen({ target }: CrashScene): Promise<number[]> {
  return target.column<number>`
    select sync_run_id as id from tracking_sync.sync_runs where outcome = 'running'`
}
