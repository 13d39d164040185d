import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createManualSleep } from '../../support/manual-sleep.js'
import { ACCOUNT, createBudgetScene, mostInAnyWindow, type BudgetScene } from './budget-scene.js'

const HOUR_MS = 3_600_000

let scene: BudgetScene

beforeAll(async () => {
  scene = await createBudgetScene()
})

afterAll(async () => {
  await scene.close()
})

beforeEach(async () => {
  await scene.run`truncate tracking_sync.request_budget, tracking_sync.grants`
})

test('a process that asks waits for one whose grant is on the way', { tags: ['R6'] }, async () => {
  const { sleep, waits } = createManualSleep()
  const budget = scene.budget({ perMinute: 10, reservedForRefetches: 0, sleep })
  await budget.acquire()
  const other = new pg.Client(scene.url)
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('begin')
  const { rows } = await other.query(
    `select granted from tracking_sync.ask_for_request(
      $1, 'sync', 9, 10, 10, '1 minute', '1 ms', '1 minute', '1 hour')`,
    [ACCOUNT],
  )
  expect(rows).toEqual([{ granted: 9 }])
  const leaving = new AbortController()
  const eleventh = budget.acquire({ signal: leaving.signal })
  await vi.waitFor(async () => {
    expect(await scene.value`select count(*)::int from pg_locks where not granted`).toBe(1)
  })
  await other.query('commit')
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(1)
  })
  leaving.abort(new Error('enough'))
  await expect(eleventh).rejects.toThrow('enough')
  expect(await scene.grants()).toHaveLength(10)
})

test('those who wait ask in one statement; who gives up goes', { tags: ['I13'] }, async () => {
  const { sleep, waits } = createManualSleep()
  let asked = 0
  const warehouse: Warehouse = {
    ...scene.warehouse,
    query: (action, ...statement) => {
      asked += 1
      return scene.warehouse.query(action, ...statement)
    },
  }
  const budget = scene.budget({ warehouse, perMinute: 10, reservedForRefetches: 0, sleep })
  const acquire = (count: number, signal?: AbortSignal) =>
    Array.from({ length: count }, () => budget.acquire({ signal }))
  await Promise.all(acquire(4))
  expect(asked).toBe(1)
  const leaving = new AbortController()
  const [next, ...others] = acquire(4, leaving.signal)
  const left = Promise.allSettled(others)
  await next
  leaving.abort(new Error('enough'))
  await left
  // Of ten requests eight are granted. Unused grants do not go to later requests.
  await Promise.all(acquire(2))
  const late = new AbortController()
  const eleventh = budget.acquire({ signal: late.signal })
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(1)
  })
  late.abort(new Error('enough'))
  await expect(eleventh).rejects.toThrow('enough')
  expect(await scene.grants()).toHaveLength(10)
})

test('what is granted after all have given up is not used', { tags: ['I13'] }, async () => {
  const leaving = new AbortController()
  let asked = 0
  const warehouse: Warehouse = {
    ...scene.warehouse,
    query: async (action, ...statement) => {
      asked += 1
      const answer = await scene.warehouse.query<never>(action, ...statement)
      leaving.abort(new Error('enough'))
      return answer
    },
  }
  const budget = scene.budget({ warehouse, perMinute: 10 })
  const { signal } = leaving
  const left = Array.from({ length: 4 }, () => budget.acquire({ signal }))
  expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(
    left.map(() => 'rejected'),
  )
  // The answer comes after those who asked have gone.
  await new Promise((resolve) => setImmediate(resolve))
  await budget.acquire()
  expect(asked).toBe(2)
  await budget.acquire()
  expect(asked).toBe(3)
})

test('without refetches a sync may use the whole budget', { tags: ['R1'] }, async () => {
  const { sleep, waits } = createManualSleep()
  const budget = scene.budget({ perMinute: 10, reservedForRefetches: 4, sleep })
  const leaving = new AbortController()
  for (let request = 0; request < 10; request += 1) await budget.acquire()
  const eleventh = budget.acquire({ signal: leaving.signal })
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(1)
  })
  expect(waits()[0]).toBeGreaterThan(55_000)
  leaving.abort(new Error('enough'))
  await expect(eleventh).rejects.toThrow('enough')
})

