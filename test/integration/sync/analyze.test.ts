import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openScene } from './sync-scene.js'

test('a first load is analyzed, and what writes nothing is not', { tags: ['FD5'] }, async () => {
  const scene = await openScene({ shipments: 130 })
  const tables = await scene.column`
    select relname::text from pg_stat_user_tables where schemaname = 'tracking'`
  expect(tables.length).toBeGreaterThan(20)
  // Autovacuum off: a table that it analyzes at this moment is skipped by the run.
  for (const name of tables) {
    await scene.run`alter table ${sql.id('tracking', name)} set (autovacuum_enabled = false)`
  }
  /** Tables with how often a run had analyzed them; a warehouse may have served others before. */
  const analyzed = async (): Promise<Map<string, number>> => {
    const rows = await scene.rows<{ name: string; times: number }>`
      select relname::text as name, analyze_count::integer as times
      from pg_stat_user_tables where schemaname = 'tracking' order by 1`
    return new Map(rows.map(({ name, times }) => [name, times]))
  }
  const before = await analyzed()
  expect((await scene.sync()).exitCode).toBe(0)
  const after = await analyzed()
  const written = [...after].flatMap(([name, times]) => (times > before.get(name)! ? [name] : []))
  expect(written).toEqual(
    expect.arrayContaining([
      'container_history',
      'container_import_deadline_history',
      'container_import_deadlines',
      'containers',
      'transport_events',
    ]),
  )
  // Little was written there: no plan depends on it.
  expect(written).not.toContain('ports')
  await scene.sync({ command: 'sync' })
  expect(await analyzed()).toEqual(after)
})
