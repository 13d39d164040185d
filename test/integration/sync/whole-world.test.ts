import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  importExamples,
  leaveReportsOut,
  letThingsGoWrong,
} from '../../../src/extensions/simulator/commands/demo/demo-scene.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import {
  bindQuery,
  readShippedQueries,
} from '../../../src/extensions/answers/questions/shipped-queries.js'
import { compareTables } from '../../support/compare-warehouse.js'
import { describeTallies, findEmpty, NOT_COMPARED } from '../../support/count-values.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { loadTables } from '../../support/snapshot-tables.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { HOUR } from './sync-scene.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

let simulator: Simulator
let target: TestWarehouse

/** The default world of `simulate`, loaded as `demo` does. */
beforeAll(async () => {
  target = await borrowTestWarehouse()
  const startAt = new Date(Date.now() - 144 * HOUR)
  simulator = await startSimulator({ startAt, speed: 0, rateLimitPerMinute: null })
  leaveReportsOut(simulator)
  const settings = { vesselPositions: true, rawEvents: true }
  for (const round of [0, 1, 2]) {
    if (round === 1) letThingsGoWrong(simulator)
    if (round > 0) {
      simulator.clock.advance(72 * HOUR)
      const reads = target.warehouse.names.table('raw_event_reads')
      const age = `update ${reads} set read_at = read_at - interval '72 hours'`
      await target.warehouse.query('let the reads grow old', rawStatement(age))
    }
    const report = await runTestSync({ warehouse: target.warehouse, source: simulator, settings })
    expect(report).toMatchObject({ exitCode: 0, problems: [] })
    // The unreadable record sends no run through the list again.
    const asked = report.streams.find(({ stream }) => stream === 'tracking_requests')?.counts
    const total = simulator.world.count('tracking_request', simulator.clock.now())
    expect(asked?.fetched).toBe(round === 1 ? total + 1 : total)
  }
}, 120_000)
afterAll(async () => {
  await simulator.close()
  await target.drop()
})

it('a default world says every word of it', { tags: ['JC2', 'JC3', 'release'] }, async () => {
  const tables = await loadTables(target.warehouse)
  const options = { hasVesselPositions: true, hasRawEvents: true }
  expect(compareTables(tables, simulator.world, simulator.clock.now(), options)).toEqual([])
  process.stdout.write(`${describeTallies(tables)}\n`)
  expect(findEmpty(tables)).toEqual([])
})

it('the list of what may be empty is short and has reasons', { tags: ['JC3'] }, () => {
  const reasons = Object.values(NOT_COMPARED)
  expect(reasons.length).toBeLessThanOrEqual(10)
  for (const reason of reasons) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
})

it('every question answers, with money about money', { tags: ['JE7', 'release'] }, async () => {
  const { warehouse } = target
  const imported = await importExamples(warehouse)
  expect(imported).toEqual(['6 holidays', expect.any(String), '2 lines of invoices'])
  const questions = await readShippedQueries(warehouse.names)
  expect(questions).toHaveLength(20)
  const without: string[] = []
  for (const question of questions) {
    const rows = await warehouse.query(`answer ${question.name}`, bindQuery(question, {}))
    if (rows.length === 0) without.push(question.name)
    for (const column of question.sums.filter((name) => name.endsWith('amount'))) {
      const isFilled = rows.some(({ [column]: value }) => value !== null && Number(value) !== 0)
      if (!isFilled) without.push(`${question.name}.${column}`)
    }
  }
  // The examples lack a credit note, and a ship whose containers will be short of free time.
  expect(without).toEqual(['accrual.credited_amount', 'arrivals.expected_amount'])
})

it('what goes wrong in the demo can be seen', { tags: ['JE7'] }, async () => {
  const [seen] = await target.rows<Record<string, number>>`
    select
        (select count(*) from tracking.shipments where _deleted_at is not null)::integer as shipments,
        (select count(*) from tracking_sync.quarantine)::integer as quarantined,
        (select count(*) from tracking_sync.schema_drift)::integer as drift,
        (select count(distinct milestone_completeness)
        from tracking_analytics.data_quality)::integer as completeness`
  expect(seen).toMatchObject({ shipments: 1, quarantined: 1 })
  expect(seen!.drift).toBeGreaterThan(0)
  expect(seen!.completeness).toBeGreaterThan(2)
})
