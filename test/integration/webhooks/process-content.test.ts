import { afterEach, describe, expect, it } from 'vitest'
import { readPayloads } from '../../support/read-payloads.js'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

describe('what a delivery brings', () => {
  it('with events that nobody sent makes one request, for the list of events', async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator } = scene
    const record = scene.containerNow(id)
    const [event] = scene.eventsNow(id)
    await scene.run`delete from tracking.transport_events where transport_event_id = ${event?.id}`
    await scene.run`
      update tracking.containers
      set transport_event_ids = array_remove(transport_event_ids, ${event?.id})
      where container_id = ${id}`
    scene.advance(10)
    await scene.receive(scene.tell(id, { included: [record] }))
    expect(await queued(scene.warehouse)).toEqual([`transport_events ${id}`])
    await scene.bench.settle()
    expect(simulator.requests.total).toBe(1)
    expect(await scene.differences()).toEqual([])
  })

  it('of unknown events is kept, and its known part applied', { tags: ['K5'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, warehouse } = scene
    scene.advance(10)
    scene.simulator.edits.change('container', id, { seal_number: 'told' })
    const attributes = { inspector: 'unknown to this version' }
    const inspection = { id: 'inspection-1', type: 'inspection', attributes }
    await scene.receive(
      notification({
        id: 'new-event',
        event: 'container.inspected.by_robot',
        createdAt: scene.now(),
        about: inspection,
        // One that cannot be flattened is set aside, and the rest is applied.
        included: [{ type: 'port', id: '' }, scene.containerNow(id), inspection],
      }),
      { data: { ...(notification({ id: 'no-notification' }).data as object), type: 'greeting' } },
    )
    expect(await statesOf(warehouse)).toEqual({
      'new-event': 'processed',
      'no-notification': 'ignored',
    })
    expect(await scene.row()).toMatchObject({ seal_number: 'told' })
    const others = await scene.rows`
      select resource_type, _unmapped from tracking.other_resources
      where resource_id = 'inspection-1'`
    expect(others).toEqual([{ resource_type: 'inspection', _unmapped: attributes }])
    expect(await scene.rows`select reason, source from tracking_sync.quarantine`).toEqual([
      { reason: 'id is missing or not a text', source: 'webhook notification new-event' },
    ])
  })

  /** The values of what each sample brings are compared in `drift.test.ts`. */
  it('is, as published, a change with its own time, once', { tags: ['K8'] }, async () => {
    const sample = readPayloads('samples').find(({ name }) => name.includes('container-updated'))!
    const { webhook } = sample.data[0]!.relationships as { webhook: { data: { id: string } } }
    const own = { url: undefined, ids: [webhook.data.id] }
    const scene = await openWebhookScene({ bench: { own } })
    const { containerId: id } = scene
    const shipment = scene.containerNow(id).relationships?.shipment?.data as { id: string }
    // Records that are there; without their rows nothing would be stored.
    const told = String(sample.bytes)
      .replaceAll('5f3d40ad-2e2f-4778-8973-8a3a70bef56d', id)
      .replaceAll('c0633538-4e53-4c33-bde5-055a5bdbfa29', shipment.id)
    await scene.receive(JSON.parse(told))
    await scene.run`update tracking_sync.webhook_notifications set state = 'received'`
    expect((await scene.bench.processor.processAll()).taken).toBe(1)
    const changes = await scene.rows`
      select attribute, old_value, new_value, changed_at, _observed_at as observed, data_source,
      timezone, _notification_id
      from tracking.container_changes where container_id = ${id} order by attribute`
    const of = {
      changed_at: '2022-10-21 20:19:12+00',
      observed: '2022-10-21 20:19:13+00',
      data_source: 'terminal',
      timezone: 'America/New_York',
      _notification_id: sample.data[0]!.id,
    }
    const holds = [{ description: 'DOWN - Broken Machine Over Pile' }, { name: 'other' }]
    expect(changes).toMatchObject([
      { ...of, attribute: 'available_for_pickup', old_value: false, new_value: true },
      { ...of, attribute: 'holds_at_pod_terminal', old_value: holds, new_value: [] },
    ])
  })
})
