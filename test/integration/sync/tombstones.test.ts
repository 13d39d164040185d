import { describe, expect, it } from 'vitest'
import { forgetAbsences } from '../../../src/warehouse/bookkeeping/absences.js'
import { trackingRequests } from '../../../src/source/records/shipment.js'
import { tombstoneRows } from '../../../src/warehouse/rows/tombstones.js'
import { HOUR, openLoadedScene, requestCounts, type Scene } from './sync-scene.js'
import type { Shown } from '../../support/scenes/answers.js'
import { isOnCitus } from '../../support/distributed-database.js'

const settings = { pageSize: 12 }

async function sync(scene: Scene, acceptShrink = false) {
  scene.simulator.clock.advance(HOUR)
  return scene.sync({ command: 'sync', settings: { ...settings, acceptShrink } })
}

const tombstoned = (scene: Scene, table: string): Promise<number> =>
  scene.count(`tracking.${table}`, '_deleted_at is not null')

describe('rows that the source no longer shows', () => {
  it('stay when the service shows the one that is asked for', { tags: ['I8'] }, async () => {
    const scene = await openLoadedScene()
    const [hidden] = scene.ids('shipment')
    const others = (records: readonly Shown[]) => records.filter(({ id }) => id !== hidden)
    scene.answers.show('/shipments', others, 7)
    scene.simulator.requests.reset()
    for (let pass = 1; pass <= 3; pass += 1) {
      expect(await sync(scene)).toMatchObject({ exitCode: 0, problems: [] })
    }
    expect(requestCounts(scene.simulator)['/shipments/*']).toBe(1)
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    expect(await scene.differences()).toEqual([])
  })

  it('are not replaced by another record that came', { tags: ['JD2', 'release'] }, async () => {
    const scene = await openLoadedScene()
    const [row] = await scene.rows<{ id: string; rows: number }>`
      select min(tracking_request_id) as id, count(*)::int as rows from tracking.tracking_requests`
    const { id, rows } = row!
    scene.simulator.edits.delete('tracking_request', id)
    const other = { type: 'tracking_request', id: 'another', attributes: { status: 'pending' } }
    const played = scene.answers.fail(`/tracking_requests/${id}`, 200, { data: other })
    await sync(scene)
    expect(await sync(scene)).toMatchObject({ exitCode: 6 })
    expect(played.played).toBe(1)
    const found = await scene.rows<{ id: string }>`
      select tracking_request_id as id from tracking.tracking_requests where _deleted_at is null`
    expect(found).toHaveLength(rows)
    expect(found).toContainEqual({ id })
  })

  it('none, or eleven less than thirty, is too few unless told so', { tags: ['P6'] }, async () => {
    const scene = await openLoadedScene({ shipments: 30 })
    for (const [missing, exitCode] of [
      [30, 6],
      [30, 6],
      [30, 6],
      [11, 6],
      [10, 0],
    ] as const) {
      const gone = scene.ids('shipment').slice(0, missing)
      // Only from the list: what is asked for by its id is there.
      const shown = (records: readonly Shown[]) => records.filter(({ id }) => !gone.includes(id))
      const fault = scene.answers.show('/shipments', shown, 30 - missing)
      const report = await sync(scene)
      expect([missing, report.exitCode]).toEqual([missing, exitCode])
      expect(report.problems.join()).toMatch(exitCode === 0 ? /^$/ : /the source shrank/)
      for (const table of ['shipments', 'containers']) {
        expect(await tombstoned(scene, table)).toBe(0)
      }
      fault.remove()
    }
    for (const id of scene.ids('shipment').slice(0, 12))
      scene.simulator.edits.delete('shipment', id)
    expect((await sync(scene)).exitCode).toBe(6)
    expect((await sync(scene, true)).exitCode).toBe(0)
    expect((await sync(scene, true)).exitCode).toBe(0)
    expect(await tombstoned(scene, 'shipments')).toBe(12)
    expect(await scene.differences()).toEqual([])
  })
})

describe('rows of a large account', { tags: ['FB2'] }, () => {
  it('are missed, marked and forgotten 70,000 at once', async () => {
    const scene = await openLoadedScene({ shipments: 4 })
    await scene.run`
      insert into tracking.tracking_requests (
          tracking_request_id, _fingerprint, _observed_at, _first_seen_at, _changed_at
      )
      select 'missing-' || number, 'none', instant, instant, instant
      from generate_series(1, 70000) as number
      cross join (values (timestamptz '2026-03-01 00:00Z')) as made (instant)`
    const missed = `select missed_passes, count(*)::int as count
      from tracking_sync.absences where stream = 'tracking_requests' group by missed_passes`
    expect(await sync(scene, true)).toMatchObject({ exitCode: 0, problems: [] })
    expect(await scene.query(missed)).toEqual([{ missed_passes: 1, count: 70_000 }])

    const keys = Array.from({ length: 70_000 }, (_, at) => `missing-${at + 1}`)
    const { warehouse } = scene
    const gone = keys.map((key) => ({ key, observedAt: scene.simulator.clock.now() }))
    const options = { names: warehouse.names, syncRunId: null, mode: 'sync' as const }
    await warehouse.transaction('mark', async (session) => {
      await tombstoneRows(session, trackingRequests, gone, options)
      await forgetAbsences(session, 'tracking_requests', keys)
    })
    expect(await tombstoned(scene, 'tracking_requests')).toBe(70_000)
    expect(await scene.query(missed)).toEqual([])
    expect(await sync(scene)).toMatchObject({ exitCode: 0, problems: [] })
  })
})

describe('transport events that point to a container without a row', () => {
  // Nodes do not take the statement that makes its events.
  it.skipIf(isOnCitus)('are asked for by containers, in parts', { tags: ['P7'] }, async () => {
    const scene = await openLoadedScene({ shipments: 6 })
    await scene.run`
      insert into tracking.transport_events
      select (jsonb_populate_record(
        null::tracking.transport_events,
        to_jsonb(stored)
          || jsonb_build_object('container_id', 'gone-' || number, 'transport_event_id',
          'event-' || number)
      )).*
      from (select *
      from tracking.transport_events limit 1) as stored, generate_series(1, 150) as number`
    // As who writes an event without the list of its container does.
    await scene.run`
      insert into tracking_sync.event_lists_in_doubt (container_id)
      select 'gone-' || number from generate_series(1, 150) as number`
    for (const asked of [0, 100, 50, 0]) {
      scene.simulator.requests.reset()
      expect((await sync(scene)).exitCode).toBe(0)
      const paths = scene.simulator.requests.recent.map(({ path }) => path)
      expect(paths.filter((path) => path.startsWith('/v2/containers/gone-'))).toHaveLength(asked)
    }
    expect(await tombstoned(scene, 'transport_events')).toBe(150)
    expect(await scene.rows`select from tracking_sync.absences`).toEqual([])
    expect(await scene.rows`select from tracking_sync.event_lists_in_doubt`).toEqual([])
  })
})