test('while refetches wait, a sync leaves them their share', { tags: ['R7'] }, async () => {
  const { sleep, waits } = createManualSleep()
  const choice = { perMinute: 10, reservedForRefetches: 4, sleep }
  const serve = scene.budget({ ...choice, warehouse: scene.otherWarehouse() })
  const sync = scene.budget(choice)
  const leaving = new AbortController()
  await serve.acquire({ purpose: 'refetch' })
  for (let request = 0; request < 6; request += 1) await sync.acquire({ purpose: 'sync' })
  const seventh = sync.acquire({ purpose: 'sync', signal: leaving.signal })
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(1)
  })
  for (let request = 0; request < 3; request += 1) await serve.acquire({ purpose: 'refetch' })
  // In the process of the sync, too: its own wait does not come before others'.
  const control = sync.acquire({ purpose: 'control', signal: leaving.signal })
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(2)
  })
  leaving.abort(new Error('enough'))
  await expect(seventh).rejects.toThrow('enough')
  await expect(control).rejects.toThrow('enough')
  expect(await scene.grants()).toHaveLength(10)
})

test('requests of a killed process count until the window is over', { tags: ['R8'] }, async () => {
  const windowMs = 500
  const killed = scene.otherWarehouse()
  const former = scene.budget({ warehouse: killed, perMinute: 5, windowMs })
  for (let request = 0; request < 5; request += 1) await former.acquire()
  await killed.close()
  const budget = scene.budget({ perMinute: 5, windowMs })
  for (let request = 0; request < 5; request += 1) await budget.acquire()
  const grants = await scene.grants()
  expect(mostInAnyWindow(grants, windowMs)).toBeLessThanOrEqual(5)
  expect(grants[9]! - grants[0]!).toBeLessThan(20 * windowMs)
})

test('a process that dies with the lock on the row holds none up', { tags: ['R8'] }, async () => {
  await scene.budget().acquire()
  const dying = new pg.Client({ connectionString: scene.url })
  dying.on('error', () => undefined)
  const ended = new Promise((resolve) => dying.once('end', resolve))
  await dying.connect()
  await dying.query('begin')
  await dying.query('select account from tracking_sync.request_budget for update')
  const { rows } = await dying.query<{ pid: number }>('select pg_backend_pid() as pid')
  const waiting = scene.budget().acquire()
  await scene.run`select pg_terminate_backend(${rows[0]!.pid}::integer)`
  await waiting
  await ended
  expect(await scene.grants()).toHaveLength(2)
})

test('hosts whose clocks differ or jump by an hour share one', { tags: ['R8'] }, async () => {
  const windowMs = 400
  let jumpMs = 0
  const clocks = [
    () => new Date(Date.now() + HOUR_MS),
    () => new Date(Date.now() - HOUR_MS),
    () => new Date(Date.now() + (jumpMs = jumpMs === 0 ? -HOUR_MS : 0)),
  ]
  await Promise.all(
    clocks.map(async (clock) => {
      const budget = scene.budget({ perMinute: 6, windowMs, clock })
      for (let request = 0; request < 6; request += 1) await budget.acquire()
    }),
  )
  const grants = await scene.grants()
  expect(grants).toHaveLength(18)
  expect(mostInAnyWindow(grants, windowMs)).toBeLessThanOrEqual(6)
  expect(grants.at(-1)! - grants[0]!).toBeLessThan(40 * windowMs)
})

test('put back an hour, the clock lets requests on a window later', { tags: ['R8'] }, async () => {
  const windowMs = 500
  const budget = scene.budget({ perMinute: 3, windowMs })
  for (let request = 0; request < 3; request += 1) await budget.acquire()
  await budget.pauseUntil(new Date(Date.now() + 1))
  await scene.run`
    update tracking_sync.request_budget
    set
        requested_at = array(
            select instant + interval '1 hour' from unnest(requested_at) as used (instant)
        ),
        paused_until = paused_until + interval '1 hour'`
  await scene.run`truncate tracking_sync.grants`
  const startedAt = performance.now()
  await scene.budget({ perMinute: 3, windowMs }).acquire()
  const waitedMs = performance.now() - startedAt
  expect(waitedMs).toBeGreaterThanOrEqual(windowMs)
  expect(waitedMs).toBeLessThan(20 * windowMs)
})

test('goes on when a crash of the database emptied the table', async () => {
  const budget = scene.budget()
  await budget.acquire()
  await scene.run`truncate tracking_sync.request_budget`
  await budget.acquire()
  expect(await scene.grants()).toHaveLength(2)
})

