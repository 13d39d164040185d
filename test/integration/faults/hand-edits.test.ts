import { describe, expect, it } from 'vitest'
import { type Scene } from '../sync/sync-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { openFaultScene, wrongCounts } from './fault-scene.js'

/**
 * A row that is put right changes; its version does not, for at the source it was never otherwise.
 */
const LATER_THAN_ITS_VERSION = /_history .+: opened at .+, the row changed at /

/** One thorough pass, and a second that finds nothing to do. */
async function expectHealed(scene: Scene): Promise<void> {
  scene.simulator.clock.advance(2_000)
  expect(await scene.sync({ command: 'backfill' })).toMatchObject({ exitCode: 0, problems: [] })
  expect(await wrongCounts(scene)).toEqual([])
  const differences = await scene.differences()
  expect(differences.filter((text) => !LATER_THAN_ITS_VERSION.test(text))).toEqual([])
  expect(await doubledRows(scene.warehouse)).toEqual([])
  const before = await scene.snapshot()
  scene.simulator.clock.advance(2_000)
  expect(await scene.sync({ command: 'backfill' })).toMatchObject({ exitCode: 0 })
  expect(await scene.snapshot()).toEqual(before)
}

/** Tables that hang on rows of others. */
const HANGING = [
  ...['ports', 'terminals', 'vessels', 'tracking_requests', 'custom_fields'],
  ...['container_import_deadlines', 'container_holds', 'container_fees'],
]

describe('a warehouse that somebody has changed by hand', { tags: ['C20'] }, () => {
  it('by editing and emptying is set right, without a version of what was never so', async () => {
    const scene = await openFaultScene()
    await scene.sync()
    const versions = 'select count(*)::int as versions from tracking.container_history'
    const before = await scene.query(versions)
    await scene.run`
      update tracking.containers set number = 'EDIT0000000', weight_in_lbs = 1
      where container_id = (select max(container_id) from tracking.containers)`
    await scene.run`update tracking.shipments set customer_name = null`
    await scene.run`update tracking.transport_events set event = 'edited'`
    for (const table of HANGING) await scene.query(`truncate tracking.${table}`)
    await scene.run`
      delete from tracking.containers where container_id = (
      select min(container_id) from tracking.containers)`
    await expectHealed(scene)
    expect(await scene.query(versions)).toEqual(before)
  })
})
