import { afterEach, describe, expect, it } from 'vitest'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { rowCount } from '../../support/snapshot-tables.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import {
  closeScenes,
  HOUR,
  openScene,
  OTHER_LISTS,
  requestCounts,
  type Scene,
} from './sync-scene.js'

afterEach(closeScenes)

describe('a backfill', () => {
  it('makes the warehouse equal to the service, and a second run writes no row', async () => {
    const scene = await openScene({ shipments: 60 })
    const settings = { pageSize: 20 }
    await syncToEquality(scene, { command: 'backfill', settings })
    expect(requestCounts(scene.simulator)).toMatchObject({
      // Two nested includes are refused, one request each, then three pages.
      '/shipments': 5,
      '/tracking_requests': 4,
      '/webhooks/events': 1,
    })
    const world = scene.simulator.world.counts(scene.simulator.clock.now())
    const snapshot = await scene.snapshot()
    expect(rowCount(snapshot, 'shipments')).toBe(world.shipment)
    expect(rowCount(snapshot, 'containers')).toBe(world.container)
    expect(rowCount(snapshot, 'tracking_requests')).toBe(world.tracking_request)
    for (const table of ['container_holds', 'container_fees', 'container_import_deadlines']) {
      expect(rowCount(snapshot, table)).toBeGreaterThan(0)
    }
    expect(rowCount(snapshot, 'container_history')).toBe(world.container)
    expect(rowCount(snapshot, 'refetch_queue')).toBe(0)

    await expectNothingToWrite(scene, { settings })
    expect(requestCounts(scene.simulator)).toEqual({
      '/shipments': 3,
      '/tracking_requests': 4,
      '/custom_fields': 6,
      '/custom_field_definitions': 1,
      '/custom_field_definitions/*/options': 3,
      '/webhooks/events': 1,
    })
  })

  it('reads every row when the service caps the page size', { tags: ['P13'] }, async () => {
    const scene = await openScene()
    scene.answers.play(/^\/(?:shipments|tracking_requests)$/, { kind: 'capPageSize', size: 7 })
    await syncToEquality(scene, { command: 'backfill' })
    const { shipment } = scene.simulator.world.counts(scene.simulator.clock.now())
    await expectNothingToWrite(scene)
    expect(requestCounts(scene.simulator)['/shipments']).toBe(Math.ceil(shipment / 7))
  })
})

describe.each([
  {
    name: 'refuses every include, one by one',
    options: { onUnknownInclude: 'reject', acceptedIncludes: { shipment: [], container: [] } },
    firstLists: { '/shipments': 9 + 1, '/containers': 3 + 1 },
    hasContainerList: true,
  },
  {
    name: 'includes containers and nothing else',
    options: {
      onUnknownInclude: 'reject',
      acceptedIncludes: { shipment: ['containers'], container: [] },
    },
    firstLists: { '/shipments': 8 + 1 },
    hasContainerList: false,
  },
  {
    name: 'ignores every include',
    options: { onUnknownInclude: 'ignore', acceptedIncludes: { shipment: [], container: [] } },
    firstLists: { '/shipments': 1, '/containers': 1 },
    hasContainerList: true,
  },
] as const)(
  'a service that $name',
  { tags: ['release'] },
  ({ options, firstLists, hasContainerList }) => {
    it('is asked once for the transport events of each container, and later only of those whose list changed', async () => {
      const scene = await openScene({ shipments: 12, ...options })
      const { simulator } = scene
      await syncToEquality(scene, { command: 'backfill' })
      const { container } = simulator.world.counts(simulator.clock.now())
      expect(requestCounts(simulator)).toMatchObject({
        ...firstLists,
        '/containers/*/transport_events': container,
      })

      await expectNothingToWrite(scene)
      const lists = { '/shipments': 1, '/tracking_requests': 1, ...OTHER_LISTS }
      const quiet = hasContainerList ? { ...lists, '/containers': 1 } : lists
      expect(requestCounts(simulator)).toEqual(quiet)

      const before = eventLists(scene)
      simulator.clock.advance(20 * HOUR)
      const after = eventLists(scene)
      const changed = [...after].filter(([id, list]) => before.get(id) !== list)
      expect(changed.length).toBeGreaterThan(0)
      await syncToEquality(scene)
      expect(requestCounts(simulator)).toMatchObject({
        ...quiet,
        '/containers/*/transport_events': changed.length,
      })
      await expectNothingToWrite(scene)
    })
  },
)

function eventLists({ simulator }: Scene): Map<string, string> {
  const { world, clock } = simulator
  return new Map(
    [...world.records('container', clock.now())].map(({ id, relationships }) => [
      id,
      JSON.stringify(relationships?.transport_events),
    ]),
  )
}

describe.each([
  { name: 'included', options: {} },
  { name: 'fetched', options: { acceptedIncludes: { shipment: ['containers'] } } },
])('a transport event that came $name', { tags: ['release'] }, ({ options }) => {
  it('is tombstoned when it is withdrawn and revived when it returns, and no other is touched', async () => {
    const scene = await openScene({ shipments: 12, ...options })
    const { edits, clock } = scene.simulator
    await syncToEquality(scene, { command: 'backfill' })
    const event = scene.records('transport_event')[5]!
    const link = event.relationships?.container?.data as { id: string }
    const others = () =>
      scene.rows`
        select xmin, * from tracking.transport_events where transport_event_id != ${event.id}
        order by 2, 3`
    const stamps = () =>
      scene.rows`
        select _first_seen_at, _changed_at, _deleted_at from tracking.transport_events
        where transport_event_id = ${event.id}`
    const [untouched, first] = [await others(), '2026-03-02 08:00:00+00']

    clock.advance(60_000)
    edits.withdrawEvent(link.id, event.id)
    const withdrawn = await syncToEquality(scene)
    expect(sumOf(withdrawn, 'tombstoned')).toBe(1)
    const gone = '2026-03-02 08:01:00+00'
    expect(await stamps()).toEqual([
      { _first_seen_at: first, _changed_at: gone, _deleted_at: gone },
    ])
    await expectNothingToWrite(scene)

    clock.advance(60_000)
    edits.revive('transport_event', event.id)
    await syncToEquality(scene)
    const back = '2026-03-02 08:02:00+00'
    expect(await stamps()).toEqual([
      { _first_seen_at: first, _changed_at: back, _deleted_at: null },
    ])
    expect(await others()).toEqual(untouched)
    await expectNothingToWrite(scene)
  })

  it('is replaced without a trace among the live ones when its estimate is', async () => {
    const scene = await openScene({ shipments: 28, ...options })
    const { clock } = scene.simulator
    await scene.sync()
    let tombstoned = 0
    for (let day = 0; day < 4; day += 1) {
      clock.advance(24 * HOUR)
      tombstoned += sumOf(await syncToEquality(scene), 'tombstoned')
    }
    const [counts] = await scene.rows`
      select count(*) as dead, count(*) filter (where is_estimated) as estimated
      from tracking.transport_events where _deleted_at is not null`
    expect(counts).toEqual({ dead: tombstoned, estimated: tombstoned })
    expect(tombstoned).toBeGreaterThan(0)
    await expectNothingToWrite(scene)
  })
})

function sumOf({ streams }: RunReport, name: 'tombstoned' | 'stale'): number {
  return streams.reduce((sum, { counts }) => sum + counts[name], 0)
}
