import { sql } from 'kysely'
import pg from 'pg'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import {
  LeaseHeldError,
  LeaseLostError,
  WarehouseUnavailableError,
} from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createSleep } from '../../../src/base/retry.js'
import {
  acquireLease,
  fenceWarehouse,
  type Lease,
  type LeaseOptions,
} from '../../../src/warehouse/coordination/lease.js'
import {
  createSharedRequestBudget,
  type SharedRequestBudget,
  type SharedRequestBudgetOptions,
} from '../../../src/warehouse/coordination/shared-budget.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createManualSleep, type ManualSleep } from '../../support/manual-sleep.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

const ACCOUNT = 'account'

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
  await scene.run`
    truncate tracking_sync.lease, tracking.written, tracking_sync.request_budget`
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
  await acquire(scene.warehouse)
  await silenceFor(20)
  await expect(acquire(other)).rejects.toThrow(
    /^another run holds the lease: backfill, process 4711 on worker-1, since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(20 s\), last sign of life 20 s ago; without another sign of life it is taken over in 30 s$/,
  )
})

test('a lease whose holder was killed is taken over once stale', { tags: ['C9'] }, async () => {
  const killed = createWarehouse({ url: scene.url, schema: 'tracking', logger: silentLogger })
  await acquire(killed, { sleep: createManualSleep().sleep })
  // Nobody is left to give it back.
  held.pop()
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

test('a holder whose database fails, then is silent, gives up', { tags: ['C16'] }, async () => {
  let database: 'answers' | 'fails' | 'is silent' = 'answers'
  const ill: Warehouse = {
    ...scene.warehouse,
    query: (action, statement) => {
      if (database === 'answers') return scene.warehouse.query(action, statement)
      if (database === 'is silent') return new Promise(() => undefined)
      return Promise.reject(new WarehouseUnavailableError('it is gone'))
    },
  }
  const lease = await acquire(ill)
  database = 'fails'
  for (nowMs = 10_000; nowMs < 30_000; nowMs += 10_000) {
    clock.wake()
    await vi.waitFor(() => {
      expect(clock.waits()).toEqual([10_000])
    })
    expect(lease.signal.aborted).toBe(false)
  }
  database = 'is silent'
  clock.wake()
  await vi.waitFor(() => {
    expect(clock.waits()).toEqual([20_000])
  })
  nowMs = 50_000
  clock.wake(20_000)
  await vi.waitFor(() => {
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  })
  database = 'answers'
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
  await expect(write(fenceWarehouse(other, lease), 'late')).rejects.toBeInstanceOf(LeaseLostError)
  expect(next.fencingToken).toBe(3)
  expect(await writers()).toEqual([])
})

/** A budget as one process has it, on the first pool unless the other is given. */
function open(choice: Partial<SharedRequestBudgetOptions> = {}): SharedRequestBudget {
  return createSharedRequestBudget({
    warehouse: scene.warehouse,
    account: ACCOUNT,
    perMinute: 90,
    sleep: createSleep(),
    clock: () => new Date(),
    ...choice,
  })
}

/** The waits of requests that the budget does not grant; then who asked has had enough. */
async function waitsOf(
  ask: (signal: AbortSignal) => Promise<void>,
  { waits }: ManualSleep,
  count = 1,
): Promise<number[]> {
  const leaving = new AbortController()
  const asked = ask(leaving.signal)
  await vi.waitFor(() => {
    expect(waits()).toHaveLength(count)
  })
  const found = waits()
  leaving.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  return found
}

/** Requests of the account that count now. */
function granted(): Promise<number> {
  return scene.value<number>`
    select sum(syncs + others)::int
    from tracking_sync.request_budget
    cross join unnest(sync_requests, other_requests) as used (syncs, others)
    where account = ${ACCOUNT}`
}

test('a process that asks waits for one whose grant is on the way', { tags: ['R6'] }, async () => {
  const manual = createManualSleep()
  const budget = open({ perMinute: 10, reservedForRefetches: 0, sleep: manual.sleep })
  await budget.acquire()
  const beside = new pg.Client(scene.url)
  await beside.connect()
  onTestFinished(() => beside.end())
  await beside.query('begin')
  const { rows } = await beside.query(
    `select granted from tracking_sync.ask_for_request(
      $1, 'sync', 9, 10, 10, '1 minute', '1 ms', '1 minute', '1 hour')`,
    [ACCOUNT],
  )
  expect(rows).toEqual([{ granted: 9 }])
  await waitsOf(async (signal) => {
    const eleventh = budget.acquire({ signal })
    await vi.waitFor(async () => {
      expect(await scene.value`select count(*)::int from pg_locks where not granted`).toBe(1)
    })
    await beside.query('commit')
    await eleventh
  }, manual)
  expect(await granted()).toBe(10)
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
  const budget = open({ warehouse, perMinute: 10 })
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
  const manual = createManualSleep()
  const budget = open({ perMinute: 10, reservedForRefetches: 4, sleep: manual.sleep })
  for (let request = 0; request < 10; request += 1) await budget.acquire()
  // Two accounts in one warehouse do not share.
  await open({ perMinute: 1, account: 'another account' }).acquire()
  const [wait] = await waitsOf((signal) => budget.acquire({ signal }), manual)
  expect(wait).toBeGreaterThan(55_000)
})

test('while refetches wait, a sync leaves them their share', { tags: ['R7'] }, async () => {
  const manual = createManualSleep()
  const choice = { perMinute: 10, reservedForRefetches: 4, sleep: manual.sleep }
  const serve = open({ ...choice, warehouse: other })
  const sync = open(choice)
  const asked = async (signal: AbortSignal): Promise<void> => {
    const seventh = sync.acquire({ purpose: 'sync', signal })
    await vi.waitFor(() => {
      expect(manual.waits()).toHaveLength(1)
    })
    for (let request = 0; request < 3; request += 1) await serve.acquire({ purpose: 'refetch' })
    // In the process of the sync, too: its own wait does not come before others'.
    const control = sync.acquire({ purpose: 'control', signal })
    await Promise.all([seventh, control])
  }
  await serve.acquire({ purpose: 'refetch' })
  for (let request = 0; request < 6; request += 1) await sync.acquire({ purpose: 'sync' })
  expect(await waitsOf(asked, manual, 2)).toHaveLength(2)
  expect(await granted()).toBe(10)
})

test(
  'a request counts for its minute, also of a process that is gone',
  { tags: ['R8'] },
  async () => {
    const manual = createManualSleep()
    const choice = { perMinute: 3, reservedForRefetches: 0, sleep: manual.sleep }
    const former = open({ ...choice, warehouse: other })
    for (let request = 0; request < 3; request += 1) await former.acquire()
    const age = (seconds: number) => scene.run`
    update tracking_sync.request_budget
    set requested_at = array(
        select instant - ${seconds} * interval '1 second' from unnest(requested_at) as used (instant)
    )`
    await age(57)
    const [wait] = await waitsOf((signal) => open(choice).acquire({ signal }), manual)
    expect(wait).toBeLessThan(4_000)
    await age(4)
    await open(choice).acquire()
  },
)

test('put back an hour, the clock lets requests on a window later', { tags: ['R8'] }, async () => {
  const windowMs = 500
  const budget = open({ perMinute: 3, windowMs })
  for (let request = 0; request < 3; request += 1) await budget.acquire()
  await budget.pauseUntil(new Date(Date.now() + 1))
  await scene.run`
    update tracking_sync.request_budget
    set
        requested_at = array(
            select instant + interval '1 hour' from unnest(requested_at) as used (instant)
        ),
        paused_until = paused_until + interval '1 hour'`
  const startedAt = performance.now()
  await open({ perMinute: 3, windowMs }).acquire()
  const waitedMs = performance.now() - startedAt
  expect(waitedMs).toBeGreaterThanOrEqual(windowMs)
  expect(waitedMs).toBeLessThan(20 * windowMs)
})

test('a pause holds for every process, and only grows', { tags: ['R2'] }, async () => {
  // This host's clock is an hour fast: only the distance counts.
  const clock = () => new Date(Date.now() + 3_600_000)
  const limited = open({ clock })
  const startedAt = performance.now()
  for (const ms of [400, 50, -1_000]) await limited.pauseUntil(new Date(clock().getTime() + ms))
  await Promise.all([open({ warehouse: other }).acquire(), limited.acquire()])
  expect(performance.now() - startedAt).toBeGreaterThan(350)
  const isAfter = await scene.value<boolean>`
    select requested_at[1] >= paused_until from tracking_sync.request_budget`
  expect(isAfter).toBe(true)
})

test('no pause is longer than 300 seconds', { tags: ['R5'] }, async () => {
  await open().pauseUntil(new Date(Date.now() + 9_999_999_000))
  const s = await scene.value<number>`
    select extract(epoch from paused_until - clock_timestamp())::float8 as s
    from tracking_sync.request_budget`
  expect(s).toBeLessThanOrEqual(300)
  expect(s).toBeGreaterThan(290)
})
