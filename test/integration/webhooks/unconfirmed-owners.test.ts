import { afterEach, describe, expect, test } from 'vitest'
import {
  claimRefetches,
  releaseRefetches,
} from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { closeUnresolved } from '../../../src/webhooks/process/claim-notifications.js'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

const field = { api_slug: 'lot', value: '7', display_value: '7' }
const changeset = { seal_number: [null, 'S1'] }

const nowhere = owner('nowhere')
const update = { changeset, timestamp: '2026-03-02T08:00:00Z' }

/** Each with its type, its attributes and how it names a container that the source lacks. */
const ABOUT_A_CONTAINER: [string, string, object, object][] = [
  ['a custom field', 'custom_field', field, { entity: nowhere }],
  ['an entity without a type', 'custom_field', field, { entity: { data: { id: 'nowhere' } } }],
  ['one of several', 'gate_list', {}, { containers: { data: [nowhere.data] } }],
  ['an update', 'container_updated_event', update, { container: nowhere }],
  ['a type of tomorrow', 'inspection', { by: 'none' }, { inspected: nowhere }],
]

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
  async (_name, type, attributes, relationships) => {
    const scene = await openQuietScene()
    const about = { type, id: 'one', attributes, relationships }
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

  test('of a container that nobody can tell is settled by a sync', { tags: ['W17'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId, warehouse } = scene
    const event = bare(scene)
    await scene.run`delete from tracking.transport_events where transport_event_id = ${event.id}`
    await scene.run`
      update tracking.containers
      set transport_event_ids = array_remove(transport_event_ids, ${event.id}),
      _fingerprint = 'old'
      where container_id = ${containerId}`
    scene.advance(1)
    const told = { id: 'n-1', event: EVENT, about: event, included: [event] }
    await scene.store(notification({ ...told, createdAt: scene.now() }))
    await scene.bench.settle()
    expect(await statesOf(scene.warehouse)).toEqual({ 'n-1': 'unresolved' })
    expect(await live(scene, event.id)).toEqual([])
    expect(await scene.rows`select reason from tracking_sync.quarantine`).toEqual([])
    expect(await closeUnresolved(warehouse)).toBe(0)
    const others = { dead: 'dead', foreign: 'foreign', ignored: 'ignored' }
    await scene.run`
      insert into tracking_sync.webhook_notifications (notification_id, state, observed_at)
      select state, state, ${scene.now()}::timestamptz
      from unnest(${Object.keys(others)}::text[]) as given (state)`
    scene.advance(60)
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
    expect(await live(scene, event.id)).toHaveLength(1)
    expect(await scene.differences()).toEqual([])
    const about = { type: 'estimated_event', id: 'unknown' }
    await scene.store(notification({ id: 'n-2', createdAt: scene.advance(10), about }))
    await scene.bench.settle()
    expect(await closeUnresolved(warehouse)).toBe(1)
    expect(await statesOf(warehouse)).toEqual({
      'n-1': 'processed',
      'n-2': 'unresolved',
      ...others,
    })
  })
})
