import { sql } from 'kysely'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import {
  createPool,
  type ConnectionPool,
} from '../../../src/warehouse/connection/connection-pool.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, RAIL } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { atScale, isFullScale } from '../../support/test-scale.js'
import {
  endPrograms,
  runCli,
  startCli,
  waitUntil,
  type RunningProgram,
} from '../../support/run-cli.js'
import { createTestDatabase } from '../../support/test-database.js'
import { START } from '../sync/sync-scene.js'
import { tableRef, rawStatement } from '../../../src/warehouse/connection/typed-database.js'

const ACCOUNTS = atScale(6, 200)
const WORKERS = atScale(2, 3)
const PERIOD_SECONDS = atScale(2, 120)
const CRON = atScale(0, 1) === 1 ? '*/2 * * * *' : '*/2 * * * * *'
/** At full scale one worker is killed each minute. */
const KILLS = atScale(1, 10)

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await endPrograms()
})

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Account {
  readonly name: string
  readonly simulator: Simulator
  readonly warehouse: Warehouse
}

interface Scene {
  readonly accounts: readonly Account[]
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly pool: ConnectionPool
  readonly query: <Row>(sqlText: string, ...parameters: unknown[]) => Promise<Row[]>
}

async function openScene(): Promise<Scene> {
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  const pool = createPool({
    url: database.url,
    logger: silentLogger,
    poolSize: 3,
    applicationName: 'the test',
  })
  closers.push(() => pool.close())
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-accounts-'))
  closers.push(() => rm(directory, { recursive: true, force: true }))
  const accounts: Account[] = []
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    PORT: '0',
    TRACKING_PAGES_PORT: '0',
    TRACKING_LOG_LEVEL: 'info',
  }
  for (let at = 0; at < ACCOUNTS; at += 1) {
    const name = `a${at}`
    const simulator = await startSimulator({
      seed: at + 1,
      shipments: 2,
      startAt: START,
      speed: 0,
      rateLimitPerMinute: null,
      apiKey: `key-of-the-account-number-${at}`,
    })
    closers.push(() => simulator.close())
    holdOldest(simulator)
    env[`TRACKING_API_KEY_A${at}`] = simulator.apiKey
    const warehouse = createWarehouse({
      url: database.url,
      schema: `tracking_${name}`,
      logger: silentLogger,
      pool,
    })
    accounts.push({ name, simulator, warehouse })
  }
  const config = {
    syncCron: CRON,
    fullSyncHours: 0,
    accounts: accounts.map(({ name, simulator }) => ({ name, apiUrl: simulator.url })),
  }
  await mkdir(join(directory, 'config'))
  await writeFile(join(directory, 'config', 'tracking-sync.json'), JSON.stringify(config))
  const [first] = accounts
  return {
    accounts,
    directory,
    env,
    pool,
    query: (sqlText, ...parameters) =>
      first!.warehouse.query('look', rawStatement(sqlText, [...parameters])),
  }
}

const startWorker = ({ directory, env }: Scene): Promise<RunningProgram> =>
  startCli(['serve', '--worker'], { directory, env, deadlineMs: 3_600_000 })

interface RunRow {
  readonly outcome: string
  readonly startedMs: number
  readonly finishedMs: number | null
}

function readRuns({ warehouse }: Account): Promise<RunRow[]> {
  return warehouse.query(
    'look at the runs',
    sql<RunRow>`select
    outcome,
    extract(epoch from started_at)::float8 * 1000 as "startedMs",
    extract(epoch from finished_at)::float8 * 1000 as "finishedMs"
from ${tableRef('sync.sync_runs')}
order by sync_run_id`,
  )
}

/** A run that was killed is closed by the next one, before that begins. */
function overlapsOf(runs: readonly RunRow[]): number {
  return runs.slice(1).filter(({ startedMs }, at) => {
    const before = runs[at]!
    return before.finishedMs === null || before.finishedMs > startedMs + 1
  }).length
}

/**
 * Number of requests for the page of shipments, which a run reads once. Requests with includes that
 * the service refused do not count.
 */
function readsOf({ simulator }: Account): number {
  const { recent } = simulator.requests
  return recent.filter(({ path, status }) => path === '/v2/shipments' && status !== 400).length
}

/** Complete runs that began after this instant of the database. */
async function countSince(account: Account, sinceMs: number): Promise<number> {
  const runs = await readRuns(account)
  return runs.filter(({ outcome, startedMs }) => outcome === 'complete' && startedMs > sinceMs)
    .length
}

async function nowOf({ query }: Scene): Promise<number> {
  const [row] = await query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  return row!.ms
}

async function eachHas(scene: Scene, runs: number, sinceMs: number, limitMs: number) {
  for (const account of scene.accounts) {
    await waitUntil(
      `${account.name} has ${runs} runs`,
      async () => (await countSince(account, sinceMs)) >= runs,
      limitMs,
    )
  }
}

function changeEach({ accounts }: Scene, text: string): void {
  for (const { simulator } of accounts) {
    simulator.clock.advance(60_000)
    const [container] = [...simulator.world.records('container', simulator.clock.now())]
    simulator.edits.change('container', container!.id, { seal_number: text })
  }
}

/** The rows of every account against its own world. */
async function differencesIn({ accounts }: Scene): Promise<string[]> {
  const all: string[] = []
  for (const { name, simulator, warehouse } of accounts) {
    const { world, clock } = simulator
    const found = await compareWarehouse(warehouse, world, clock.now(), { mayLack: RAIL })
    all.push(...found.map((difference) => `${name}: ${difference}`))
  }
  return all
}

