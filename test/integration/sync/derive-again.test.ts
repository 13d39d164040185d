import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deriveAgain } from '../../../src/warehouse/rows/derive-again.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'

const DERIVED = [
  'container_import_deadlines',
  'container_holds',
  'container_fees',
  'container_import_deadline_history',
  'container_hold_history',
  'container_fee_history',
]

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ seed: 11, shipments: 30 })
  // Days apart, so that deadlines move, holds come and go, and fees grow.
  for (let round = 0; round < 5; round += 1) {
    expect((await scene.sync()).exitCode).toBe(0)
    scene.simulator.clock.advance(72 * HOUR)
  }
  const closed = `valid_to is not null`
  expect(await scene.count('tracking.container_import_deadline_history', closed)).toBeGreaterThan(3)
}, 120_000)
beforeEach(sync)
afterAll(closeScenes)

function sync() {
  return scene.sync({ command: 'sync' })
}

/** All rows of the derived tables, but not which run wrote them and of what sighting it was. */
async function derivedRows(): Promise<Record<string, unknown[]>> {
  const contents: Record<string, unknown[]> = {}
  for (const table of DERIVED) {
    const rows = await scene.query<{ row: string }>(
      `select (to_jsonb(derived) - '_sync_run_id' - '_observed_at')::text as row
      from tracking.${table} as derived order by 1`,
    )
    contents[table] = rows.map(({ row }) => row)
  }
  return contents
}

describe('derived rows', { tags: ['FA4'] }, () => {
  test.each<readonly [what: string, ...changes: string[]]>([
    [
      // Days in another zone, a hold without its text, a fee as two.
      'of another version',
      `update tracking.container_import_deadlines set local_date = local_date - 1`,
      `update tracking.container_import_deadline_history set local_date = local_date - 1`,
      `update tracking.container_holds set description = null`,
      `update tracking.container_hold_history set description = null, status = 'x'`,
      `update tracking.container_fees set fee_key = fee_key || '-old'`,
      `update tracking.container_fee_history set fee_key = fee_key || '-old'`,
      `update tracking_sync.derivations set text_hash = 'of another version'`,
    ],
    [
      'with zone data of another day',
      ...['container_import_deadlines', 'container_import_deadline_history'].map(
        (table) =>
          `update tracking.${table} set local_date = local_date + 1 where time_zone = (
          select min(time_zone) from tracking.container_import_deadlines
          where deadline_at is not null and is_zone_known)`,
      ),
    ],
    [
      'of zones that were not known',
      `update tracking.container_import_deadlines set local_date = null, is_zone_known = false
      where time_zone is not null and deadline_at is not null`,
      `delete from tracking_analytics.time_zones`,
    ],
  ])('%s are made anew by a run, without a request', { tags: ['FA5'] }, async (_, ...changes) => {
    const before = await derivedRows()
    for (const table of DERIVED) expect(before[table]!.length, table).toBeGreaterThan(0)
    const { requests } = await sync()
    for (const change of changes) await scene.query(change)
    expect(await derivedRows()).not.toEqual(before)
    expect(await sync()).toMatchObject({ exitCode: 0, requests })
    const after = await derivedRows()
    expect({ ...after, container_fees: null }).toEqual({ ...before, container_fees: null })
    // A fee that has another name is another row, first seen now.
    const keys = (rows: unknown[]) =>
      rows.map((row) => (JSON.parse(String(row)) as { fee_key: string }).fee_key)
    expect(keys(after.container_fees!).sort()).toEqual(keys(before.container_fees!).sort())
  })

  test('that are as they should be are neither written nor locked', async () => {
    const versions = () =>
      scene.rows`
        select xmin::text, ctid::text from tracking.container_import_deadlines order by 1, 2`
    const before = await versions()
    const derive = () =>
      deriveAgain(scene.warehouse, { syncRunId: 1, signal: new AbortController().signal })
    expect(await derive()).toBe(0)
    await scene.run`update tracking_sync.derivations set text_hash = 'of another version'`
    expect(await derive()).toBeGreaterThan(7)
    expect(await versions()).toEqual(before)
  })
})
