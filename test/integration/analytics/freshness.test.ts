import { beforeEach, expect, it } from 'vitest'
import { resources } from '../../../src/source/records/index.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

beforeEach(() => scene.query('truncate tracking_sync.sync_runs cascade'))

/** A line a stream of a run; what is said of the run counts once. */
async function insertRuns(table: string): Promise<void> {
  for (const { sync_run_id, command, options, ...stream } of rowsOf(table)) {
    await scene.query(
      `insert into tracking_sync.sync_runs (sync_run_id, command, options)
      overriding system value values ($1, $2, $3) on conflict do nothing`,
      [sync_run_id, command, options ?? null],
    )
    await scene.insertInto('sync', 'sync_run_streams', [{ sync_run_id, ...stream }])
  }
}

it('tells of each stream its last sync and outcome', { tags: ['FA6'] }, async () => {
  await insertRuns(`
    sync_run_id | command          | options                                | stream     | outcome    | started_at        | finished_at       | pass_began_at     | pass_scope | detail
    1           | backfill         |                                        | shipments  | complete   | 2026-03-20T08:00Z | 2026-03-20T08:30Z |                   |            |
    1           | backfill         |                                        | ports      | complete   | 2026-03-20T08:00Z | 2026-03-20T08:10Z |                   |            |
    -- Its pass was begun by a run that was cut off, and read what can still change.
    2           | sync             | {"dryRun": false}                      | shipments  | complete   | 2026-03-20T09:00Z | 2026-03-20T09:02Z | 2026-03-20T08:45Z | changing   |
    3           | sync             |                                        | shipments  | incomplete | 2026-03-20T10:00Z | 2026-03-20T10:02Z |                   |            | page 3: 502
    3           | sync             |                                        | containers | running    | 2026-03-20T10:00Z |                   |                   |            |
    -- Neither a narrowed backfill nor another command says that all was read.
    4           | backfill         | {"narrowing": {"shipmentIds": ["s1"]}} | shipments  | complete   | 2026-03-20T11:00Z | 2026-03-20T11:02Z |                   |            |
    5           | quarantine retry |                                        | shipments  | complete   | 2026-03-20T11:30Z | 2026-03-20T11:31Z |                   |            |`)
  await scene.insert('shipments', [
    { shipment_id: 's1' },
    { shipment_id: 's2' },
    { shipment_id: 's3', _deleted_at: '2026-03-01T00:00Z' },
  ])
  const rest = 'order by stream'
  const now = { asOf: '2026-03-20T12:00Z', rest }
  const outcomes = `
    stream     | last_complete_run_id | last_outcome | last_detail | age_hours | rows | last_complete_started_at | last_whole_started_at  | last_complete_finished_at | last_started_at
    containers | -                    | running      | -           | -         | 0    | -                        | -                      | -                         | 2026-03-20 10:00:00+00
    ports      | 1                    | complete     | -           | 4.00      | 0    | 2026-03-20 08:00:00+00   | 2026-03-20 08:00:00+00 | 2026-03-20 08:10:00+00    | 2026-03-20 08:00:00+00
    shipments  | 2                    | incomplete   | page 3: 502 | 3.25      | 2    | 2026-03-20 08:45:00+00   | 2026-03-20 08:00:00+00 | 2026-03-20 09:02:00+00    | 2026-03-20 10:00:00+00`
  await scene.expectRows('freshness', now, outcomes)
  // While run 2 was under way the first one was the last complete one.
  const table = `
    stream    | last_complete_run_id | age_hours
    ports     | 1                    | 1.02
    shipments | 1                    | 1.02`
  await scene.expectRows('freshness', { asOf: '2026-03-20T09:01Z', rest }, table)
})

it('counts the rows of every stream', { tags: ['JC1', 'JC2'] }, async () => {
  const streams = resources.map(({ stream }) => stream)
  const header = 'sync_run_id | command | stream | outcome | started_at'
  const lines = streams.map((stream) => `1 | backfill | ${stream} | complete | 2026-03-20T08:00Z`)
  await insertRuns([header, ...lines].join('\n'))
  for (const { stream, keyColumns } of resources) {
    await scene.insert(stream, [Object.fromEntries(keyColumns.map((name) => [name, 'one']))])
  }
  const counted = await scene.read('freshness', { asOf: '2026-03-20T12:00Z', rest: 'order by 1' })
  expect(counted.map(({ stream, rows }) => [stream, rows])).toEqual(
    streams.sort().map((stream) => [stream, 1]),
  )
})
