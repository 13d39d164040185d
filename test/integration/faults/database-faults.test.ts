import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { atScale } from '../../support/test-scale.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { openFaultScene, openPool, wrongCounts } from './fault-scene.js'
import { notifyOfAll } from './notify-of-all.js'
import { injectSqlFault, type InjectedState } from './sql-faults.js'

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

const ROWS = ['tracking.containers', 'tracking.transport_events']
/** A page writes each of the data tables and the checkpoint, and a run its row. */
const ALL = ['tracking.shipments', ...ROWS, 'tracking_sync.sync_runs', 'tracking_sync.checkpoints']

/** Writes of these tables fail so often, beginning behind `pass` others. */
type Cell = readonly [state: InjectedState, tables: readonly string[], times: number, pass: number]

describe('a fault of the database that passes costs only tries', { tags: ['C17', 'O4'] }, () => {
  it.each<Cell>([
    ['40P01', ROWS, 3, 1],
    ['40001', ROWS, 3, 1],
    ['55P03', ROWS, 3, 1],
    ['40001', ['tracking_sync.sync_runs'], 2, 0],
    ['40001', ['tracking_sync.checkpoints'], 2, 0],
    ['40001', ['tracking_sync.refetch_queue'], 2, 0],
    // A node of Citus tells a conflict of copied rows as an internal error: they are inserted.
    ['XX000', ROWS, 1, 0],
  ])('%s at %s, %i times behind %i writes', async (state, tables, times, pass) => {
    const scene = await openFaultScene()
    const fault = await injectSqlFault(scene.warehouse, { state, tables, times, pass })
    onTestFinished(() => fault.remove())
    const { logger, warnings } = warningsOf()
    const report = await scene.sync({ logger, settings: { pageSize: 2 } })
    expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
    expect(await fault.met()).toBeGreaterThan(times + pass)
    const tries = warnings.filter((one) => one.startsWith('the database failed'))
    if (tables === ROWS) expect(tries).toHaveLength(state === 'XX000' ? 0 : times)
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene.warehouse)).toEqual([])
    expect(await wrongCounts(scene)).toEqual([])
  })
})

describe('a fault of the database that lasts', { tags: ['C13'] }, () => {
  // Writes that fail: of a batch, as often as it is tried, and of the end of the run.
  it.each<readonly [InjectedState, met: number, says: RegExp]>([
    ['40P01', 7, /PostgreSQL says "deadlock detected" \(40P01\)/],
    ['53100', 10, /No space left on device" \(53100\); give the server disk/],
    ['42501', 2, /permission denied/],
  ])(
    '%s ends a run with 5, and leaves whole pages; without it the next run needs no help',
    { tags: ['C17'] },
    async (state, met, says) => {
      const scene = await openFaultScene()
      // The first page finds room.
      const pass = 8
      const fault = await injectSqlFault(scene.warehouse, { state, tables: ALL, pass })
      onTestFinished(() => fault.remove())
      const report = await scene.sync({ settings: { pageSize: 2 } })
      expect(report).toMatchObject({ exitCode: 5, outcome: 'failed' })
      expect(report.problems[0]).toMatch(says)
      expect(await fault.met()).toBe(pass + met)
      const [stored] = await scene.rows<{ shipments: number; orphans: number; pages: number }>`
        select count(*)::int as shipments,
          (select count(*)::int from tracking.containers
          where shipment_id not in (select shipment_id from tracking.shipments)) as orphans,
          (select (position ->> 'page')::int from tracking_sync.checkpoints
          where stream = 'shipments') as pages
        from tracking.shipments`
      expect(stored).toEqual({ shipments: 2, orphans: 0, pages: 1 })
      await fault.end()
      expect(await scene.sync({ settings: { pageSize: 2 } })).toMatchObject({ exitCode: 0 })
      expect(await scene.differences()).toEqual([])
      expect(await doubledRows(scene.warehouse)).toEqual([])
    },
  )
})

// Six hundred rounds are about ten minutes, three times as many beside other work.
it('a sync and three processors meet no deadlock', { tags: ['C17', 'release'] }, async () => {
  const scene = await openFaultScene({ shipments: 12 })
  await scene.sync()
  const deadlocks = () =>
    scene.value`select deadlocks::int from pg_stat_database where datname = current_database()`
  const before = await deadlocks()
  const benches = [1, 2, 3].map(() => {
    const warehouse = openPool(scene)
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
  expect(await doubledRows(scene.warehouse)).toEqual([])
  const states = Object.values(await statesOf(scene.warehouse))
  expect(new Set(states)).toEqual(new Set(['processed']))
  for (const bench of benches) {
    await bench.close()
    // The server counts a deadlock for good when the connection that met it ends.
    await bench.warehouse.close()
  }
  await scene.run`select pg_stat_force_next_flush()`
  expect(await deadlocks()).toBe(before)
})
