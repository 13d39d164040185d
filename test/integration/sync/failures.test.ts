import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/extensions/simulator/faults/faults.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { rowCount } from '../../support/snapshot-tables.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, openScene as openAnyScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

const FOR_EVER = { times: Infinity }
const SHIPMENTS = { path: /^\/shipments$/ }
const PAGES_OF_2 = { settings: { pageSize: 2 } }

/** Four pages of two: what goes wrong does not depend on how much there is. */
function openScene(options: SimulatorOptions = {}): Promise<Scene> {
  return openAnyScene({ shipments: 8, ...options })
}

function outcomeOf(report: RunReport, stream: string): string | undefined {
  return report.streams.find((state) => state.stream === stream)?.outcome
}

/** The row that the run left. */
async function runRow(
  { query }: Scene,
  { syncRunId }: RunReport,
): Promise<Record<string, unknown>> {
  const [row] = await query(
    `select outcome, exit_code, error_code, error_message, finished_at is not null as is_finished
    from tracking_sync.sync_runs where sync_run_id = $1`,
    syncRunId,
  )
  return row ?? {}
}

/** After a fault has gone, one run makes everything equal and the next finds nothing to do. */
async function expectRecovery(scene: Scene): Promise<void> {
  scene.simulator.faults.clear()
  await syncToEquality(scene)
  await expectNothingToWrite(scene)
}

describe('one stream that fails', () => {
  it('goes on when a reference is gone, and asks no second time', { tags: ['H5'] }, async () => {
    const scene = await openScene()
    const { faults } = scene.simulator
    const event = scene
      .records('transport_event')
      .find(({ relationships }) => relationships?.vessel?.data)!
    const vessel = event.relationships?.vessel?.data as { id: string }
    const fault = { kind: 'status', status: 404 } as const
    const played = faults.add({ fault, match: { path: `/vessels/${vessel.id}` }, ...FOR_EVER })
    const first = await scene.sync()
    expect(first).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(played.played).toBe(1)
    expect(await scene.differences({ unreadable: [vessel.id] })).toEqual([])
    expect(await scene.differences()).toHaveLength(1)
    const [queued] = await scene.rows`
      select resource_type, resource_id, attempts, error, not_before > now() as is_postponed
      from tracking_sync.refetch_queue`
    expect(queued).toEqual({
      resource_type: 'vessel',
      resource_id: vessel.id,
      attempts: 1,
      error: expect.stringContaining('404') as string,
      is_postponed: true,
    })
    await scene.sync({ command: 'sync' })
    expect(played.played).toBe(1)

    faults.clear()
    await scene.run`update tracking_sync.refetch_queue set not_before = now()`
    await expectRecovery(scene)
  })
})