test('a pause holds for every process, and only grows', { tags: ['R2'] }, async () => {
  const other = scene.budget({ warehouse: scene.otherWarehouse() })
  // This host's clock is an hour fast: only the distance counts.
  const clock = () => new Date(Date.now() + HOUR_MS)
  const limited = scene.budget({ clock })
  await limited.pauseUntil(new Date(clock().getTime() + 400))
  await limited.pauseUntil(new Date(clock().getTime() + 50))
  await limited.pauseUntil(new Date(clock().getTime() - 1_000))
  await Promise.all([other.acquire(), limited.acquire()])
  const ms = await scene.value<number>`
    select extract(epoch from paused_until)::float8 * 1000 as ms from tracking_sync.request_budget`
  const grants = await scene.grants()
  expect(grants).toHaveLength(2)
  for (const grant of grants) expect(grant).toBeGreaterThanOrEqual(ms)
})

test('no pause is longer than 300 seconds', { tags: ['R5'] }, async () => {
  await scene.budget().pauseUntil(new Date(Date.now() + 9_999_999_000))
  const s = await scene.value<number>`
    select extract(epoch from paused_until - clock_timestamp())::float8 as s
    from tracking_sync.request_budget`
  expect(s).toBeLessThanOrEqual(300)
  expect(s).toBeGreaterThan(290)
})

test('whoever is aborted leaves at once and takes no share', { tags: ['X2'] }, async () => {
  const { sleep, waits } = createManualSleep()
  const budget = scene.budget({ perMinute: 1, sleep })
  await budget.acquire()
  const first = new AbortController()
  const second = new AbortController()
  const asleep = budget.acquire({ signal: first.signal })
  const inLine = budget.acquire({ signal: second.signal })
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(1)
  })
  second.abort(new Error('second gave up'))
  await expect(inLine).rejects.toThrow('second gave up')
  first.abort(new Error('first gave up'))
  await expect(asleep).rejects.toThrow('first gave up')
  expect(waits()).toEqual([])
  await expect(budget.acquire({ signal: first.signal })).rejects.toThrow('first gave up')
  expect(await scene.grants()).toHaveLength(1)
})

test('serves those who wait in one process in the order in which they came', async () => {
  const budget = scene.budget({ perMinute: 2, windowMs: 100 })
  const served: number[] = []
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (name) => {
      await budget.acquire()
      served.push(name)
    }),
  )
  expect(served).toEqual([1, 2, 3, 4, 5, 6])
})

test('two accounts in one warehouse do not share', async () => {
  await scene.budget({ perMinute: 1 }).acquire()
  await scene.budget({ perMinute: 1, account: 'another account' }).acquire()
  expect(await scene.grants()).toHaveLength(1)
})

test('keeps its row small however large the limit is', async () => {
  const budget = scene.budget({ perMinute: 100_000, windowMs: 600_000 })
  for (let request = 0; request < 300; request += 1) await budget.acquire()
  const [row] = await scene.rows<{ kept: number; requests: number }>`
    select
        cardinality(requested_at) as kept,
        (select sum(requests) from unnest(sync_requests) as used (requests))::integer as requests
    from tracking_sync.request_budget`
  expect(row!.requests).toBe(300)
  expect(row!.kept).toBeLessThanOrEqual(60)
})

test('B6: a request writes no write-ahead log beyond its commit', async () => {
  const budget = scene.budget({ account: 'measured' })
  await budget.acquire()
  const walBytes: number[] = []
  for (let request = 0; request < 5; request += 1) {
    const [row] = await scene.rows<{ 'QUERY PLAN': { Plan: PlanNode }[] }>`
      explain (analyze, wal, format json)
      select granted
      from tracking_sync.ask_for_request(
          'measured', 'control', 1, 90, 70, '60 s', '0.1 s', '10 min', '5 min'
      )`
    walBytes.push(row!['QUERY PLAN'][0]!.Plan['WAL Bytes'])
  }
  // Readers now and then clean up rows of other tables, which is logged.
  expect(Math.min(...walBytes)).toBe(0)
})

interface PlanNode {
  readonly 'WAL Bytes': number
}

test('a database that cannot be reached is told in the words of the taxonomy', async () => {
  const budget = scene.budget({ warehouse: scene.unreachableWarehouse() })
  await expect(budget.acquire()).rejects.toBeInstanceOf(WarehouseUnavailableError)
  // A failure does not hold up the next in line.
  await expect(budget.acquire()).rejects.toBeInstanceOf(WarehouseUnavailableError)
})
