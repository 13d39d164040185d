import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { loadConfirmedPasses } from '../../../src/warehouse/bookkeeping/checkpoints.js'
import { rowCount, snapshotRows, type RowSnapshot } from '../../support/snapshot-tables.js'
import { expectNothingToWrite, syncToEquality } from '../sync/expect-sync.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'
import { CHANGES, LIST_PHASES, type ListPhase } from './fault-table.js'
import { HTTP_FAULTS, pageOf, type HttpFault } from './http-faults.js'

/** A run of one cell, in the words of the table. */
async function runRow({ query }: Scene, { syncRunId }: RunReport): Promise<unknown> {
  const [row] = await query(
    `select exit_code, error_code, finished_at is not null as is_finished
    from tracking_sync.sync_runs where sync_run_id = $1`,
    syncRunId,
  )
  return row
}

/**
 * Without what a run learns beside the records: which includes the service takes, records of a type
 * that nobody knows, and the zones of PostgreSQL.
 */
async function dataRows({ warehouse }: Scene): Promise<RowSnapshot> {
  const rows = await snapshotRows(warehouse, { mayBeEmpty: true })
  return { ...rows, source_capabilities: '', other_resources: '', derivations: '' }
}

/** The latest pass over the list that is believed to have seen all of it. */
async function confirmedPass({ warehouse }: Scene, { stream }: ListPhase): Promise<unknown> {
  return (await loadConfirmedPasses(warehouse)).get(stream)
}

async function resumePage({ query }: Scene, { stream }: ListPhase): Promise<number | undefined> {
  const [row] = await query<{ page: number }>(
    `select max((position ->> 'page')::int) as page from (
      select stream, position from tracking_sync.checkpoints
      union all select stream, position from tracking_sync.pass_positions
    ) as noted where stream = $1`,
    stream,
  )
  return row?.page
}

/**
 * The fault × the phase: a cell leaves every row as it was, and the next is played over it. A phase
 * is one world: when its last fault has gone, one run makes everything equal and the next finds
 * nothing to do.
 */
describe.each(LIST_PHASES)(
  'a fault at $name',
  { tags: ['FA1', 'FF10', 'H2', 'H3', 'H4', 'H6', 'H10', 'H11', 'H13', 'I11'] },
  (phase) => {
    let scene: Scene
    let before: RowSnapshot
    let confirmed: unknown

    beforeAll(async () => {
      scene = await openScene()
      await prepare(scene, phase)
      before = await dataRows(scene)
      confirmed = await confirmedPass(scene, phase)
    })

    afterAll(closeScenes)

    it.each(Object.entries(phase.cells))(
      '%s',
      { tags: ['I14', 'I17', 'JC10', 'K6', 'P4', 'P8', 'P9', 'R4', 'R5'] },
      async (fault, cell) => {
        const { faults, requests } = scene.simulator
        expect(rowCount(before, 'shipments')).toBe(phase.shipments)
        for (let run = 1; run <= (phase.runs ?? 1); run += 1) {
          requests.reset()
          const played = play(scene, phase, fault as HttpFault)
          const report = await scene.sync(optionsOf(phase))
          faults.clear()
          const state = report.streams.find(({ stream }) => stream === phase.stream)
          expect({
            run,
            exitCode: report.exitCode,
            ends: state?.outcome,
            row: await runRow(scene, report),
            problems: report.problems.join(),
          }).toEqual({
            run,
            exitCode: cell.exitCode,
            ends: cell.ends,
            row: { exit_code: cell.exitCode, error_code: cell.error, is_finished: true },
            problems: expect.stringMatching(cell.says) as string,
          })
          const [least, most] = cell.requests
          expect(played()).toBeGreaterThanOrEqual(least)
          expect(played()).toBeLessThanOrEqual(most)
          if (cell.resumesAt !== undefined) {
            expect(await resumePage(scene, phase)).toBe(cell.resumesAt)
          }
          for (const problem of report.problems) {
            expect(problem).not.toMatch(/\p{Cc}|simulator-key/u)
            expect(problem.length).toBeLessThan(1_000)
          }
          if (cell.error === null) expect(await scene.differences()).toEqual([])
          else {
            expect(await dataRows(scene)).toEqual(before)
            expect(await confirmedPass(scene, phase)).toEqual(confirmed)
          }
        }
      },
    )

    it('which has gone', async () => {
      await syncToEquality(scene)
      await expectNothingToWrite(scene)
    })
  },
)

function isMet(
  { path, page }: ListPhase,
  request: { readonly path: string; readonly query: URLSearchParams },
): boolean {
  return request.path === path && (page === undefined || pageOf(request) === page)
}

/** Tells how many requests met it. */
function play({ simulator }: Scene, phase: ListPhase, name: HttpFault): () => number {
  const played = [HTTP_FAULTS[name]].flat().map((fault) =>
    simulator.faults.add({
      fault,
      match: (request) => isMet(phase, request),
      times: Infinity,
    }),
  )
  return () => played[0]?.played ?? 0
}

function optionsOf({ pageSize }: ListPhase) {
  const settings = { fullSyncHours: 0, ...(pageSize === undefined ? {} : { pageSize }) }
  return { command: 'sync', settings } as const
}

async function prepare(scene: Scene, phase: ListPhase): Promise<void> {
  const { faults, world, clock, edits } = scene.simulator
  if (phase.warehouse === 'half-filled') {
    play(scene, phase, '500 for good')
    expect(await scene.sync(optionsOf(phase))).toMatchObject({ exitCode: 4 })
    faults.clear()
    return
  }
  await scene.sync()
  expect(await scene.sync(optionsOf(phase))).toMatchObject({ exitCode: 0 })
  const { changed } = phase.warehouse
  if (changed === undefined) return
  const [record] = world.records(changed, clock.now())
  edits.change(changed, record!.id, CHANGES[changed])
}