const pidOf = (worker: string): number => Number(worker.split('/')[1])

/** One worker dies in the middle of a sync. */
async function killOne(scene: Scene): Promise<number> {
  const [stuck] = scene.accounts
  const hang = stuck!.simulator.faults.add({
    fault: { kind: 'hang', phase: 'beforeHeaders' },
    match: ({ path }) => path === '/shipments',
  })
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(scene)))
  await waitUntil('one account hangs in a worker', () => hang.played > 0, 60_000)
  const [held] = await scene.query<{ worker: string }>(
    `select worker from tracking_accounts.jobs where account_name = 'a0' and job_name = 'sync'`,
  )
  const victim = workers.find(({ pid }) => pid === pidOf(held!.worker))!
  // The others had it due, and let it be.
  await eachHas({ ...scene, accounts: scene.accounts.slice(1) }, 2, 0, 60_000)
  expect(readsOf(stuck!)).toBe(1)
  await kill(victim)
  stuck!.simulator.faults.clear()
  changeEach(scene, 'AFTER-THE-KILL')
  // As if it had been silent for half a minute.
  await scene.query(
    `update tracking_accounts.jobs set seen_at = seen_at - interval '31 seconds' where worker = $1`,
    held!.worker,
  )
  await eachHas(scene, 2, await nowOf(scene), 60_000)
  await stopAll(workers.filter((worker) => worker !== victim))
  return PERIOD_SECONDS
}

/** One worker dies each minute for ten minutes and is started again. Gives the longest interval. */
async function killEachMinute(scene: Scene): Promise<number> {
  const { directory, env } = scene
  const migratedAt = performance.now()
  const migrated = await runCli(['migrate', '--all'], { directory, env, deadlineMs: 3_600_000 })
  expect(migrated.exitCode).toBe(0)
  say({ migrateSeconds: Math.round((performance.now() - migratedAt) / 1000) })
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(scene)))
  await eachHas(scene, 1, 0, 900_000)
  const beganMs = await nowOf(scene)
  const all = [...workers]
  let heldAtDeath = 0
  for (let round = 0; round < KILLS; round += 1) {
    changeEach(scene, `ROUND-${round}`)
    const until = performance.now() + 60_000
    await waitUntil('a minute has passed', () => performance.now() > until, 120_000)
    const at = round % WORKERS
    const victim = workers[at]!
    // One that is idle would prove nothing.
    await waitUntil('it is at a sync', async () => (await countHeld(scene, victim)) > 0)
    await kill(victim)
    heldAtDeath += await countHeld(scene, victim)
    workers[at] = await startWorker(scene)
    all.push(workers[at])
  }
  changeEach(scene, 'AT-THE-END')
  const sinceMs = await nowOf(scene)
  await eachHas(scene, 1, sinceMs, 4 * PERIOD_SECONDS * 1000)
  const intervals: number[] = []
  let runs = 0
  for (const account of scene.accounts) {
    const starts = (await readRuns(account)).map(({ startedMs }) => startedMs)
    runs += starts.length
    for (const [index, start] of starts.entries()) {
      const next = starts[index + 1]
      if (next !== undefined && next > beganMs) intervals.push((next - start) / 1000)
    }
  }
  intervals.sort((one, other) => one - other)
  const share = (part: number): number =>
    Math.round(intervals[Math.floor(intervals.length * part)]!)
  const longest = intervals.at(-1)!
  say({
    accounts: ACCOUNTS,
    runs,
    intervals: intervals.length,
    p50: share(0.5),
    p99: share(0.99),
    max: Math.round(longest),
    heldAtDeath,
    takenOver: countSaid(all, 'gave no sign of life'),
    refusedByLease: countSaid(all, 'another run is under way'),
  })
  await stopAll(workers)
  expect(heldAtDeath).toBeGreaterThan(0)
  return longest
}

/** Syncs that a worker holds, alive or not. */
async function countHeld({ query }: Scene, { pid }: RunningProgram): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from tracking_accounts.jobs
where job_name = 'sync' and split_part(worker, '/', 2) = $1`,
    String(pid),
  )
  return row!.count
}

function countSaid(programs: readonly RunningProgram[], text: string): number {
  return programs.reduce((sum, { stderr }) => sum + stderr().split(text).length - 1, 0)
}

async function kill(worker: RunningProgram): Promise<void> {
  worker.kill('SIGKILL')
  await worker.ended
}

async function stopAll(workers: readonly RunningProgram[]): Promise<void> {
  for (const worker of workers) worker.kill('SIGTERM')
  for (const { ended } of workers) expect((await ended).exitCode).toBe(0)
}

function say(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

describe('many accounts on a few workers', { tags: ['C24', 'release'] }, () => {
  it('keep their intervals while workers are killed: none is read twice at once, nothing is lost', async () => {
    const scene = await openScene()
    const longest = isFullScale ? await killEachMinute(scene) : await killOne(scene)
    // The jobs of a stopped worker are free at once.
    const left = await scene.query('select from tracking_accounts.jobs where worker is not null')
    expect(left).toEqual([])
    for (const account of scene.accounts) {
      const runs = await readRuns(account)
      expect(overlapsOf(runs)).toBe(0)
      // As the service saw it.
      expect(readsOf(account)).toBeLessThanOrEqual(runs.length)
    }
    expect(await differencesIn(scene)).toEqual([])
    expect(longest).toBeLessThanOrEqual(2 * PERIOD_SECONDS)
  })
})
