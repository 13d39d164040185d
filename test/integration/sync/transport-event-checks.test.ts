import { afterEach, describe, expect, it } from 'vitest'
import type { TestSyncOptions } from '../../support/run-test-sync.js'
import {
  closeScenes,
  HOUR,
  openLoadedScene,
  openScene,
  OTHER_LISTS,
  requestCounts,
  type Scene,
} from './sync-scene.js'

afterEach(closeScenes)

const WITHOUT_EVENTS = ['containers', 'pod_terminal']
const EVENT_READS = '/containers/*/transport_events'

async function openBackfilled(includes: readonly string[] = WITHOUT_EVENTS): Promise<Scene> {
  const scene = await openLoadedScene({
    shipments: 12,
    acceptedIncludes: { shipment: includes, container: [] },
  })
  return scene
}

/** A sync an hour later, and its requests. */
async function check(
  scene: Scene,
  transportEventChecksPerSync = 1,
  options: Partial<TestSyncOptions> = {},
) {
  scene.simulator.requests.reset()
  const report = await scene.sync({
    command: 'sync',
    settings: { transportEventChecksPerSync },
    ...options,
  })
  return { report, requests: requestCounts(scene.simulator) }
}

function unfinishedContainers({ simulator: { world, clock } }: Scene) {
  return [...world.records('container', clock.now())].filter(
    ({ attributes }) => (attributes?.empty_terminated_at ?? null) === null,
  )
}

/**
 * The content of an event of one container changes and its id does not. Undefined for a container
 * without events.
 */
function changeEvent(scene: Scene, containerId: string): string | undefined {
  const { world, clock, edits } = scene.simulator
  const [event] = world.transportEventsOf(containerId, clock.now())
  if (event !== undefined) edits.change('transport_event', event.id, { voyage_number: 'X77' })
  return event?.id
}

async function voyageOf(scene: Scene, eventId: string): Promise<unknown> {
  const [row] = await scene.rows`
    select voyage_number from tracking.transport_events where transport_event_id = ${eventId}`
  return row?.voyage_number
}

describe('transport events that change under their id', { tags: ['release'] }, () => {
  it('are found by the checks, one container a sync, each in its turn, and finished ones not at all', async () => {
    const scene = await openBackfilled()
    const unfinished = unfinishedContainers(scene)
    const all = scene.records('container')
    expect(unfinished.length).toBeGreaterThan(2)
    expect(unfinished.length).toBeLessThan(all.length)
    const changed = all.flatMap(({ id }) => changeEvent(scene, id) ?? [])
    for (const [index] of unfinished.entries()) {
      const { report, requests } = await check(scene)
      expect(report.exitCode).toBe(0)
      expect(requests[EVENT_READS]).toBe(1)
      const checked = await scene.value<number>`
        select count(*) as checked from tracking_sync.transport_event_checks`
      expect(checked).toBe(index + 1)
    }
    const voyages = await Promise.all(changed.map((id) => voyageOf(scene, id)))
    const isFound = voyages.filter((voyage) => voyage === 'X77').length
    const withEvents = unfinished.filter(({ id }) => hasEvents(scene, id)).length
    expect(isFound).toBe(withEvents)
    expect(changed.length).toBeGreaterThan(withEvents)
    // The first is due again.
    const before = await firstChecked(scene)
    await check(scene)
    expect(await firstChecked(scene)).not.toBe(before)
  })

  it('cost an unchanged account one request, nothing when events come included, when switched off, and in a backfill', async () => {
    const scene = await openBackfilled()
    const { requests } = await check(scene)
    expect(requests).toEqual({
      '/shipments': 1,
      '/tracking_requests': 1,
      [EVENT_READS]: 1,
      ...OTHER_LISTS,
    })
    expect((await check(scene, 0)).requests[EVENT_READS]).toBeUndefined()
    const backfill = await check(scene, 1, { command: 'backfill' })
    expect(backfill.requests[EVENT_READS]).toBeUndefined()
    const included = await openBackfilled([...WITHOUT_EVENTS, 'containers.transport_events'])
    expect((await check(included)).requests[EVENT_READS]).toBeUndefined()
  })
})

describe('a list of transport events', { tags: ['I1'] }, () => {
  it('of which an event is withdrawn between two of its pages is read again', async () => {
    const acceptedIncludes = { shipment: WITHOUT_EVENTS, container: [] }
    const scene = await openScene({ shipments: 3, acceptedIncludes })
    const { faults, edits, clock, world } = scene.simulator
    const lengths = scene
      .records('container')
      .map(({ id }) => [world.transportEventsOf(id, clock.now()).length, id] as const)
      .sort(([one], [other]) => other - one)
    const [longest, containerId] = lengths[0]!
    const withdrawn: string[] = []
    faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
          const [first] = (document as { data: readonly { id: string }[] }).data
          // The second page now lacks the event that it would have begun with.
          edits.withdrawEvent(containerId, first!.id)
          withdrawn.push(first!.id)
          return document
        },
      },
      match: { path: `/containers/${containerId}/transport_events` },
    })
    // No list but the longest has two pages.
    await scene.sync({ settings: { pageSize: longest - 1 } })
    expect(withdrawn).toHaveLength(1)
    clock.advance(HOUR)
    await scene.sync({ command: 'sync' })
    expect(await scene.differences()).toEqual([])
  })
})

function hasEvents({ simulator: { world, clock } }: Scene, containerId: string): boolean {
  return world.transportEventsOf(containerId, clock.now()).length > 0
}

async function firstChecked(scene: Scene): Promise<unknown> {
  const [row] = await scene.rows`
    select container_id from tracking_sync.transport_event_checks order by checked_at limit 1`
  return row?.container_id
}
