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
import { isOnCitus } from '../../support/distributed-database.js'

afterEach(closeScenes)

/** A page of a list, as the service answers. */
interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly meta: { readonly total: number }
}

const settings = { pageSize: 12 }
const PAGES_OF_4 = { pageSize: 4 }

async function sync(scene: Scene, acceptShrink = false) {
  scene.simulator.clock.advance(HOUR)
  return scene.sync({ command: 'sync', settings: { ...settings, acceptShrink } })
}

function shipmentIds(scene: Scene): string[] {
  const { world, clock } = scene.simulator
  return [...world.records('shipment', clock.now())].map(({ id }) => id)
}

async function tombstoned(scene: Scene, table: string): Promise<number> {
  const [row] = await scene.query<{ count: number }>(
    `select count(*) from tracking.${table} where _deleted_at is not null`,
  )
  return row?.count ?? 0
}

async function letADayPass(scene: Scene): Promise<void> {
  await scene.query('update tracking_sync.absences set not_before = now()')
}

/** Shipments that the last pass did not show. */
async function unseenShipments(scene: Scene): Promise<string[]> {
  const rows = await scene.query<{ key: string }>(
    `select row_key as key from tracking_sync.absences where stream = 'shipments' order by row_key`,
  )
  return rows.map(({ key }) => key)
}

