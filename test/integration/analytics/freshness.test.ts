import { beforeEach, expect, it } from 'vitest'
import { resources } from '../../../src/source/records/index.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

beforeEach(() => scene.query('truncate tracking_sync.sync_runs cascade'))

async function insertRun(
  id: number,
  run: Record<string, unknown>,
  streams: readonly Record<string, unknown>[],
): Promise<void> {
  await scene.query(
    'insert into tracking_sync.sync_runs (sync_run_id, command, options) overriding system value values ($1, $2, $3)',
    [id, run.command, run.options ?? null],
  )
  await scene.insertInto(
    'sync',
    'sync_run_streams',
    streams.map((stream) => ({ sync_run_id: id, ...stream })),
  )
}

it('tells of each stream its last sync and outcome', { tags: ['FA6'] }, async () => {
  const complete = { stream: 'shipments', outcome: 'complete' }
  await insertRun(1, { command: 'backfill' }, [
    { ...complete, started_at: '2026-03-20T08:00Z', finished_at: '2026-03-20T08:30Z' },
    {
      ...complete,
      stream: 'ports',
      started_at: '2026-03-20T08:00Z',
      finished_at: '2026-03-20T08:10Z',
    },
  ])
  // Its pass was begun by a run that was cut off, and read what can still change.
  await insertRun(2, { command: 'sync', options: '{"dryRun": false}' }, [
    {
      ...complete,
      started_at: '2026-03-20T09:00Z',
      finished_at: '2026-03-20T09:02Z',
      pass_began_at: '2026-03-20T08:45Z',
      pass_scope: 'changing',
    },
  ])
  await insertRun(3, { command: 'sync' }, [
    {
      ...complete,
      outcome: 'incomplete',
      detail: 'page 3: 502',
      started_at: '2026-03-20T10:00Z',
      finished_at: '2026-03-20T10:02Z',
    },
    { stream: 'containers', outcome: 'running', started_at: '2026-03-20T10:00Z' },
  ])
  // Neither a narrowed backfill nor another command says that all was read.
  await insertRun(4, { command: 'backfill', options: '{"narrowing": {"shipmentIds": ["s1"]}}' }, [
    { ...complete, started_at: '2026-03-20T11:00Z', finished_at: '2026-03-20T11:02Z' },
  ])
  await insertRun(5, { command: 'quarantine retry' }, [
    { ...complete, started_at: '2026-03-20T11:30Z', finished_at: '2026-03-20T11:31Z' },
  ])
  await scene.insert('shipments', [
    { shipment_id: 's1' },
    { shipment_id: 's2' },
    { shipment_id: 's3', _deleted_at: '2026-03-01T00:00Z' },
  ])
  const containers = {
    stream: 'containers',
    last_complete_run_id: null,
    last_outcome: 'running',
    last_detail: null,
    age_hours: null,
    rows: 0,
    last_complete_started_at: null,
    last_whole_started_at: null,
    last_complete_finished_at: null,
    last_started_at: '2026-03-20 10:00:00+00',
  }
  const ports = {
    stream: 'ports',
    last_complete_run_id: 1,
    last_outcome: 'complete',
    last_detail: null,
    age_hours: '4.00',
    rows: 0,
    last_complete_started_at: '2026-03-20 08:00:00+00',
    last_whole_started_at: '2026-03-20 08:00:00+00',
    last_complete_finished_at: '2026-03-20 08:10:00+00',
    last_started_at: '2026-03-20 08:00:00+00',
  }
  const rest = 'order by stream'
  expect(await scene.read('freshness', { asOf: '2026-03-20T12:00Z', rest })).toEqual([
    containers,
    ports,
    {
      stream: 'shipments',
      last_complete_run_id: 2,
      last_outcome: 'incomplete',
      last_detail: 'page 3: 502',
      age_hours: '3.25',
      rows: 2,
      last_complete_started_at: '2026-03-20 08:45:00+00',
      last_whole_started_at: '2026-03-20 08:00:00+00',
      last_complete_finished_at: '2026-03-20 09:02:00+00',
      last_started_at: '2026-03-20 10:00:00+00',
    },
  ])
  // While run 2 was under way the first one was the last complete one.
  const table = `
    stream    | last_complete_run_id | age_hours
    ports     | 1                    | 1.02
    shipments | 1                    | 1.02`
  await expectRows(scene, 'freshness', { asOf: '2026-03-20T09:01Z', rest }, table)
})

it('counts the rows of every stream', { tags: ['JC1', 'JC2'] }, async () => {
  const streams = resources.map(({ stream }) => stream)
  await insertRun(
    1,
    { command: 'backfill' },
    streams.map((stream) => ({ stream, outcome: 'complete', started_at: '2026-03-20T08:00Z' })),
  )
  for (const { stream, keyColumns } of resources) {
    await scene.insert(stream, [Object.fromEntries(keyColumns.map((name) => [name, 'one']))])
  }
  const counted = await scene.read('freshness', { asOf: '2026-03-20T12:00Z', rest: 'order by 1' })
  expect(counted.map(({ stream, rows }) => [stream, rows])).toEqual(
    streams.sort().map((stream) => [stream, 1]),
  )
})

it('has no row before the first sync', async () => {
  expect(await scene.read('freshness')).toEqual([])
})
