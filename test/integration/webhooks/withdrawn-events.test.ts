import { afterEach, describe, expect, test } from 'vitest'
import { countUnlistedEvents } from '../../../src/warehouse/rows/unlisted-events.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

/**
 * A container whose last transport event is new at the source: the warehouse has never heard of it.
 */
async function openWithNewEvent() {
  const scene = await openWebhookScene()
  const { containerId, simulator } = scene
  const eventId = scene.eventsNow(containerId).at(-1)?.id ?? ''
  simulator.edits.withdrawEvent(containerId, eventId)
  scene.advance(60)
  await scene.sync({ command: 'sync' })
  await scene.run`delete from tracking.transport_events where transport_event_id = ${eventId}`
  const before = scene.containerNow(containerId)
  simulator.edits.revive('transport_event', eventId)
  scene.advance(60)
  const event = simulator.world.record('transport_event', eventId, scene.now())
  return { scene, eventId, event, before }
}

async function isLive({ query }: WebhookScene, eventId: string): Promise<boolean | undefined> {
  const [row] = await query<{ is_live: boolean }>(
    `select _deleted_at is null as is_live from tracking.transport_events
    where transport_event_id = $1`,
    eventId,
  )
  return row?.is_live
}

describe('an event that only a webhook told of', { tags: ['FG1', 'release'] }, () => {
  test.each([
    ['alone', false],
    ['with a container whose list lacks it', true],
  ])('%s, and that was withdrawn since, is gone after a sync', async (_name, hasContainer) => {
    const { scene, eventId, event, before } = await openWithNewEvent()
    const { containerId, simulator, warehouse } = scene
    const included = hasContainer ? [before, event] : [event]
    await scene.receive(
      scene.tell(containerId, { about: { type: 'transport_event', id: eventId }, included }),
    )
    await scene.bench.settle()
    expect(await isLive(scene, eventId)).toBe(true)
    scene.advance(60)
    simulator.edits.withdrawEvent(containerId, eventId)
    scene.advance(60)
    expect(await scene.sync({ command: 'sync' })).toMatchObject({ exitCode: 0 })
    expect(await isLive(scene, eventId)).toBe(false)
    expect(await countUnlistedEvents(warehouse)).toBe(0)
    expect(await scene.differences()).toEqual([])
  })
})

test('a backfill takes away what no list has, a sync doubts it', { tags: ['FG1'] }, async () => {
  const scene = await openWebhookScene()
  const { containerId, warehouse } = scene
  const add = (id: string) =>
    scene.rows`
      insert into tracking.transport_events (
        container_id, transport_event_id, event, _observed_at, _first_seen_at, _changed_at
      )
      select container_id, ${id}, 'container.transport.full_in', _observed_at, _observed_at,
      _observed_at
      from tracking.containers
      where container_id = ${containerId}`
  await add('by hand')
  await scene.sync({ command: 'sync' })
  expect(await isLive(scene, 'by hand')).toBe(true)
  expect(await countUnlistedEvents(warehouse)).toBe(1)
  await scene.sync({ command: 'backfill' })
  expect(await isLive(scene, 'by hand')).toBe(false)
  const doubts = () => scene.rows`select container_id from tracking_sync.event_lists_in_doubt`
  // The check itself wrote the events without the container.
  expect(await doubts()).toEqual([{ container_id: containerId }])
  await scene.sync({ command: 'backfill' })
  expect(await doubts()).toEqual([])

  await add('in doubt')
  const containers = await scene.rows<{ id: string }>`
    select container_id as id from tracking.containers`
  await scene.run`
    insert into tracking_sync.event_lists_in_doubt (container_id) select unnest(${containers.map(({ id }) => id)}::text[])`
  await scene.sync({ command: 'sync' })
  expect(await isLive(scene, 'in doubt')).toBe(false)
  // Its list was asked for; that it is right now is for the next run to see.
  expect(await doubts()).toEqual([{ container_id: containerId }])
  await scene.sync({ command: 'sync' })
  expect(await doubts()).toEqual([])
})

test('an empty list of events withdraws none', { tags: ['FF9', 'release'] }, async () => {
  const scene = await openWebhookScene({
    isFilled: false,
    acceptedIncludes: { shipment: ['containers'] },
  })
  const { containerId, simulator } = scene
  const empty = (): unknown => ({ data: [], links: {}, meta: {} })
  const path = `/containers/${containerId}/transport_events`
  scene.answers.play(path, { kind: 'transform', apply: empty })
  await scene.sync()
  const queue = () =>
    scene.rows`
      select reason, attempts from tracking_sync.refetch_queue
      where resource_type = 'transport_events' and resource_id = ${containerId}`
  const reason = 'the container lists transport events and its list of transport events is empty'
  expect(await queue()).toEqual([{ reason, attempts: 0 }])
  const due = 'update tracking_sync.refetch_queue set not_before = now()'
  await scene.query(due)
  await scene.bench.settle()
  expect(await queue()).toEqual([{ reason, attempts: 1 }])
  simulator.faults.clear()
  await scene.query(due)
  await scene.bench.settle()
  expect(await queue()).toEqual([])
  expect(await scene.differences()).toEqual([])

  // The events are known now, and an empty list does not delete them.
  scene.answers.play(path, { kind: 'transform', apply: empty })
  scene.advance(3600)
  await scene.sync({ command: 'sync', settings: { transportEventChecksPerSync: 100 } })
  const [row] = await scene.rows<{ dead: number }>`
    select count(*)::int as dead from tracking.transport_events
    where container_id = ${containerId} and _deleted_at is not null`
  expect(row).toEqual({ dead: 0 })
})
