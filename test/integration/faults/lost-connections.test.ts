import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { useFaultScenes, wrongCounts } from './fault-scene.js'
import { changeAll } from './notify-of-all.js'

const scenes = useFaultScenes()

/**
 * The warehouse, to which the connection is lost once for each piece of work after `isArmed` says
 * so: before the work, or when it is committed and only the answer is missing.
 */
function losingOnce(
  warehouse: Warehouse,
  moment: 'before' | 'after',
  lost: Set<string>,
  isArmed = (): boolean => true,
): Warehouse {
  const tryWork = async <Result>(action: string, work: () => Promise<Result>): Promise<Result> => {
    // A lease that is not given back is taken over a minute later.
    if (!isArmed() || lost.has(action) || action.includes('lease')) return work()
    lost.add(action)
    if (moment === 'after') await work()
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

describe.each(['before', 'after'] as const)(
  'a connection that is lost %s a piece of work',
  { tags: ['C14', 'C18'] },
  (moment) => {
    it('once for each piece of a run leaves each row once', async () => {
      const scene = await scenes.open({ shipments: 6 })
      const lost = new Set<string>()
      for (const command of ['backfill', 'sync', 'sync'] as const) {
        let isArmed = false
        lost.clear()
        const report = await scene.sync({
          command,
          warehouse: losingOnce(scene.warehouse, moment, lost, () => isArmed),
          areChecksDue: true,
          settings: { fullSyncHours: 0, rawEvents: true },
          reachFailpoint: (point) => {
            if (point === 'before_first_request') isArmed = true
          },
        })
        expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
        expect(lost.size).toBeGreaterThan(20)
        expect(await scene.differences()).toEqual([])
        expect(await wrongCounts(scene)).toEqual([])
        expect(await doubledRows(scene.warehouse)).toEqual([])
        changeAll(scene, command)
      }
    })
  },
)

describe('backends that are killed', { tags: ['C14'] }, () => {
  it('by the administrator in the middle of a transaction and between two are met with a new connection', async () => {
    const scene = await scenes.open()
    const warehouse = scenes.warehouse({ poolSize: 1 })
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