describe('rows that the source no longer shows', () => {
  it('stay when the service shows the one that is asked for', { tags: ['I8'] }, async () => {
    const scene = await openLoadedScene()
    const [hidden] = shipmentIds(scene)
    scene.simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
          const { data, meta, ...rest } = document as Page
          const shown = data.filter(({ id }) => id !== hidden)
          const total = meta.total - 1
          return { ...rest, data: shown, meta: { ...meta, size: shown.length, total } }
        },
      },
      match: ({ path }) => path === '/shipments',
      times: Infinity,
    })
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
    const [row] = await scene.query<{ id: string; rows: number }>(
      `select min(tracking_request_id) as id, count(*)::int as rows from tracking.tracking_requests`,
    )
    const { id, rows } = row!
    scene.simulator.edits.delete('tracking_request', id)
    const other = { type: 'tracking_request', id: 'another', attributes: { status: 'pending' } }
    const played = scene.simulator.faults.add({
      fault: { kind: 'status', status: 200, body: JSON.stringify({ data: other }) },
      match: { path: `/tracking_requests/${id}` },
      times: Infinity,
    })
    await sync(scene)
    expect(await sync(scene)).toMatchObject({ exitCode: 6 })
    expect(played.played).toBe(1)
    const found = await scene.query<{ id: string }>(
      `select tracking_request_id as id from tracking.tracking_requests where _deleted_at is null`,
    )
    expect(found).toHaveLength(rows)
    expect(found).toContainEqual({ id })
  })

  it('are marked after two passes and a 404; revived', { tags: ['P7', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 8 })
    const [gone = ''] = shipmentIds(scene).slice(5, 6)
    const containers = scene.simulator.world.containersOf(gone, scene.simulator.clock.now())
    scene.simulator.edits.delete('shipment', gone)

    await sync(scene)
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    scene.simulator.requests.reset()
    const second = await sync(scene)
    expect(second.exitCode).toBe(0)
    expect(await tombstoned(scene, 'shipments')).toBe(1)
    expect(await tombstoned(scene, 'containers')).toBe(containers.length)
    const asked = scene.simulator.requests.recent.filter(
      ({ status, path }) => status === 404 && /^\/v2\/(?:shipments|containers)\/[^/]+$/.test(path),
    )
    expect(asked).toHaveLength(1 + containers.length)
    expect(await scene.differences()).toEqual([])

    const third = await sync(scene)
    expect(third.streams.map(({ counts }) => counts.tombstoned).filter((n) => n > 0)).toEqual([])
    expect(await scene.differences()).toEqual([])

    scene.simulator.edits.revive('shipment', gone)
    await sync(scene)
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    expect(await scene.differences({ hasRevivedRows: true })).toEqual([])
  })

  it('are not marked where the key is refused', { tags: ['H3', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 8 })
    const [gone = ''] = shipmentIds(scene).slice(5, 6)
    scene.simulator.edits.delete('shipment', gone)
    await sync(scene)
    const fault = { kind: 'status', status: 401 } as const
    const match = { path: `/shipments/${gone}` }
    const played = scene.simulator.faults.add({ fault, match, times: Infinity })
    expect(await sync(scene)).toMatchObject({ exitCode: 3 })
    expect(played.played).toBe(1)
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    scene.simulator.faults.clear()
    await letADayPass(scene)
    expect(await sync(scene)).toMatchObject({ exitCode: 0 })
    expect(await tombstoned(scene, 'shipments')).toBe(1)
    expect(await scene.differences()).toEqual([])
  })

  it('answered otherwise cost no other its mark', { tags: ['FG2', 'release'] }, async () => {
    // Never three in a row that look like an outage.
    const answers = [
      { status: 403 },
      { status: 500 },
      { status: 422 },
      { status: 200, body: '{"data":[]}' },
      { status: 451 },
      { status: 200, body: '{"data":null}' },
    ]
    const scene = await openLoadedScene({ shipments: 28 })
    const { world, clock, edits, faults } = scene.simulator
    // More containers missing at once would count as a fault of the source.
    const gone = shipmentIds(scene)
      .filter((id) => world.containersOf(id, clock.now()).length === 1)
      .slice(0, answers.length + 2)
      .sort()
    expect(gone).toHaveLength(answers.length + 2)
    for (const id of gone) edits.delete('shipment', id)
    await sync(scene)
    const answered = gone.slice(0, answers.length)
    const played = answers.map((answer, at) =>
      faults.add({
        fault: { kind: 'status', ...answer },
        match: { path: `/shipments/${answered[at]}` },
        times: Infinity,
      }),
    )
    const tries = () => played.map((one) => one.played)
    const report = await sync(scene)
    expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
    expect(report.problems.join()).toContain(`The first is ${answered[0]}: `)
    expect(await tombstoned(scene, 'shipments')).toBe(2)
    const known = () =>
      scene.query(
        `select row_key, error is not null as has_error, not_before > now() as waits
          from tracking_sync.absences where stream = 'shipments' order by row_key collate "C"`,
      )
    expect(await known()).toEqual(
      answered.map((row_key) => ({ row_key, has_error: true, waits: true })),
    )
    const before = tries()
    expect(Math.min(...before)).toBeGreaterThan(0)
    expect(await sync(scene)).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(tries()).toEqual(before)
    faults.clear()
    await letADayPass(scene)
    expect(await sync(scene)).toMatchObject({ exitCode: 0 })
    expect(await known()).toEqual([])
    expect(await tombstoned(scene, 'shipments')).toBe(gone.length)
    expect(await scene.differences()).toEqual([])
  })

  it('with ids "." and ".." are set aside when they come', { tags: ['FG2'] }, async () => {
    const scene = await openScene({ shipments: 8 })
    const ids = ['.', '..']
    const renamed = scene.simulator.faults.add({
      times: Infinity,
      match: { path: '/shipments' },
      fault: {
        kind: 'transform',
        apply: (document) => {
          const { data, ...rest } = document as { data?: object[] }
          if (data === undefined) return document
          return {
            ...rest,
            data: data.map((one, at) => ({ ...one, ...(ids[at] && { id: ids[at] }) })),
          }
        },
      },
    })
    const limit = { quarantineLimitPercent: 50 }
    await scene.sync({ command: 'sync', settings: { ...settings, ...limit } })
    renamed.remove()
    expect(
      await scene.query(
        'select distinct record_id, reason, pointer from tracking_sync.quarantine order by 1',
      ),
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
    const [gone = ''] = shipmentIds(scene).slice(5, 6)
    const containers = scene.simulator.world.containersOf(gone, scene.simulator.clock.now())
    scene.simulator.edits.delete('shipment', gone)
    await sync(scene)
    await scene.query(
      `alter table tracking.transport_events
      add constraint poison check (_deleted_at is null) not valid`,
    )
    expect((await sync(scene)).exitCode).toBe(5)
    expect(await tombstoned(scene, 'containers')).toBe(0)
    await scene.query('alter table tracking.transport_events drop constraint poison')
    expect((await sync(scene)).exitCode).toBe(0)
    expect(await tombstoned(scene, 'containers')).toBe(containers.length)
    expect(await tombstoned(scene, 'transport_events')).toBeGreaterThan(0)
    expect(await scene.differences()).toEqual([])
  })

  it('an empty list marks nothing, three times; exit code 6', { tags: ['P6'] }, async () => {
    const scene = await openLoadedScene({ shipments: 12 })
    const before = await scene.snapshot()
    const fault = scene.simulator.faults.add({
      times: Infinity,
      match: { path: /\/(?:shipments|containers)(?:\?|$)/ },
      fault: {
        kind: 'transform',
        apply: () => ({ data: [], meta: { size: 0, total: 0 }, links: {} }),
      },
    })
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
    const ids = shipmentIds(scene)
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

  it('shuffled ties hide nothing for good', { tags: ['P11', 'JC7', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 24 })
    scene.simulator.faults.add({
      times: Infinity,
      match: { path: '/shipments' },
      fault: { kind: 'shuffle', groupSize: 7 },
    })
    let requests = 0
    for (let pass = 0; pass < 3; pass += 1) {
      scene.simulator.requests.reset()
      const { exitCode } = await sync(scene)
      requests += requestCounts(scene.simulator)['/shipments'] ?? 0
      expect([0, 6]).toContain(exitCode)
      expect(await unseenShipments(scene)).toEqual([])
    }
    // Once is not enough.
    expect(requests).toBeGreaterThan(3 * 2)
    expect(await tombstoned(scene, 'shipments')).toBe(0)
    scene.simulator.faults.clear()
    await sync(scene)
    expect(await scene.differences()).toEqual([])
  })

  it('eleven of thirty are too many, ten are not', { tags: ['P6', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 30 })
    for (const [missing, exitCode] of [
      [11, 6],
      [10, 0],
    ] as const) {
      const gone = shipmentIds(scene).slice(0, missing)
      // Only from the list: what is asked for by its id is there.
      const fault = scene.simulator.faults.add({
        times: Infinity,
        match: { path: /^\/shipments$/ },
        fault: {
          kind: 'transform',
          apply: (document) => {
            const { data, meta, ...rest } = document as { data: { id: string }[]; meta: object }
            return {
              ...rest,
              meta: { ...meta, total: 30 - missing },
              data: data.filter(({ id }) => !gone.includes(id)),
            }
          },
        },
      })
      expect([missing, (await sync(scene)).exitCode]).toEqual([missing, exitCode])
      expect(await tombstoned(scene, 'shipments')).toBe(0)
      fault.remove()
    }
  })

  it('marks many only when told to, each after a 404', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 24 })
    for (const id of shipmentIds(scene).slice(0, 12)) scene.simulator.edits.delete('shipment', id)
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
    await scene.query(
      `insert into tracking.tracking_requests (
          tracking_request_id, _fingerprint, _observed_at, _first_seen_at, _changed_at
      )
      select 'missing-' || number, 'none', instant, instant, instant
      from generate_series(1, 70000) as number
      cross join (values (timestamptz '2026-03-01 00:00Z')) as made (instant)`,
    )
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
  it('remain while a live container names them, and then go', { tags: ['release'] }, async () => {
    const scene = await openScene({
      shipments: 6,
      acceptedIncludes: { shipment: ['containers'] },
    })
    const { world, clock, edits, faults } = scene.simulator
    const [container] = world
      .page('container', 0, 10, clock.now())
      .filter(({ id }) => world.transportEventsOf(id, clock.now()).length > 0)
    faults.add({
      times: Infinity,
      match: { path: `/containers/${container!.id}/transport_events` },
      fault: { kind: 'transform', apply: pointElsewhere },
    })
    const readStanding = async () => {
      const rows = await scene.query<{ id: string }>(
        `select transport_event_id as id from tracking.transport_events
        where container_id = 'elsewhere' and _deleted_at is null order by transport_event_id`,
      )
      return rows.map(({ id }) => id)
    }
    await sync(scene)
    const before = await readStanding()
    expect(before.length).toBeGreaterThan(0)
    for (let pass = 0; pass < 3; pass += 1) await sync(scene)
    expect(await readStanding()).toEqual(before)

    edits.delete('container', container!.id)
    // Two passes for the container, then two for what it alone named.
    for (let pass = 0; pass < 3; pass += 1) await sync(scene)
    expect(await readStanding()).toEqual(before)
    await sync(scene)
    expect(await readStanding()).toEqual([])
  })

  // Nodes do not take the statement that makes its events.
  it.skipIf(isOnCitus)('are asked for by containers, in parts', { tags: ['P7'] }, async () => {
    const scene = await openLoadedScene({ shipments: 6 })
    await scene.query(
      `insert into tracking.transport_events
      select (jsonb_populate_record(
        null::tracking.transport_events,
        to_jsonb(stored)
          || jsonb_build_object('container_id', 'gone-' || number, 'transport_event_id', 'event-' || number)
      )).*
      from (select * from tracking.transport_events limit 1) as stored, generate_series(1, 150) as number`,
    )
    // As who writes an event without the list of its container does.
    await scene.query(
      `insert into tracking_sync.event_lists_in_doubt (container_id)
        select 'gone-' || number from generate_series(1, 150) as number`,
    )
    for (const asked of [0, 100, 50, 0]) {
      scene.simulator.requests.reset()
      expect((await sync(scene)).exitCode).toBe(0)
      const paths = scene.simulator.requests.recent.map(({ path }) => path)
      expect(paths.filter((path) => path.startsWith('/v2/containers/gone-'))).toHaveLength(asked)
    }
    expect(await tombstoned(scene, 'transport_events')).toBe(150)
    expect(await scene.query(`select from tracking_sync.absences`)).toEqual([])
    expect(await scene.query(`select from tracking_sync.event_lists_in_doubt`)).toEqual([])
  })

  function pointElsewhere(document: unknown): unknown {
    const { data, ...rest } = document as { data: Record<string, unknown>[] }
    const container = { data: { id: 'elsewhere', type: 'container' } }
    return {
      ...rest,
      data: data.map(({ relationships, ...event }) => ({
        ...event,
        relationships: { ...(relationships as object), container },
      })),
    }
  }
})

