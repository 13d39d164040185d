import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let simulator: Simulator
let opened: TestWarehouse
beforeAll(async () => {
  simulator = await startSameWorld({ shipments: 130 })
  opened = await createTestWarehouse()
  await leaveToTheRun()
})
afterAll(async () => {
  await simulator.close()
  await opened.drop()
})

/** Turns autovacuum off: a table that it analyzes at this moment is skipped by the run. */
async function leaveToTheRun(): Promise<void> {
  const tables = await opened.column`
    select relname::text from pg_stat_user_tables where schemaname = 'tracking'`
  expect(tables.length).toBeGreaterThan(20)
  for (const name of tables) {
    const table = sql.id('tracking', name)
    await opened.run`alter table ${table} set (autovacuum_enabled = false)`
  }
}

/** Tables that a run had analyzed, with how often. */
async function analyzed(): Promise<Map<string, number>> {
  const rows = await opened.rows<{ name: string; times: number }>`
    select relname::text as name, analyze_count::integer as times
    from pg_stat_user_tables
    where schemaname = 'tracking' and analyze_count > 0
    order by 1`
  return new Map(rows.map(({ name, times }) => [name, times]))
}

test('a first load is analyzed, and what writes nothing is not', { tags: ['FD5'] }, async () => {
  expect(await analyzed()).toEqual(new Map())
  const { warehouse } = opened
  const report = await runTestSync({ warehouse, source: simulator, command: 'backfill' })
  expect(report.exitCode).toBe(0)
  const after = await analyzed()
  expect([...after.keys()]).toEqual(
    expect.arrayContaining([
      'container_history',
      'container_import_deadline_history',
      'container_import_deadlines',
      'containers',
      'transport_events',
    ]),
  )
  // Little was written there: no plan depends on it.
  expect(after.has('ports')).toBe(false)
  await runTestSync({ warehouse, source: simulator, command: 'sync' })
  expect(await analyzed()).toEqual(after)
})
