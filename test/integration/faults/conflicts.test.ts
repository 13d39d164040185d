import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { Logger } from '../../../src/base/logger.js'
import { atScale } from '../../support/test-scale.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'
import { notifyOfAll } from './notify-of-all.js'
import { doubledRows, useFaultScenes, wrongCounts } from './fault-scene.js'
import { injectSqlFault, type SqlFaultOptions } from './sql-faults.js'

const scenes = useFaultScenes()

async function openWith(fault: SqlFaultOptions) {
  const scene = await scenes.open()
  const injected = await injectSqlFault(scene.warehouse, fault)
  scenes.atEnd(() => injected.remove())
  return { scene, injected }
}

/** A logger that keeps the messages of warnings. */
function warningsOf(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (message) => void warnings.push(message),
    child: () => logger,
  }
  return { logger, warnings }
}

const TABLES = ['tracking.containers', 'tracking.transport_events']

describe('a conflict between transactions', { tags: ['C17'] }, () => {
  it.each(['40P01', '40001', '55P03'] as const)(
    '%s is met by doing the whole batch again; the run is complete and everything is there once',
    async (state) => {
      const { scene, injected } = await openWith({ state, tables: TABLES, pass: 1, times: 3 })
      const { logger, warnings } = warningsOf()
      const report = await scene.sync({ logger, settings: { pageSize: 2 } })
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(await injected.met()).toBeGreaterThan(4)
      expect(warnings.filter((one) => one.startsWith('the database failed'))).toHaveLength(3)
      expect(await scene.differences()).toEqual([])
      expect(await doubledRows(scene)).toEqual([])
      expect(await wrongCounts(scene)).toEqual([])
    },
  )

  it(
    'that a node of Citus tells as an internal error, of copied rows, is met by inserting them',
    { tags: ['O4'] },
    async () => {
      const { scene, injected } = await openWith({ state: 'XX000', tables: TABLES, times: 1 })
      expect(await scene.sync()).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(await injected.met()).toBeGreaterThan(1)
      expect(await scene.differences()).toEqual([])
      expect(await wrongCounts(scene)).toEqual([])
    },
  )

  it.each(['tracking_sync.sync_runs', 'tracking_sync.checkpoints', 'tracking_sync.refetch_queue'])(
    'in %s, of the bookkeeping, is met in the same way',
    async (table) => {
      const { scene, injected } = await openWith({ state: '40001', tables: [table], times: 2 })
      const report = await scene.sync({ settings: { pageSize: 2 } })
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(await injected.met()).toBeGreaterThan(2)
      expect(await scene.differences()).toEqual([])
    },
  )

  it('that never ends, ends the run with 5 after five more tries, and nothing of the batch is there', async () => {
    const { scene, injected } = await openWith({ state: '40P01', tables: TABLES })
    const report = await scene.sync()
    expect(report).toMatchObject({ exitCode: 5, outcome: 'failed' })
    expect(report.problems[0]).toMatch(/PostgreSQL says "deadlock detected" \(40P01\)/)
    expect(await injected.met()).toBe(6)
    expect(await scene.query('select from tracking.shipments')).toEqual([])
    await injected.end()
    expect(await scene.sync()).toMatchObject({ exitCode: 0 })
    expect(await scene.differences()).toEqual([])
  })

  it('under the webhook processor costs no attempt, and each notification is applied once', async () => {
    const { scene, injected } = await openWith({ state: '40P01', tables: TABLES, times: 3 })
    await injected.end()
    await scene.sync()
    await notifyOfAll(scene)
    await injected.remove()
    const again = await injectSqlFault(scene.warehouse, {
      state: '40P01',
      tables: TABLES,
      times: 3,
    })
    const bench = openBench(scene.warehouse, scene.simulator)
    scenes.atEnd(() => bench.close())
    await bench.settle()
    expect(await again.met()).toBeGreaterThan(3)
    expect(new Set(Object.values(await statesOf(scene.warehouse)))).toEqual(new Set(['processed']))
    const attempts = await scene.query(
      'select distinct attempts from tracking_sync.webhook_notifications',
    )
    expect(attempts).toEqual([{ attempts: 0 }])
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene)).toEqual([])
  })
})

describe('a sync and three processors over the same containers', { tags: ['C17'] }, () => {
  // Six hundred rounds are about ten minutes, three times as many beside other work.
  it('meet no deadlock', async () => {
    const scene = await scenes.open({ shipments: 12 })
    await scene.sync()
    const benches = [1, 2, 3].map(() => {
      const warehouse = scenes.warehouse()
      return { warehouse, ...openBench(warehouse, scene.simulator) }
    })
    for (let round = 1; round <= atScale(4, 600); round += 1) {
      // Each container twice, so that several have it in hand.
      await notifyOfAll(scene, `FIRST-${round}`)
      await notifyOfAll(scene, `THEN-${round}`)
      const [report] = await Promise.all([
        scene.sync({ command: 'sync', settings: { pageSize: 3 } }),
        ...benches.map((bench) => bench.settle()),
      ])
      expect(report).toMatchObject({ exitCode: 0, problems: [] })
      expect(await scene.differences()).toEqual([])
    }
    expect(await doubledRows(scene)).toEqual([])
    const states = Object.values(await statesOf(scene.warehouse))
    expect(new Set(states)).toEqual(new Set(['processed']))
    for (const bench of benches) {
      await bench.close()
      // The server counts a deadlock for good when the connection that met it ends.
      await bench.warehouse.close()
    }
    await scene.warehouse.query('count what this one met', sql`select pg_stat_force_next_flush()`)
    const [counted] = await scene.query<{ deadlocks: number }>(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    )
    expect(counted).toEqual({ deadlocks: 0 })
  })
})
