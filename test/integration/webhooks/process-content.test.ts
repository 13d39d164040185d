import { afterEach, describe, expect, it } from 'vitest'
import { notification, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

describe('what a delivery brings', () => {
  it('of a usual one is applied without any request: a new transport event, a new value, what the container lists', async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator } = scene
    const [event] = scene.eventsNow(id)
    simulator.edits.withdrawEvent(id, event?.id ?? '')
    scene.advance(1)
    await scene.sync({ command: 'sync' })
    simulator.edits.revive('transport_event', event?.id ?? '')
    // As if it had never been there.
    await scene.run`delete from tracking.transport_events where transport_event_id = ${event?.id}`
    simulator.edits.change('container', id, { available_for_pickup: true, weight_in_lbs: 7 })
    scene.advance(10)
    simulator.requests.reset()
    const shipment = scene.containerNow(id).relationships?.shipment?.data as { id: string }
    await scene.receive(
      scene.tell(id, {
        event: 'container.transport.vessel_arrived',
        about: { type: 'transport_event', id: event?.id ?? '' },
        included: [
          simulator.world.record('shipment', shipment.id, scene.now()),
          scene.containerNow(id),
          event,
        ],
      }),
    )
    expect(simulator.requests.total).toBe(0)
    expect(await queued(scene.warehouse)).toEqual([])
    expect(await scene.differences()).toEqual([])
    const versions = await scene.rows`
      select source, valid_from from tracking.container_history where container_id = ${id}
      order by valid_from`
    expect(versions.at(-1)).toEqual({ source: 'webhook', valid_from: '2026-03-02 08:00:11+00' })
    // The next sync of the same source finds nothing to do.
    const before = await scene.row()
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
    expect(await scene.row()).toEqual(before)
  })

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
    const inspection = {
      id: 'inspection-1',
      type: 'inspection',
      attributes: { inspector: 'unknown to this version' },
    }
    await scene.receive(
      notification({
        id: 'new-event',
        event: 'container.inspected.by_robot',
        createdAt: scene.now(),
        about: inspection,
        included: [scene.containerNow(id), inspection],
      }),
      {
        data: {
          id: 'no-notification',
          type: 'greeting',
          attributes: {},
          relationships: { webhook: { data: { type: 'webhook', id: 'webhook-of-ours' } } },
        },
      },
    )
    expect(await statesOf(warehouse)).toEqual({
      'new-event': 'processed',
      'no-notification': 'ignored',
    })
    expect(await scene.row()).toMatchObject({ seal_number: 'told' })
    expect(
      await scene.rows`
        select resource_type, _unmapped from tracking.other_resources
        where resource_id = 'inspection-1'`,
    ).toEqual([
      { resource_type: 'inspection', _unmapped: { inspector: 'unknown to this version' } },
    ])
  })

  it('that cannot be flattened is set aside, and the rest is applied', async () => {
    const scene = await openWebhookScene()
    const { containerId: id, warehouse } = scene
    scene.advance(10)
    scene.simulator.edits.change('container', id, { seal_number: 'told' })
    await scene.receive(
      scene.tell(id, {
        id: 'half-bad',
        included: [{ type: 'port', id: '' }, scene.containerNow(id)],
      }),
    )
    expect(await statesOf(warehouse)).toEqual({ 'half-bad': 'processed' })
    expect(await scene.row()).toMatchObject({ seal_number: 'told' })
    expect(await scene.rows`select reason, source from tracking_sync.quarantine`).toEqual([
      { reason: 'id is missing or not a text', source: 'webhook notification half-bad' },
    ])
  })
})
