import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/simulator/server.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { countValues, findEmpty, MAY_BE_EMPTY } from '../../support/count-values.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { loadTables } from '../../support/snapshot-tables.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { HOUR, START } from './sync-scene.js'

let simulator: Simulator
let target: TestWarehouse

beforeAll(async () => {
  target = await borrowTestWarehouse()
  // What `simulate` serves unless it is told otherwise.
  simulator = await startSimulator({ startAt: START, speed: 0, rateLimitPerMinute: null })
})
afterAll(async () => {
  await simulator.close()
  await target.drop()
})

it(
  'a default world says every word of the interface, and every word of it is compared',
  { tags: ['JC3'] },
  async () => {
    const { warehouse } = target
    const settings = { vesselPositions: true }
    await runTestSync({ warehouse, source: simulator, settings })
    simulator.clock.advance(72 * HOUR)
    await runTestSync({ warehouse, source: simulator, settings, command: 'sync' })
    const at = simulator.clock.now()
    expect(await compareWarehouse(warehouse, simulator.world, at)).toEqual([])
    expect(findEmpty(countValues(await loadTables(warehouse)))).toEqual([])
  },
)

it(
  'the list of what may be empty is short, and each entry has its reason',
  { tags: ['JC3'] },
  () => {
    const reasons = Object.values(MAY_BE_EMPTY)
    expect(reasons.length).toBeLessThanOrEqual(10)
    for (const reason of reasons) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
  },
)
