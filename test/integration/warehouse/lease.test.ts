import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  LeaseHeldError,
  LeaseLostError,
  WarehouseUnavailableError,
} from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import {
  acquireLease,
  fenceWarehouse,
  type Lease,
  type LeaseOptions,
} from '../../../src/warehouse/coordination/lease.js'
import { claimRefetches, queueRefetches } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createManualSleep, type ManualSleep } from '../../support/manual-sleep.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let scene: TestWarehouse
let other: Warehouse
let clock: ManualSleep
let nowMs: number
const held: Lease[] = []

beforeAll(async () => {
  scene = await createTestWarehouse()
  other = createWarehouse({ url: scene.url, schema: 'tracking', logger: silentLogger })
  await scene.run`create table tracking.written (who text)`
})

afterAll(async () => {
  await other.close()
  await scene.drop()
})

beforeEach(() => {
  clock = createManualSleep()
  nowMs = 0
})

afterEach(async () => {
  for (const lease of held.splice(0)) await lease.release()
  expect(clock.waits()).toEqual([])
  await scene.run`truncate tracking_sync.lease, tracking_sync.refetch_queue, tracking.written`
})

/**
 * Its heartbeat beats when the test wakes it: to leave it asleep is to pause or kill the process.
 */
async function acquire(warehouse: Warehouse, options: Partial<LeaseOptions> = {}): Promise<Lease> {
  const lease = await acquireLease(warehouse, {
    name: 'writer',
    holder: { host: 'worker-1', pid: 4711, command: 'backfill' },
    logger: silentLogger,
    sleep: clock.sleep,
    now: () => nowMs,
    ...options,
  })
  held.push(lease)
  return lease
}

async function silenceFor(seconds: number): Promise<void> {
  await scene.run`
    update tracking_sync.lease
    set
        acquired_at = acquired_at - ${seconds} * interval '1 second',
        heartbeat_at = heartbeat_at - ${seconds} * interval '1 second'`
}

async function readLease(): Promise<{ holder: string | null; silent_s: number; token: number }> {
  const [row] = await scene.rows<Awaited<ReturnType<typeof readLease>>>`
    select
        holder,
        extract(epoch from clock_timestamp() - heartbeat_at)::float8 as silent_s,
        fencing_token as token
    from tracking_sync.lease`
  return row!
}

function write(warehouse: Warehouse, who: string): Promise<void> {
  return warehouse.transaction('write', async (session) => {
    await session.query('write', sql`insert into tracking.written (who) values (${who})`)
  })
}

async function writers(): Promise<string[]> {
  return scene.column`select who from tracking.written order by who`
}

test('of many starters one gets the lease, and the others its name', { tags: ['X5'] }, async () => {
  for (let round = 0; round < 20; round += 1) {
    const startedAt = performance.now()
    const starts = [scene.warehouse, other, scene.warehouse].map((warehouse) => acquire(warehouse))
    const ends = await Promise.allSettled(starts)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
    expect(refusals).toHaveLength(2)
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(LeaseHeldError)
    expect((await readLease()).token).toBe(round + 1)
    for (const lease of held.splice(0)) await lease.release()
  }
})

test('says in one sentence who holds it, since when, and when it would be taken over', async () => {
  await acquire(scene.warehouse)
  await silenceFor(20)
  await expect(acquire(other)).rejects.toThrow(
    /^another run holds the lease: backfill, process 4711 on worker-1, since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(20 s\), last sign of life 20 s ago; without another sign of life it is taken over in 30 s$/,
  )
})

test('a lease whose holder was killed is taken over once stale', { tags: ['C9'] }, async () => {
  const killed = createWarehouse({ url: scene.url, schema: 'tracking', logger: silentLogger })
  const dead = createManualSleep()
  await acquireLease(killed, {
    name: 'writer',
    holder: { host: 'worker-1', pid: 1, command: 'sync' },
    logger: silentLogger,
    sleep: dead.sleep,
    now: () => nowMs,
  })
  await killed.close()
  await silenceFor(49)
  await expect(acquire(other)).rejects.toBeInstanceOf(LeaseHeldError)
  await silenceFor(2)
  const lease = await acquire(other)
  expect(lease.fencingToken).toBe(2)
  await write(fenceWarehouse(other, lease), 'other')
  expect(await writers()).toEqual(['other'])
})

test('a holder that was paused writes nothing afterwards', { tags: ['C10', 'I12'] }, async () => {
  const paused = await acquire(scene.warehouse)
  const itsWarehouse = fenceWarehouse(scene.warehouse, paused)
  await write(itsWarehouse, 'paused, before')
  await silenceFor(51)
  const lease = await acquire(other)
  await expect(write(itsWarehouse, 'paused, after')).rejects.toBeInstanceOf(LeaseLostError)
  expect(paused.signal.reason).toBeInstanceOf(LeaseLostError)
  await expect(write(itsWarehouse, 'paused, again')).rejects.toBeInstanceOf(LeaseLostError)
  await write(fenceWarehouse(other, lease), 'other')
  expect(await writers()).toEqual(['other', 'paused, before'])
})

test('a write that is under way at the take-over ends before it', { tags: ['C10'] }, async () => {
  const paused = await acquire(scene.warehouse)
  const order: string[] = []
  let successor: Promise<unknown> | undefined
  await fenceWarehouse(scene.warehouse, paused).transaction('write', async (session) => {
    await session.query('write', sql`select 1`)
    await silenceFor(51)
    successor = acquire(other).then(() => order.push('taken over'))
    await waitingForLocks(1)
    await session.query('write', sql`insert into tracking.written (who) values ('paused')`)
    order.push('written')
  })
  await successor
  expect(order).toEqual(['written', 'taken over'])
  expect(await writers()).toEqual(['paused'])
})

