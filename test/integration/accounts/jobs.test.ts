import { sql } from 'kysely'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startWorker, type RunningWorker } from '../../../src/extensions/accounts/serve/worker.js'
import { AccountsNames } from '../../../src/extensions/accounts/open-accounts.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import {
  askForJob,
  endJob,
  giveBackJob,
  keepJobs,
  planJobs,
  prepareJobs,
  readJobs,
  takeJobs,
  type PlannedJob,
} from '../../../src/extensions/accounts/serve/account-jobs.js'
import { createManualSleep } from '../../support/manual-sleep.js'
import { waitUntil } from '../../support/run-cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'

let database: TestDatabase
let accounts: Warehouse

beforeAll(async () => {
  database = await createTestDatabase()
  accounts = createWarehouse({
    url: database.url,
    schema: 'tracking',
    names: new AccountsNames('tracking'),
    logger: silentLogger,
  })
})

afterAll(async () => {
  await accounts.close()
  await database.drop()
})

beforeEach(async () => {
  await prepareJobs(accounts, { sleep: () => Promise.resolve() })
  await accounts.query('empty', sql`truncate tracking_accounts.jobs`)
})

const NAMES = ['a', 'b', 'c', 'd']
const SYNCS = { accounts: NAMES, jobs: ['sync'] }
const SOON = new Date(Date.now() + 3_600_000)

/** Due so many seconds ago. */
const planned = (account: string, agoSeconds: number, rhythm = '* * * * * UTC'): PlannedJob => ({
  account,
  job: 'sync',
  rhythm,
  dueAt: new Date(Date.now() - agoSeconds * 1000),
})

const namesOf = (taken: readonly { readonly account: string }[]): string[] =>
  taken.map(({ account }) => account).sort()

const bySilence = (worker: string, seconds: number) =>
  accounts.query(
    'let time pass',
    sql`update tracking_accounts.jobs set seen_at = seen_at - make_interval(secs => ${seconds})
where worker = ${worker}`,
  )

describe('the jobs of accounts', { tags: ['C24'] }, () => {
  it('are taken once each, the longest waiting first', async () => {
    await planJobs(accounts, [
      planned('a', 10),
      planned('b', 30),
      planned('c', 20),
      planned('d', -60),
    ])
    expect(namesOf(await takeJobs(accounts, 'one', SYNCS, 2))).toEqual(['b', 'c'])
    expect(namesOf(await takeJobs(accounts, 'two', SYNCS, 2))).toEqual(['a'])
    expect(await takeJobs(accounts, 'two', SYNCS, 2)).toEqual([])
  })

  it('of workers that take at the same time are not the same', async () => {
    await planJobs(
      accounts,
      NAMES.map((name) => planned(name, 5)),
    )
    const both = await Promise.all(
      ['one', 'two', 'three'].map((worker) => takeJobs(accounts, worker, SYNCS, 2)),
    )
    const all = both.flat()
    expect(new Set(namesOf(all)).size).toBe(all.length)
    const rest = await takeJobs(accounts, 'four', SYNCS, 4)
    expect(namesOf([...all, ...rest])).toEqual(NAMES)
  })

  it('of a worker without a sign of life for half a minute are taken by another', async () => {
    await planJobs(accounts, [planned('a', 5), planned('b', 5)])
    const [lost] = await takeJobs(accounts, 'dead', SYNCS, 1)
    await takeJobs(accounts, 'alive', SYNCS, 1)
    await bySilence('dead', 29)
    expect(await takeJobs(accounts, 'other', SYNCS, 2)).toEqual([])
    await bySilence('dead', 2)
    await bySilence('alive', 25)
    expect((await keepJobs(accounts, 'alive')).size).toBe(1)
    await bySilence('alive', 25)
    const [taken] = await takeJobs(accounts, 'other', SYNCS, 2)
    expect(taken).toMatchObject({ account: 'a', formerWorker: 'dead' })
    // The former one cannot end, keep or return it.
    expect((await keepJobs(accounts, 'dead')).size).toBe(0)
    await endJob(accounts, lost!, { dueAt: SOON, problem: null })
    await giveBackJob(accounts, lost!)
    const [row] = await readJobs(accounts, ['a'])
    expect(row).toMatchObject({ worker: 'other', succeededAt: null })
  })

  it('are due again at their time, at once where they were asked for or given back', async () => {
    await planJobs(accounts, [planned('a', 5), planned('b', 5), planned('c', 5)])
    const taken = await takeJobs(accounts, 'one', SYNCS, 3)
    const of = (name: string) => taken.find(({ account }) => account === name)!
    await askForJob(accounts, 'b', 'sync')
    await endJob(accounts, of('a'), { dueAt: SOON, problem: null })
    await endJob(accounts, of('b'), { dueAt: SOON, problem: 'the service was away' })
    await giveBackJob(accounts, of('c'))
    expect(namesOf(await takeJobs(accounts, 'two', SYNCS, 3))).toEqual(['b', 'c'])
    const [a, b] = await readJobs(accounts, NAMES)
    expect(a).toMatchObject({ failures: 0, problem: null, worker: null })
    expect(a!.succeededAt).not.toBeNull()
    expect(b).toMatchObject({ failures: 1, problem: 'the service was away', worker: 'two' })
    await askForJob(accounts, 'a', 'sync')
    expect(namesOf(await takeJobs(accounts, 'two', SYNCS, 3))).toEqual(['a'])
  })

  it('stay as planned at the next start, unless their rhythm is another or they are off', async () => {
    await planJobs(accounts, [planned('a', 50), planned('b', 50)])
    await planJobs(accounts, [planned('a', -60), planned('b', -60, '5 * * * * UTC')])
    expect(namesOf(await takeJobs(accounts, 'one', SYNCS, 4))).toEqual(['a'])
    await planJobs(accounts, [{ ...planned('b', 5), job: 'inbox' }])
    const rows = await readJobs(accounts, NAMES)
    expect(rows.map(({ account, job }) => `${account} ${job}`)).toEqual(['a sync', 'b inbox'])
  })
})

