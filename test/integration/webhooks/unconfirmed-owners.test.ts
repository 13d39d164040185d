import { afterEach, describe, expect, test } from 'vitest'
import {
  claimRefetches,
  releaseRefetches,
} from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

const OWNER = (id: string) => ({ data: { type: 'container', id } })

const ABOUT_A_CONTAINER = [
  [
    'a custom field',
    (id: string) => ({
      type: 'custom_field',
      id: 'field-1',
      attributes: { api_slug: 'lot', value: '7', display_value: '7' },
      relationships: { entity: OWNER(id) },
    }),
  ],
  [
    'a custom field whose entity has no type',
    (id: string) => ({
      type: 'custom_field',
      id: 'field-1',
      attributes: { api_slug: 'lot', value: '7', display_value: '7' },
      relationships: { entity: { data: { id } } },
    }),
  ],
  [
    'a type of tomorrow with several',
    (id: string) => ({
      type: 'gate_list',
      id: 'list-1',
      attributes: {},
      relationships: { containers: { data: [{ type: 'container', id }] } },
    }),
  ],
  [
    'an update',
    (id: string) => ({
      type: 'container_updated_event',
      id: 'update-1',
      attributes: { changeset: { seal_number: [null, 'S1'] }, timestamp: '2026-03-02T08:00:00Z' },
      relationships: { container: OWNER(id) },
    }),
  ],
  [
    'a type of tomorrow',
    (id: string) => ({
      type: 'inspection',
      id: 'inspection-1',
      attributes: { inspector: 'nobody knows' },
      relationships: { inspected: OWNER(id) },
    }),
  ],
] as const

/** A scene in which nothing was told of a container before. */
async function openQuietScene(): Promise<WebhookScene> {
  const scene = await openWebhookScene()
  await scene.run`delete from tracking.custom_fields`
  return scene
}

/** Rows about other records than those with which the scene began. */
async function told({ query }: WebhookScene): Promise<unknown[]> {
  return query(
    `select 'field' as what from tracking.custom_fields
    union all select 'change' from tracking.container_changes
    union all select 'other' from tracking.other_resources order by 1`,
  )
}

describe('a notification that brings', { tags: ['FA7'] }, () => {
  test.each(ABOUT_A_CONTAINER)(
    '%s of a container that the source does not have leaves no row',
    async (_name, record) => {
      const scene = await openQuietScene()
      const about = record('nowhere')
      await scene.store(
        notification({ id: 'n-1', createdAt: scene.now(), about, included: [about] }),
      )
      await scene.bench.settle()
      expect(await told(scene)).toEqual([])
      expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'unresolved' })
      expect(await queued(scene.warehouse)).toEqual([])
    },
  )
})

test('what a notification brings waits for the container that another reader has claimed', async () => {
  const scene = await openQuietScene()
  const { containerId, warehouse, bench } = scene
  await scene.run`delete from tracking.containers where container_id = ${containerId}`
  const [, record] = ABOUT_A_CONTAINER.find(([name]) => name === 'a type of tomorrow')!
  const about = record(containerId)
  scene.advance(1)
  await scene.receive(notification({ id: 'n-1', createdAt: scene.now(), about, included: [about] }))
  const claim = await claimRefetches(warehouse, 'refetch', 10)
  expect(claim).toMatchObject([{ type: 'container', id: containerId }])
  expect(await bench.reader.readDue()).toBe(0)
  await releaseRefetches(warehouse, claim)
  await bench.settle()
  expect(await told(scene)).toHaveLength(1)
  expect(await statesOf(warehouse)).toEqual({ 'n-1': 'processed' })
})

describe('an included transport event without relationships', { tags: ['FF2'] }, () => {
  const EVENT = 'container.pickup_lfd_terminal.changed'

  /** A transport event of the container as it comes with some kinds of notification. */
  function bare(scene: WebhookScene) {
    const { containerId } = scene
    const event = scene.eventsNow(containerId).at(-1)
    return { type: 'transport_event', id: event?.id ?? '', attributes: event?.attributes }
  }

  const live = (scene: WebhookScene, id: string) =>
    scene.rows`
      select container_id, voyage_number from tracking.transport_events
      where transport_event_id = ${id} and _deleted_at is null`

  test('is of the container that the notification is about', async () => {
    const scene = await openWebhookScene()
    const { containerId } = scene
    const event = { ...bare(scene), attributes: { ...bare(scene).attributes, voyage_number: 'X' } }
    scene.advance(1)
    await scene.receive(
      scene.tell(containerId, {
        id: 'n-1',
        event: EVENT,
        about: { type: 'container', id: containerId },
        included: [event],
      }),
    )
    expect(await live(scene, event.id)).toEqual([{ container_id: containerId, voyage_number: 'X' }])
    expect(await scene.rows`select reason from tracking_sync.quarantine`).toEqual([])
  })

  test('is of the container that the warehouse knows it of', async () => {
    const scene = await openWebhookScene()
    const { containerId } = scene
    const event = { ...bare(scene), attributes: { ...bare(scene).attributes, voyage_number: 'X' } }
    scene.advance(1)
    await scene.receive(
      notification({
        id: 'n-1',
        event: EVENT,
        createdAt: scene.now(),
        about: event,
        included: [event],
      }),
    )
    expect(await live(scene, event.id)).toEqual([{ container_id: containerId, voyage_number: 'X' }])
    expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'processed' })
  })

  test('of a container that nobody can tell leaves its notification unresolved, until a sync', async () => {
    const scene = await openWebhookScene()
    const { containerId } = scene
    const event = bare(scene)
    await scene.run`delete from tracking.transport_events where transport_event_id = ${event.id}`
    await scene.run`
      update tracking.containers
      set transport_event_ids = array_remove(transport_event_ids, ${event.id}),
      _fingerprint = 'old'
      where container_id = ${containerId}`
    scene.advance(1)
    await scene.store(
      notification({
        id: 'n-1',
        event: EVENT,
        createdAt: scene.now(),
        about: event,
        included: [event],
      }),
    )
    await scene.bench.settle()
    expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'unresolved' })
    expect(await live(scene, event.id)).toEqual([])
    expect(await scene.rows`select reason from tracking_sync.quarantine`).toEqual([])
    scene.advance(60)
    await scene.sync({ command: 'sync' })
    expect(await live(scene, event.id)).toHaveLength(1)
    expect(await scene.differences()).toEqual([])
  })
})