describe('a transport event that was seen by a clock that was fast', () => {
  it('withdrawn before the right clock passed it, is marked', { tags: ['release'] }, async () => {
    const scene = await openScene({
      shipments: 6,
      acceptedIncludes: { shipment: ['containers'] },
    })
    const { world, clock, edits, faults } = scene.simulator
    const [container] = world
      .page('container', 0, 10, clock.now())
      .filter(({ id }) => world.transportEventsOf(id, clock.now()).length > 0)
    const [event] = world.transportEventsOf(container!.id, clock.now())
    const isDead = async () => {
      const [row] = await scene.query<{ is_dead: boolean }>(
        `select _deleted_at is not null as is_dead from tracking.transport_events
        where transport_event_id = $1`,
        event!.id,
      )
      return row?.is_dead
    }
    const queued = () =>
      scene.query(
        `select resource_id, ceil(extract(epoch from not_before - now()) / 60)::int as minutes
        from tracking_sync.refetch_queue where resource_type = 'transport_events'`,
      )
    // Two hours ahead in the lists of transport events alone.
    const fast = faults.add({
      times: Infinity,
      match: { path: /\/transport_events$/ },
      fault: { kind: 'dateHeader', value: { offsetMs: 2 * HOUR } },
    })
    await sync(scene)
    fast.remove()
    edits.withdrawEvent(container!.id, event!.id)
    expect((await sync(scene)).exitCode).toBe(0)
    expect(await isDead()).toBe(false)
    expect(await queued()).toEqual([{ resource_id: container!.id, minutes: 60 }])
    const asTimePassed = `update tracking_sync.refetch_queue set not_before = now()`
    // Too early: it waits again.
    await scene.query(asTimePassed)
    await scene.sync({ command: 'sync', settings })
    expect([await isDead(), await queued()]).toEqual([
      false,
      [{ resource_id: container!.id, minutes: 60 }],
    ])
    await scene.query(asTimePassed)
    await sync(scene)
    expect([await isDead(), await queued()]).toEqual([true, []])
    expect(await scene.differences()).toEqual([])
  })
})
