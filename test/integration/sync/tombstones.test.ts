import { afterEach, describe, expect, it } from 'vitest'
import { forgetAbsences } from '../../../src/warehouse/bookkeeping/absences.js'
import { trackingRequests } from '../../../src/source/records/shipment.js'
import { tombstoneRows } from '../../../src/warehouse/rows/tombstones.js'
import {
  closeScenes,
  HOUR,
  openLoadedScene,
  openScene,
  requestCounts,
  type Scene,
} from './sync-scene.js'
import type { Shown } from '../../support/scenes/answers.js'
import { isOnCitus } from '../../support/distributed-database.js'

afterEach(closeScenes)

const settings = { pageSize: 12 }
const PAGES_OF_4 = { pageSize: 4 }

async function sync(scene: Scene, acceptShrink = false) {
  scene.simulator.clock.advance(HOUR)
  return scene.sync({ command: 'sync', settings: { ...settings, acceptShrink } })
}

const tombstoned = (scene: Scene, table: string): Promise<number> =>
  scene.count(`tracking.${table}`, '_deleted_at is not null')

/** Shipments that the last pass did not show. */
async function unseenShipments(scene: Scene): Promise<string[]> {
  return scene.column`
    select row_key as key from tracking_sync.absences where stream = 'shipments' order by row_key`
}

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

  it('with ids "." and ".." are set aside when they come', { tags: ['FG2'] }, async () => {
    const scene = await openScene({ shipments: 8 })
    const ids = ['.', '..']
    const renamed = scene.answers.show('/shipments', (records) =>
      records.map((one, at) => ({ ...one, id: ids[at] ?? one.id })),
    )
    const limit = { quarantineLimitPercent: 50 }
    await scene.sync({ command: 'sync', settings: { ...settings, ...limit } })
    renamed.remove()
    expect(
      await scene.rows`
        select distinct record_id, reason, pointer from tracking_sync.quarantine order by 1`,
    ).toEqual(
      ids.map((record_id) => ({
        record_id,
        reason: 'id cannot stand in an address',
        pointer: '/id',
      })),
    )
    for (let pass = 0; pass < 3; pass += 1) expect((await sync(scene)).problems).toEqual([])
    expect(await scene.differences()).toEqual([])
  })

  it('are marked with what belongs to them, or not', { tags: ['C8', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 8 })
    const [gone = ''] = scene.ids('shipment').slice(5, 6)
    const containers = scene.simulator.world.containersOf(gone, scene.simulator.clock.now())
    scene.simulator.edits.delete('shipment', gone)
    await sync(scene)
    await scene.run`
      alter table tracking.transport_events
      add constraint poison check (_deleted_at is null) not valid`
    expect((await sync(scene)).exitCode).toBe(5)
    expect(await tombstoned(scene, 'containers')).toBe(0)
    await scene.run`alter table tracking.transport_events drop constraint poison`
    expect((await sync(scene)).exitCode).toBe(0)
    expect(await tombstoned(scene, 'containers')).toBe(containers.length)
    expect(await tombstoned(scene, 'transport_events')).toBeGreaterThan(0)
    expect(await scene.differences()).toEqual([])
  })

  it('an empty list marks nothing, three times; exit code 6', { tags: ['P6'] }, async () => {
    const scene = await openLoadedScene({ shipments: 12 })
    const before = await scene.snapshot()
    const fault = scene.answers.show(/^\/(?:shipments|containers)$/, () => [], 0)
    for (let pass = 1; pass <= 3; pass += 1) {
      const report = await scene.sync({ command: 'sync', settings })
      expect(report.exitCode).toBe(6)
      expect(report.problems.join('\n')).toContain('the source shrank')
      expect(report.problems.join('\n')).toContain('100 %')
    }
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    const after = await scene.snapshot()
    expect(after.shipments).toEqual(before.shipments)
    expect(after.containers).toEqual(before.containers)
    fault.remove()
    expect((await sync(scene)).exitCode).toBe(0)
    expect(await scene.differences()).toEqual([])
  })

  it('rows deleted from pages already read hide no others', { tags: ['P5', 'JC7'] }, async () => {
    const scene = await openLoadedScene({ shipments: 20 })
    const ids = scene.ids('shipment')
    let pagesSeen = 0
    scene.simulator.clock.advance(HOUR)
    scene.simulator.requests.reset()
    const report = await scene.sync({
      command: 'sync',
      settings: PAGES_OF_4,
      onProgress: ({ stream }) => {
        if (stream !== 'shipments') return
        pagesSeen += 1
        // One row off the front of the list after each of three pages: a live row slips over each
        // of three page boundaries.
        const victim = pagesSeen <= 3 ? ids[pagesSeen - 1] : undefined
        if (victim !== undefined) scene.simulator.edits.delete('shipment', victim)
      },
    })
    expect(report.problems).toEqual([])
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    expect(requestCounts(scene.simulator)['/shipments']).toBe(5 + 5)
    // The deleted ones were on pages of the first walk.
    expect(await unseenShipments(scene)).toEqual([])
    await sync(scene)
    expect(await unseenShipments(scene)).toEqual(ids.slice(0, 3).sort())
    await sync(scene)
    expect(await tombstoned(scene, 'shipments')).toBe(3)
    expect(await scene.differences()).toEqual([])
  })

  it('eleven of thirty are too many, ten are not', { tags: ['P6', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 30 })
    for (const [missing, exitCode] of [
      [11, 6],
      [10, 0],
    ] as const) {
      const gone = scene.ids('shipment').slice(0, missing)
      // Only from the list: what is asked for by its id is there.
      const shown = (records: readonly Shown[]) => records.filter(({ id }) => !gone.includes(id))
      const fault = scene.answers.show('/shipments', shown, 30 - missing)
      expect([missing, (await sync(scene)).exitCode]).toEqual([missing, exitCode])
      expect(await tombstoned(scene, 'shipments')).toBe(0)
      fault.remove()
    }
  })

  it('marks many only when told to, each after a 404', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 24 })
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
