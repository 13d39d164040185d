import { expect, it } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { openFaultScene, wrongCounts } from './fault-scene.js'
import { changeAll } from './notify-of-all.js'

/**
 * The warehouse, to which the connection is lost once for each piece of work after `isArmed` says
 * so: before the work, or when it is committed and only the answer is missing.
 */
function losingOnce(
  warehouse: Warehouse,
  moment: 'before' | 'after',
  lost: Set<string>,
  isArmed: () => boolean,
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

it.each(['before', 'after'] as const)(
  'a connection that is lost %s each piece of work leaves each row once',
  { tags: ['C14', 'C18'] },
  async (moment) => {
    const scene = await openFaultScene()
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
  },
)
