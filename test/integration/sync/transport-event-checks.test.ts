import { describe, expect, it } from 'vitest'
import type { TestSyncOptions } from '../../support/run-test-sync.js'
import { HOUR, openLoadedScene, openScene, requestCounts } from './sync-scene.js'

const acceptedIncludes = { shipment: ['containers', 'pod_terminal'], container: [] }

it('events that change under their id are found in turn', { tags: ['release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 12, acceptedIncludes })
  const { world, clock, edits, requests } = scene.simulator
  /** A sync, and how many lists of transport events it read. */
  const check = async (
    transportEventChecksPerSync = 1,
    options: Partial<TestSyncOptions> = {},
  ): Promise<number> => {
    requests.reset()
    const settings = { transportEventChecksPerSync }
    expect((await scene.sync({ command: 'sync', settings, ...options })).exitCode).toBe(0)
    return requestCounts(scene.simulator)['/containers/*/transport_events'] ?? 0
  }
  const eventOf = (id: string) => world.transportEventsOf(id, clock.now())[0]
  const all = scene.records('container')
  const unfinished = all.filter(
    ({ attributes }) => (attributes?.empty_terminated_at ?? null) === null,
  )
  expect(unfinished.length).toBeGreaterThan(2)
  expect(unfinished.length).toBeLessThan(all.length)
  const changed = all.flatMap(({ id }) => eventOf(id)?.id ?? [])
  for (const id of changed) edits.change('transport_event', id, { voyage_number: 'X77' })
  for (const [index] of unfinished.entries()) {
    expect(await check()).toBe(1)
    expect(await scene.count('tracking_sync.transport_event_checks')).toBe(index + 1)
  }
  const found = await scene.count('tracking.transport_events', `voyage_number = 'X77'`)
  expect(found).toBe(unfinished.filter(({ id }) => eventOf(id) !== undefined).length)
  expect(changed.length).toBeGreaterThan(found)
  expect(await check(0)).toBe(0)
  expect(await check(1, { command: 'backfill' })).toBe(0)
})

describe('a list of transport events', { tags: ['I1'] }, () => {
  it('of which an event is withdrawn between two of its pages is read again', async () => {
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
