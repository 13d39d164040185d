import { describe, expect, it } from 'vitest'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { rowCount } from '../../support/snapshot-tables.js'
import { expectNothingToWrite, expectTrueCounts, syncToEquality } from './expect-sync.js'
import { openScene, type Scene } from './sync-scene.js'

/** The row that the run left. */
async function runRow({ rows }: Scene, { syncRunId }: RunReport): Promise<unknown> {
  const [row] = await rows`
    select outcome, exit_code, error_code, error_message, finished_at is not null as is_finished
    from tracking_sync.sync_runs where sync_run_id = ${syncRunId}`
  return row
}

/** After a fault has gone, one run makes everything equal and the next finds nothing to do. */
async function expectRecovery(scene: Scene): Promise<void> {
  scene.simulator.faults.clear()
  await syncToEquality(scene)
  await expectNothingToWrite(scene)
}

describe('bad records', { tags: ['release'] }, () => {
  /**
   * Each replaces one shipment of the first page; the pointer tells what is wrong with it. All
   * forms are in test/unit/resources/contract.test.ts.
   */
  const BAD: readonly (readonly [
    make: (record: Record<string, unknown>) => unknown,
    pointer: string,
  ])[] = [
    [() => 7, ''],
    [(record) => ({ ...record, id: 7 }), '/id'],
    [(record) => ({ ...record, id: '..' }), '/id'],
    [(record) => ({ ...record, type: undefined }), '/type'],
    [(record) => ({ ...record, attributes: [] }), '/attributes'],
    [(record) => ({ ...record, relationships: 'none' }), '/relationships'],
  ]

  const ALL = 2 * BAD.length + 2

  it('are set aside with reason, pointer and payload', { tags: ['I11', 'T7'] }, async () => {
    const scene = await openScene({ shipments: ALL })
    const records = scene.records('shipment')
    scene.answers.show('/shipments', (shown) => [
      ...BAD.map(([make], index) => make({ ...shown[index]! })),
      ...shown.slice(BAD.length),
    ])
    for (const run of [1, 2]) {
      const report = await scene.sync({ settings: { quarantineLimitPercent: 50 } })
      expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
      const counts = report.streams.find(({ stream }) => stream === 'shipments')?.counts
      expect(counts).toMatchObject({
        fetched: ALL,
        quarantined: BAD.length,
        inserted: run === 1 ? ALL - BAD.length : 0,
        unchanged: run === 1 ? 0 : ALL - BAD.length,
      })
      const rows = await scene.rows`
        select stream, pointer, payload, reason, source, sightings, sync_run_id
        from tracking_sync.quarantine order by quarantine_id`
      expect(rows).toEqual(
        BAD.map(([, pointer]) => ({
          stream: 'shipments',
          pointer,
          payload: expect.any(String) as string,
          reason: expect.stringMatching(/\w/) as string,
          source: '/shipments',
          sightings: run,
          sync_run_id: report.syncRunId,
        })),
      )
      for (const [index, row] of rows.entries()) {
        const bad = JSON.stringify(BAD[index]?.[0](records[index]!))
        expect(JSON.parse(row.payload as string)).toEqual(JSON.parse(bad))
      }
    }
    // More than 5 % are too many.
    const strict = await scene.sync()
    expect(strict).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
    expect(await runRow(scene, strict)).toMatchObject({
      error_code: 'incomplete_run',
      error_message: expect.stringContaining('tracking_sync.quarantine') as string,
    })
    const missing = records.slice(0, BAD.length).map(({ id }) => `shipments ${id}: has no row`)
    expect((await scene.differences()).sort()).toEqual(missing.sort())
    await expectRecovery(scene)
    // Of the last two it is known which record they are, and that it came well.
    expect(await scene.count('tracking_sync.quarantine')).toBe(BAD.length - 2)
  })

  it('cost only themselves if PostgreSQL refuses them', async () => {
    const scene = await openScene({ shipments: 24 })
    const bad = (
      [
        ['containers', 'container', 'number'],
        ['shipments', 'shipment', 'bill_of_lading_number'],
        ['tracking_requests', 'tracking_request', 'request_number'],
      ] as const
    ).map(([table, type, column]) => {
      const { id, attributes } = scene.records(type)[17]!
      const value = String(attributes?.[column])
      return { table, type, id, value, check: `check (${column} != '${value}')` }
    })
    for (const { table, check } of bad) {
      await scene.query(`alter table tracking.${table} add constraint refuses_one ${check}`)
    }
    for (const run of [1, 2]) {
      scene.simulator.requests.reset()
      const report = await scene.sync()
      expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
      await expectTrueCounts(scene, report)
      const refused = report.streams.filter(({ counts }) => counts.quarantined === 1)
      expect(refused.map(({ stream }) => stream).sort()).toEqual(bad.map(({ table }) => table))
      expect(
        await scene.rows`select * from tracking_sync.quarantine order by stream`,
      ).toMatchObject(
        bad.map(({ table, type, id, value }) => ({
          stream: table,
          resource_type: type,
          record_id: id,
          reason: expect.stringContaining('refuses_one') as string,
          payload: expect.stringContaining(value) as string,
          sightings: run,
        })),
      )
    }
    const differences = await scene.differences()
    expect(differences.filter((text) => !bad.some(({ id }) => text.includes(id)))).toEqual([])
    for (const { table, id } of bad) expect(differences).toContain(`${table} ${id}: has no row`)
    for (const { table } of bad) {
      await scene.query(`alter table tracking.${table} drop constraint refuses_one`)
    }
    await expectRecovery(scene)
  })
})

describe('a run that is stopped', { tags: ['X1'] }, () => {
  it('by SIGTERM leaves whole pages, says so, and the next run completes', async () => {
    const scene = await openScene()
    const stop = new AbortController()
    const report = await scene.sync({
      settings: { pageSize: 2 },
      signal: stop.signal,
      onProgress: ({ page }) => {
        if (page === 2) stop.abort('SIGTERM')
      },
    })
    expect(report).toMatchObject({ outcome: 'aborted', exitCode: 143 })
    expect(rowCount(await scene.snapshot(), 'shipments')).toBe(4)
    expect(await runRow(scene, report)).toMatchObject({
      outcome: 'aborted',
      exit_code: 143,
      error_code: 'aborted',
      is_finished: true,
    })
    await expectRecovery(scene)
  })
})