describe('a worker', { tags: ['C24'] }, () => {
  const rhythm = { everyMs: 3_600_000 }
  function start(
    worker: string,
    places: number,
    run: (account: string, signal: AbortSignal) => Promise<number | undefined>,
  ): { readonly running: RunningWorker; readonly wake: () => void } {
    const { sleep, wake } = createManualSleep()
    const running = startWorker({
      accounts,
      worker,
      jobs: NAMES.map((account) => ({ account, job: 'sync', rhythm, isFirstAtOnce: true })),
      lanes: [{ jobs: ['sync'], places }],
      run: ({ account }, signal) => run(account, signal),
      logger: silentLogger,
      clock: () => new Date(),
      sleep,
    })
    return { running, wake }
  }

  it('works on at most as many accounts as it has places, and a failing one does not stop others', async () => {
    let [now, most] = [0, 0]
    const done: string[] = []
    const { running } = start('one', 2, async (account) => {
      most = Math.max(most, (now += 1))
      await accounts.query('work', sql`select 1`)
      now -= 1
      done.push(account)
      if (account === 'b') throw new Error('this one fails')
      return undefined
    })
    await waitUntil('all are done', () => done.length === NAMES.length)
    await running.stop()
    expect(most).toBe(2)
    const rows = await readJobs(accounts, NAMES)
    expect(rows.map(({ problem }) => problem)).toEqual([null, 'this one fails', null, null])
    expect(rows.every(({ worker }) => worker === null)).toBe(true)
  })

  it('that is stopped gives back what it was at; one that lost a job lets go of it', async () => {
    const ended: string[] = []
    const work = async (account: string, signal: AbortSignal): Promise<undefined> => {
      await once(signal, 'abort')
      ended.push(account)
    }
    const first = start('first', 4, work)
    await waitUntil('all are held', () => first.running.held().length === 4)
    // Another takes one over; the next sign of life of the first tells it so.
    await accounts.query(
      'let time pass',
      sql`update tracking_accounts.jobs set seen_at = seen_at - interval '31 seconds'
where account_name = 'c'`,
    )
    expect(namesOf(await takeJobs(accounts, 'second', SYNCS, 1))).toEqual(['c'])
    await waitUntil('the first has let go', () => {
      first.wake()
      return ended.includes('c')
    })
    await first.running.stop()
    expect(ended.sort()).toEqual(NAMES)
    const rows = await readJobs(accounts, NAMES)
    expect(rows.map(({ worker }) => worker)).toEqual([null, null, 'second', null])
    expect(namesOf(await takeJobs(accounts, 'third', SYNCS, 4))).toEqual(['a', 'b', 'd'])
  })
})