describe('bad records', { tags: ['release'] }, () => {
  /** Each replaces one shipment of the first page; the pointer tells what is wrong with it. */
  const BAD: readonly (readonly [
    make: (record: Record<string, unknown>) => unknown,
    pointer: string,
  ])[] = [
    [() => null, ''],
    [() => 7, ''],
    [() => 'a text', ''],
    [() => ['a list'], ''],
    [(record) => ({ ...record, id: 7 }), '/id'],
    [(record) => ({ ...record, id: '' }), '/id'],
    [(record) => ({ ...record, id: undefined }), '/id'],
    [(record) => ({ ...record, id: {} }), '/id'],
    [(record) => ({ ...record, id: `a\u0000b` }), '/id'],
    [(record) => ({ ...record, id: 'x'.repeat(256) }), '/id'],
    [(record) => ({ ...record, type: undefined }), '/type'],
    [(record) => ({ ...record, attributes: undefined }), '/attributes'],
    [(record) => ({ ...record, attributes: null }), '/attributes'],
    [(record) => ({ ...record, attributes: [] }), '/attributes'],
    [(record) => ({ ...record, relationships: 'none' }), '/relationships'],
  ]

  const ALL = 2 * BAD.length + 2

  function spoil(count: number): Fault {
    return {
      kind: 'transform',
      apply: (document, { query }) => {
        const { data, ...rest } = document as { data?: Record<string, unknown>[] }
        if (data === undefined || query.get('page[number]') !== '1') return document
        const bad = BAD.slice(0, count).map(([make], index) => make(data[index]!))
        return { ...rest, data: [...bad, ...data.slice(count)] }
      },
    }
  }

  it('are set aside with reason, pointer and payload', { tags: ['I11', 'T7'] }, async () => {
    const scene = await openScene({ shipments: ALL })
    const { faults } = scene.simulator
    const records = scene.records('shipment')
    faults.add({ fault: spoil(BAD.length), match: SHIPMENTS, ...FOR_EVER })
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
        BAD.map(([make, pointer], index) => ({
          stream: 'shipments',
          pointer,
          payload: expect.any(String) as string,
          reason: expect.stringMatching(/\w/) as string,
          source: '/shipments',
          sightings: run,
          sync_run_id: report.syncRunId,
          ...(index < 4 ? { payload: JSON.stringify(make({})) } : {}),
        })),
      )
      for (const [index, row] of rows.entries()) {
        const bad = JSON.stringify(BAD[index]?.[0](records[index]!))
        expect(JSON.parse(row.payload as string)).toEqual(JSON.parse(bad))
      }
    }
    const missing = records.slice(0, BAD.length).map(({ id }) => `shipments ${id}: has no row`)
    expect((await scene.differences()).sort()).toEqual(missing.sort())
    await expectRecovery(scene)
    // Of the last four it is known which record they are, and that it came well.
    const left = await scene.rows`select 1 from tracking_sync.quarantine`
    expect(left).toHaveLength(BAD.length - 4)
  })

  it('make the run incomplete, exit 6, when they are more than 5 %', { tags: ['T7'] }, async () => {
    const scene = await openScene({ shipments: 24 })
    scene.simulator.faults.add({ fault: spoil(2), match: SHIPMENTS, ...FOR_EVER })
    for (let run = 0; run < 2; run += 1) {
      const report = await scene.sync()
      expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
      expect(outcomeOf(report, 'shipments')).toBe('incomplete')
      expect(await runRow(scene, report)).toMatchObject({
        error_code: 'incomplete_run',
        error_message: expect.stringContaining('tracking_sync.quarantine') as string,
      })
    }
    expect(rowCount(await scene.snapshot(), 'shipments')).toBe(22)
    await expectRecovery(scene)
  })

  it('cost only themselves if PostgreSQL refuses them', async () => {
    const scene = await openScene({ shipments: 24 })
    const refused = {
      shipments: 'bill_of_lading_number',
      containers: 'number',
      tracking_requests: 'request_number',
    }
    const bad = Object.entries(refused).map(([name, column]) => {
      const type = name.replace(/s$/, '') as 'shipment' | 'container' | 'tracking_request'
      const { id, attributes } = scene.records(type)[17]!
      return { name, column, type, id, value: String(attributes?.[column]) }
    })
    for (const { name, column, value } of bad) {
      await scene.query(
        `alter table tracking.${name} add constraint refuses_one check (${column} != '${value}')`,
      )
    }
    for (const run of [1, 2]) {
      const report = await scene.sync()
      expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
      for (const { name } of bad) {
        const counts = report.streams.find(({ stream }) => stream === name)!.counts
        expect(counts).toMatchObject({ quarantined: 1, duplicate: 0, stale: 0 })
        const { fetched, inserted, updated, unchanged, quarantined } = counts
        expect(inserted + updated + unchanged + quarantined).toBe(fetched)
      }
      expect(
        await scene.rows`select * from tracking_sync.quarantine order by stream`,
      ).toMatchObject(
        [...bad]
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .map(({ name, type, id, value }) => ({
            stream: name,
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
    for (const { name, id } of bad) expect(differences).toContain(`${name} ${id}: has no row`)
    for (const { name } of bad) {
      await scene.query(`alter table tracking.${name} drop constraint refuses_one`)
    }
    await expectRecovery(scene)
  })
})

describe('a run that is stopped', { tags: ['X1'] }, () => {
  it('by SIGTERM leaves whole pages, says so, and the next run completes', async () => {
    const scene = await openScene()
    const stop = new AbortController()
    const report = await scene.sync({
      ...PAGES_OF_2,
      signal: stop.signal,
      onProgress: ({ page }) => {
        if (page === 2) stop.abort('SIGTERM')
      },
    })
    expect(report).toMatchObject({ outcome: 'aborted', exitCode: 143 })
    expect(outcomeOf(report, 'shipments')).not.toBe('complete')
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
