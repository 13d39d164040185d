import { afterEach, describe, expect, test } from 'vitest'
import {
  claimRefetches,
  releaseRefetches,
} from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

const field = { api_slug: 'lot', value: '7', display_value: '7' }
const changeset = { seal_number: [null, 'S1'] }

/** Each with its type, its attributes and how it names its container. */
const ABOUT_A_CONTAINER = [
  ['a custom field', 'custom_field', field, (id: string) => ({ entity: owner(id) })],
  [
    'an entity without a type',
    'custom_field',
    field,
    (id: string) => ({ entity: { data: { id } } }),
  ],
  ['one of several', 'gate_list', {}, (id: string) => ({ containers: { data: [owner(id).data] } })],
  [
    'an update',
    'container_updated_event',
    { changeset, timestamp: '2026-03-02T08:00:00Z' },
    (id: string) => ({ container: owner(id) }),
  ],
  ['a type of tomorrow', 'inspection', { by: 'none' }, (id: string) => ({ inspected: owner(id) })],
] as const

function owner(id: string) {
  return { data: { type: 'container', id } }
}

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

test.each(ABOUT_A_CONTAINER)(
  '%s of a container that the source does not have leaves no row',
  { tags: ['FA7'] },
  async (_name, type, attributes, relate) => {
    const scene = await openQuietScene()
    const about = { type, id: 'one', attributes, relationships: relate('nowhere') }
    await scene.store(notification({ id: 'n-1', createdAt: scene.now(), about, included: [about] }))
    await scene.bench.settle()
    expect(await told(scene)).toEqual([])
    expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'unresolved' })
    expect(await queued(scene.warehouse)).toEqual([])
  },
)

test('what a notification brings waits for the container that another reader has claimed', async () => {
  const scene = await openQuietScene()
  const { containerId, warehouse, bench } = scene
  await scene.run`delete from tracking.containers where container_id = ${containerId}`
  const about = { type: 'inspection', id: 'one', relationships: { of: owner(containerId) } }
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

  test.each(['the notification is about', 'the warehouse knows it of'])(
    'is of the container that %s',
    async (whose) => {
      const scene = await openWebhookScene()
      const { containerId } = scene
      const { id, type, attributes } = bare(scene)
      const event = { id, type, attributes: { ...attributes, voyage_number: 'X' } }
      const about = whose.startsWith('the n') ? { type: 'container', id: containerId } : event
      scene.advance(1)
      const told = { id: 'n-1', event: EVENT, createdAt: scene.now(), about, included: [event] }
      await scene.receive(notification(told))
      expect(await live(scene, id)).toEqual([{ container_id: containerId, voyage_number: 'X' }])
      expect(await scene.rows`select reason from tracking_sync.quarantine`).toEqual([])
      expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'processed' })
    },
  )

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
    const told = {
      id: 'n-1',
      event: EVENT,
      createdAt: scene.now(),
      about: event,
      included: [event],
    }
    await scene.store(notification(told))
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
