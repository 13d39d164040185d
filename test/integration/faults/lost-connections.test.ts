import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import type { Failpoint } from '../../../src/base/failpoint.js'
import type { FaultProxy } from '../../support/fault-proxy.js'
import { atScale } from '../../support/test-scale.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { useFaultScenes, wrongCounts } from './fault-scene.js'
import { changeAll, notifyOfAll } from './notify-of-all.js'

const scenes = useFaultScenes()

const CUTS = atScale(6, 50)

/** A simple query that commits, as it goes over the wire. */
const isCommit = (bytes: Buffer): boolean => bytes.includes('commit\0')

const MOMENTS = ['before', 'after', 'answered'] as const

/**
 * Cuts connections of commits by turns: before it gets there, right after it, and when its answer
 * comes. Each leaves another truth. Every other commit is let through: work that is cut off nine
 * times running is given up.
 */
function cutCommits(proxy: FaultProxy, times: number) {
  let cuts = 0
  let commits = 0
  let counted: Buffer | undefined
  const isDue = (bytes: Buffer, turn: number): boolean => {
    if (!isCommit(bytes)) return false
    if (bytes !== counted) commits += 1
    counted = bytes
    if (commits % 2 === 0 || cuts === times || cuts % MOMENTS.length !== turn) return false
    cuts += 1
    return true
  }
  return MOMENTS.map((moment, turn) =>
    proxy.add(
      {
        kind: 'cut',
        how: 'reset',
        moment,
        when: (bytes) => isDue(bytes, turn),
      },
      { direction: 'toTarget' },
    ),
  )
}

/** Once the run has begun: an earlier fault is harmless, and ends it. */
function onceBegun(arm: () => void): (point: Failpoint) => void {
  return (point) => {
    if (point === 'before_first_request') arm()
  }
}

describe('a connection that is lost during the commit', { tags: ['C18'] }, () => {
  it(
    `${CUTS} times in a run leaves each row and each version once, and counts that add up`,
    { tags: ['release'] },
    async () => {
      const scene = await scenes.open({ shipments: atScale(6, 30) })
      const proxy = await scenes.proxy()
      let cuts: ReturnType<typeof cutCommits> = []
      const report = await scene.sync({
        warehouse: scenes.warehouse(proxy.url),
        settings: { pageSize: 1 },
        reachFailpoint: onceBegun(() => (cuts = cutCommits(proxy, CUTS))),
      })
      expect(cuts.reduce((sum, { played }) => sum + played, 0)).toBe(CUTS)
      for (const { played } of cuts) expect(played).toBeGreaterThan(0)
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(await scene.differences()).toEqual([])
      expect(await doubledRows(scene.warehouse)).toEqual([])
      expect(await wrongCounts(scene)).toEqual([])
      expect(await scene.column`select outcome from tracking_sync.sync_runs`).toEqual(['complete'])
    },
  )

  it('of the webhook processor applies each notification once', async () => {
    const scene = await scenes.open()
    await scene.sync()
    await notifyOfAll(scene)
    const proxy = await scenes.proxy()
    const cuts = cutCommits(proxy, 3)
    const bench = openBench(scenes.warehouse(proxy.url), scene.simulator)
    scenes.atEnd(() => bench.close())
    await bench.settle()
    // The second and third meet a batch that is empty by then, or settled already.
    expect(cuts.reduce((sum, { played }) => sum + played, 0)).toBeGreaterThan(0)
    expect(new Set(Object.values(await statesOf(scene.warehouse)))).toEqual(new Set(['processed']))
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene.warehouse)).toEqual([])
    const doubled = await scene.rows`
      select container_id from tracking.container_history
      group by container_id, valid_from having count(*) > 1`
    expect(doubled).toEqual([])
  })
})

/** The warehouse, of which each piece of work fails at its first try once `isArmed` says so. */
function failingOnce(warehouse: Warehouse, isArmed: () => boolean, failed: Set<string>): Warehouse {
  const tryWork = async <Result>(action: string, work: () => Promise<Result>): Promise<Result> => {
    // A lease that is not given back is taken over a minute later.
    if (!isArmed() || failed.has(action) || action.includes('lease')) return work()
    failed.add(action)
    throw new WarehouseUnavailableError(`${action}: Connection terminated unexpectedly`)
  }
  return {
    ...warehouse,
    query: (action, ...rest) => tryWork(action, () => warehouse.query(action, ...rest)),
    unfencedTransaction: (action, work) =>
      tryWork(action, () => warehouse.unfencedTransaction(action, work)),
    transaction: (action, work) => tryWork(action, () => warehouse.transaction(action, work)),
  }
}

describe('a run whose pieces lose their connections once', { tags: ['C14', 'release'] }, () => {
  it('completes for every piece', async () => {
    const scene = await scenes.open({ shipments: 6 })
    const failed = new Set<string>()
    for (const command of ['backfill', 'sync', 'sync'] as const) {
      let isArmed = false
      failed.clear()
      const report = await scene.sync({
        command,
        warehouse: failingOnce(scene.warehouse, () => isArmed, failed),
        areChecksDue: true,
        settings: { fullSyncHours: 0, rawEvents: true },
        reachFailpoint: (point) => {
          if (point === 'before_first_request') isArmed = true
        },
      })
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(failed.size).toBeGreaterThan(20)
      expect(await scene.differences()).toEqual([])
      changeAll(scene, command)
    }
  })
})

describe('backends that are killed', { tags: ['C14'] }, () => {
  it('by the administrator in the middle of a transaction and between two are met with a new connection', async () => {
    const scene = await scenes.open()
    const warehouse = scenes.warehouse(undefined, { poolSize: 1 })
    const pid = async (): Promise<number> =>
      (await warehouse.query('ask', sql<{ pid: number }>`select pg_backend_pid() as pid`))[0]!.pid
    const killed = await pid()
    await scene.run`select pg_terminate_backend(${killed}::integer)`
    await expect.poll(() => pid().catch(() => killed)).not.toBe(killed)
    const inTransaction = warehouse.transaction('write', async (session) => {
      const [row] = await session.query('ask', sql<{ pid: number }>`select pg_backend_pid() as pid`)
      await scene.run`select pg_terminate_backend(${row!.pid}::integer)`
      return session.query('ask', sql`select 1`)
    })
    await expect(inTransaction).rejects.toMatchObject({ code: 'warehouse_unavailable' })
    expect(await pid()).not.toBe(killed)
  })
})
