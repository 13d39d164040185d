import { afterEach, describe, expect, it } from 'vitest'
import { LIST_BEHIND_EVENT } from '../../../src/ingest/commit-batch.js'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

function requested({ simulator }: WebhookScene): string[] {
  return simulator.requests.recent.map(({ path }) => path.replace(/^\/v2/, ''))
}

function isDead(scene: WebhookScene, event: { readonly id: string } | undefined) {
  return scene.value<boolean>`
    select _deleted_at is not null from tracking.transport_events
    where transport_event_id = ${event?.id}`
}

describe('what must be read before it is believed', () => {
  it('many thin deliveries about one record are one request', { tags: ['D7'] }, async () => {
    const scene = await openWebhookScene({ bench: { refetchDelayMs: 5_000 } })
    const { containerId: id, simulator, bench } = scene
    const [event] = scene.eventsNow(id)
    for (let second = 0; second < 5; second += 1) {
      scene.advance(1)
      simulator.edits.change('container', id, { seal_number: `after ${second}` })
      const about =
        second % 2 === 0
          ? { type: 'container', id }
          : { type: 'transport_event', id: event?.id ?? '' }
      await scene.receive(notification({ createdAt: scene.now(), about }))
      await bench.reader.readDue()
    }
    expect(requested(scene)).toEqual([])
    expect(await queued(scene.warehouse)).toEqual([`container ${id}`])
    await scene.run`update tracking_sync.refetch_queue set not_before = null`
    await bench.settle()
    expect(requested(scene)).toEqual([`/containers/${id}`])
    expect(await scene.row()).toMatchObject({ seal_number: 'after 4' })
    expect(await scene.differences()).toEqual([])
  })

  it('a transport event before its container has that one read', { tags: ['D8'] }, async () => {
    const scene = await openWebhookScene({ isFilled: false })
    const { containerId: id, warehouse } = scene
    scene.advance(1)
    const [event] = scene.eventsNow(id)
    const about = { type: 'transport_event', id: event?.id ?? '' }
    await scene.receive(scene.tell(id, { about, included: [event] }))
    expect(await queued(warehouse)).toEqual([`container ${id}`])
    await scene.bench.settle()
    expect(
      await scene.column`
        select container_id from tracking.transport_events where transport_event_id = ${event?.id}`,
    ).toEqual([id])
    expect(await scene.row()).toMatchObject({ container_id: id, _deleted_at: null })
  })

  it('a withdrawn transport event does not come back', { tags: ['D9'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator } = scene
    const [event] = scene.eventsNow(id)
    simulator.edits.withdrawEvent(id, event?.id ?? '')
    scene.advance(10)
    await scene.receive(scene.tell(id))
    scene.advance(10)
    const about = { type: 'transport_event', id: event?.id ?? '' }
    await scene.receive(scene.tell(id, { about, included: [event] }))
    expect(await isDead(scene, event)).toBe(true)
    expect(await queued(scene.warehouse)).toEqual([`container ${id}`, `transport_events ${id}`])
    await scene.bench.settle()
    expect(requested(scene)).toEqual([`/containers/${id}`, `/containers/${id}/transport_events`])
    expect(await isDead(scene, event)).toBe(true)
    expect(await scene.differences()).toEqual([])
  })

  it('a list that lacks an event seen later is read again', { tags: ['D9'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator } = scene
    const [event] = scene.eventsNow(id)
    const at = await scene.value<string>`
      select (_observed_at + interval '2 minutes')::text as at
      from tracking.transport_events where transport_event_id = ${event?.id}`
    await scene.run`
      update tracking.transport_events set _observed_at = ${at}
      where transport_event_id = ${event?.id}`
    simulator.edits.withdrawEvent(id, event?.id ?? '')
    scene.advance(10)
    await scene.receive(scene.tell(id))
    expect(await isDead(scene, event)).toBe(false)
    expect(
      await scene.rows`select resource_type, resource_id, reason from tracking_sync.refetch_queue`,
    ).toEqual([{ resource_type: 'transport_events', resource_id: id, reason: LIST_BEHIND_EVENT }])
    // By now the service's clock has passed what was ahead.
    scene.advance(300)
    await scene.bench.settle()
    expect(requested(scene)).toEqual([`/containers/${id}/transport_events`])
    expect(await isDead(scene, event)).toBe(true)
    expect(await queued(scene.warehouse)).toEqual([])
    expect(await scene.differences()).toEqual([])
  })

  it('a container that moved keeps its row; numbers may repeat', { tags: ['D11'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id } = scene
    const other = scene.records('container').find((record) => record.id !== id)
    const record = scene.containerNow(id)
    scene.advance(10)
    const moved = {
      ...record,
      attributes: { ...record.attributes, number: other?.attributes?.number },
      relationships: {
        ...record.relationships,
        shipment: { data: { type: 'shipment', id: 'another-shipment' } },
        pickup_facility: { data: { type: 'terminal', id: 'another-terminal' } },
      },
    }
    await scene.receive(scene.tell(id, { included: [moved] }))
    // A terminal that nobody knows is read.
    expect(await queued(scene.warehouse)).toEqual(['terminal another-terminal'])
    const rows = await scene.rows`
      select container_id, shipment_id from tracking.containers
      where number = ${other?.attributes?.number} order by 1`
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual({ container_id: id, shipment_id: 'another-shipment' })
    const versions = await scene.rows`
      select shipment_id, valid_to from tracking.container_history where container_id = ${id}
      order by valid_from`
    expect(versions).toHaveLength(2)
  })

  it('one body a thousand times is processed once', { tags: ['W8'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator, warehouse } = scene
    const change = (seal_number: string) => {
      scene.advance(10)
      simulator.edits.change('container', id, { seal_number })
      return scene.tell(id)
    }
    const body = change('then')
    await scene.receive(...Array<unknown>(500).fill(body))
    await scene.receive(change('since'))
    const before = await scene.row()
    for (let times = 0; times < 5; times += 1)
      await scene.receive(...Array<unknown>(100).fill(body))
    scene.advance(90 * 86_400)
    await scene.receive(body)
    expect(await scene.row()).toEqual(before)
    expect(before).toMatchObject({ seal_number: 'since' })
    expect(Object.values(await statesOf(warehouse))).toEqual(['processed', 'processed'])
    expect(await queued(warehouse)).toEqual([])
    // Also when somebody replays it.
    await scene.run`update tracking_sync.webhook_notifications set state = 'received'`
    await scene.bench.processor.processAll()
    expect(await scene.row()).toEqual(before)
  })
})