test('a refetch whose reader was killed is claimed in a minute', { tags: ['C9'] }, async () => {
  const { warehouse } = scene
  const claim = async (): Promise<string[]> => {
    const entries = await claimRefetches(warehouse, 'refetch', 5)
    return entries.map(({ type, id }) => `${type} ${id}`)
  }
  await queueRefetches(warehouse, [{ type: 'vessel', id: 'v' }], 'for this test')
  expect(await claim()).toEqual(['vessel v'])
  expect(await claim()).toEqual([])
  await scene.run`
    update tracking_sync.refetch_queue set claimed_until = claimed_until - interval '61 seconds'`
  expect(await claim()).toEqual(['vessel v'])
})

test('a heartbeat keeps the lease, also while a long write is under way', async () => {
  const lease = await acquire(scene.warehouse)
  await fenceWarehouse(scene.warehouse, lease).transaction('write', async () => {
    await silenceFor(50)
    expect(clock.waits()).toEqual([10_000])
    clock.wake()
    await vi.waitFor(async () => {
      expect((await readLease()).silent_s).toBeLessThan(5)
    })
  })
  expect(lease.signal.aborted).toBe(false)
  await vi.waitFor(() => {
    expect(clock.waits()).toEqual([10_000])
  })
})

test('the heartbeat finds out that the lease was taken over', async () => {
  const paused = await acquire(scene.warehouse)
  await silenceFor(51)
  await acquire(other)
  expect(paused.signal.aborted).toBe(false)
  clock.wake()
  await vi.waitFor(() => {
    expect(paused.signal.reason).toBeInstanceOf(LeaseLostError)
  })
})

test('a holder that cannot reach the database gives up before another may take over', async () => {
  let isReachable = true
  const flaky: Warehouse = {
    ...scene.warehouse,
    query: (action, statement) =>
      isReachable
        ? scene.warehouse.query(action, statement)
        : Promise.reject(new WarehouseUnavailableError('it is gone')),
  }
  const lease = await acquire(flaky)
  isReachable = false
  for (nowMs = 11_000; nowMs < 50_000; nowMs += 11_000) {
    clock.wake()
    await vi.waitFor(() => {
      expect(clock.waits()).toEqual([10_000])
    })
    expect(lease.signal.aborted).toBe(false)
  }
  clock.wake()
  await vi.waitFor(() => {
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  })
  isReachable = true
  await lease.release()
  expect((await readLease()).holder).toBe(null)
})

test('a holder whose database does not answer gives up in time', { tags: ['C16'] }, async () => {
  let isAnswering = true
  const silent: Warehouse = {
    ...scene.warehouse,
    query: (action, statement) =>
      isAnswering ? scene.warehouse.query(action, statement) : new Promise(() => undefined),
  }
  const lease = await acquire(silent)
  isAnswering = false
  nowMs = 10_000
  clock.wake()
  await vi.waitFor(() => {
    expect(clock.waits()).toEqual([40_000])
  })
  nowMs = 50_000
  clock.wake(40_000)
  await vi.waitFor(() => {
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  })
  isAnswering = true
})

test('a holder that was paused and not taken over goes on', { tags: ['C10'] }, async () => {
  const answers: (() => void)[] = []
  const slow: Warehouse = {
    ...scene.warehouse,
    query: async (action, statement) => {
      if (action === 'renew the lease') await new Promise<void>((resolve) => answers.push(resolve))
      return scene.warehouse.query(action, statement)
    },
  }
  const lease = await acquire(slow)
  await silenceFor(300)
  nowMs = 300_000
  clock.wake()
  await vi.waitFor(() => {
    // How long the database is given to answer.
    expect([answers.length, clock.waits()]).toEqual([1, [10_000]])
  })
  answers.pop()?.()
  await vi.waitFor(async () => {
    expect((await readLease()).silent_s).toBeLessThan(5)
  })
  await write(fenceWarehouse(slow, lease), 'paused')
  expect(await writers()).toEqual(['paused'])
})

test('gives back only its own lease, and only once', async () => {
  const paused = await acquire(scene.warehouse)
  await silenceFor(51)
  const lease = await acquire(other)
  await paused.release()
  expect((await readLease()).holder).toBe('backfill, process 4711 on worker-1')
  await lease.release()
  const next = await acquire(scene.warehouse)
  await lease.release()
  await expect(acquire(other)).rejects.toBeInstanceOf(LeaseHeldError)
  expect(next.fencingToken).toBe(3)
})

test('a holder that released the lease writes nothing after that', async () => {
  const lease = await acquire(scene.warehouse)
  await lease.release()
  await expect(write(fenceWarehouse(scene.warehouse, lease), 'late')).rejects.toBeInstanceOf(
    LeaseLostError,
  )
  expect(await writers()).toEqual([])
})

test('a release that the database refuses is told to the log and lets the end of the run be', async () => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const closing = createWarehouse({ url: scene.url, schema: 'tracking', logger: silentLogger })
  const broken: Warehouse = {
    ...closing,
    query: (action, statement) =>
      action === 'release the lease'
        ? Promise.reject(new WarehouseUnavailableError('it is gone'))
        : closing.query(action, statement),
  }
  const lease = await acquire(broken, { logger })
  await lease.release()
  await closing.close()
  expect(warnings).toEqual(['the lease could not be released; it will go stale'])
})

async function waitingForLocks(sessions: number): Promise<void> {
  await vi.waitFor(async () => {
    const waiting = await scene.value<number>`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toBe(sessions)
  })
}
