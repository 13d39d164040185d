import { expect } from 'vitest'
import { resources } from '../../../src/source/records/index.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import type { TestSyncOptions } from '../../support/run-test-sync.js'
import type { Scene } from './sync-scene.js'

/** The table of each stream. */
const TABLES = resources.map(({ stream }) => stream)

/**
 * I16: counts add up, equal those in the bookkeeping, and equal the rows that the run wrote.
 */
export async function expectTrueCounts(scene: Scene, report: RunReport): Promise<void> {
  const stored = await scene.rows`
    select * from tracking_sync.sync_run_streams where sync_run_id = ${report.syncRunId}
    order by stream`
  expect(stored).toEqual(
    report.streams.map(
      ({ stream, counts, outcome, detail }) =>
        expect.objectContaining({ stream, ...counts, outcome, detail }) as unknown,
    ),
  )
  for (const { stream, counts } of report.streams) {
    const { fetched, inserted, updated, unchanged, stale, duplicate, quarantined } = counts
    const sum = inserted + updated + unchanged + stale + duplicate + quarantined
    expect({ stream, fetched }).toEqual({ stream, fetched: sum })
  }
  const parts = TABLES.map(
    (table) =>
      `select '${table}' as table, count(*) as written, count(_deleted_at) as dead
      from tracking.${table} where _sync_run_id = $1`,
  )
  expect(await scene.query(parts.join(' union all '), report.syncRunId)).toEqual(
    TABLES.map((table) => {
      const counts = report.streams.find(({ stream }) => stream === table)?.counts
      const { inserted = 0, updated = 0, tombstoned = 0 } = counts ?? {}
      return { table, written: inserted + updated + tombstoned, dead: tombstoned }
    }),
  )
  const [run] = await scene.rows`
    select outcome, exit_code, error_message, requests, finished_at is not null as is_finished
    from tracking_sync.sync_runs where sync_run_id = ${report.syncRunId}`
  expect(run).toEqual({
    outcome: report.outcome,
    exit_code: report.exitCode,
    error_message: null,
    requests: report.requests,
    is_finished: true,
  })
  expect(report.requests).toBe(scene.simulator.requests.total)
}

/**
 * Runs a sync and expects it complete, true in its counts, and the warehouse equal to the service.
 */
export async function syncToEquality(
  scene: Scene,
  options: Partial<TestSyncOptions> = {},
): Promise<RunReport> {
  scene.simulator.requests.reset()
  const report = await scene.sync({ command: 'sync', ...options })
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
  expect(await scene.differences()).toEqual([])
  await expectTrueCounts(scene, report)
  return report
}

/** Runs a sync of a quiet service and expects that it writes no row but those about the run. */
export async function expectNothingToWrite(
  scene: Scene,
  options: Partial<TestSyncOptions> = {},
): Promise<RunReport> {
  const before = await scene.snapshot()
  scene.simulator.requests.reset()
  const report = await scene.sync({ command: 'sync', ...options })
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
  expect(await scene.snapshot()).toEqual(before)
  for (const { stream, counts } of report.streams) {
    const { fetched, unchanged, duplicate } = counts
    expect({ stream, fetched }).toEqual({ stream, fetched: unchanged + duplicate })
  }
  await expectTrueCounts(scene, report)
  return report
}
