import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import {
  startWebhookReceiver,
  type ReceivedDelivery,
  type WebhookReceiver,
} from '../../support/webhook-receiver.js'
import { START } from './simulator-client.js'

const DAY = 86_400_000

let receiver: WebhookReceiver
let simulator: Simulator

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  simulator = await startSimulator({
    startAt: START,
    speed: 0,
    shipments: 80,
    webhooks: { concurrency: 1 },
  })
  subscribe()
})

function subscribe(): void {
  simulator.webhooks.create({
    url: receiver.url,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: null,
    headers: [],
  })
}

afterEach(async () => {
  await simulator.close()
  await receiver.close()
})

interface Document {
  readonly data: ResourceObject
  readonly included?: readonly ResourceObject[]
}

const SAMPLES = new URL('../../fixtures/samples/', import.meta.url)
const samples = readdirSync(SAMPLES)
  .filter((name) => /^webhook-(?!events)/.test(name))
  .map((name) => JSON.parse(readFileSync(new URL(name, SAMPLES), 'utf8')) as Document)

/**
 * Published in deliveries only; the reads of the service do not have them, and neither do those of
 * the simulator.
 */
const DELIVERIES_ONLY: Readonly<Record<string, readonly string[]>> = {
  tracking_request: ['shipment_tags', 'is_retrying', 'retry_count', 'customer', 'user'],
}

const namesOf = ({ type, attributes, relationships }: ResourceObject): string[] =>
  [...Object.keys(attributes ?? {}), ...Object.keys(relationships ?? {})]
    .filter((name) => !DELIVERIES_ONLY[type]?.includes(name))
    .toSorted()

test('deliveries have the types, attributes and relationships of the published ones', async () => {
  simulator.clock.advance(10 * DAY)
  await simulator.webhooks.deliverDue()
  expect(samples.length).toBeGreaterThan(5)
  for (const sample of samples) {
    const event = sample.data.attributes!.event as string
    const sent = receiver.deliveries.filter(({ data }) => data!.attributes!.event === event)
    expect(sent, event).not.toEqual([])
    for (const { data, included } of sent) {
      expect(namesOf(data!)).toEqual(namesOf(sample.data))
      const reference = (record: ResourceObject) =>
        (record.relationships!.reference_object!.data as { type: string }).type
      expect(reference(data!)).toBe(reference(sample.data))
      for (const published of sample.included ?? []) {
        const ours = included!.find(({ type }) => type === published.type)
        // A shipment without a terminal brings none.
        if (ours === undefined) expect(['terminal', 'port', 'vessel']).toContain(published.type)
        else expect(namesOf(ours), event).toEqual(expect.arrayContaining(namesOf(published)))
      }
    }
  }
})

const included = (delivery: ReceivedDelivery | undefined, type: string): ResourceObject =>
  delivery!.included!.find((record) => record.type === type)!

const newContainer = (): ResourceObject =>
  simulator.world.page('container', 0, 1, simulator.clock.now())[0]!

describe('an edit', () => {
  test('includes the records as of its instant, although they were edited before it is sent', async () => {
    const { id } = newContainer()
    simulator.edits.change('container', id, { seal_number: 'FIRST' })
    simulator.clock.advance(60_000)
    simulator.edits.change('container', id, { seal_number: 'SECOND' })
    simulator.edits.delete('container', id)
    await simulator.webhooks.deliverDue()
    const told = receiver.deliveries.map((delivery) => [
      delivery.data!.attributes!.created_at,
      included(delivery, 'container').attributes!.seal_number,
      included(delivery, 'container_updated_event').attributes!.changeset,
    ])
    const before = expect.anything() as unknown
    expect(told).toEqual([
      ['2026-03-04T12:00:00Z', 'FIRST', { seal_number: [before, 'FIRST'] }],
      ['2026-03-04T12:01:00Z', 'SECOND', { seal_number: ['FIRST', 'SECOND'] }],
    ])
  })

  test('that withdraws, deletes, revives or changes nothing is not told', async () => {
    const { id, attributes } = simulator.world.page('container', 100, 1, START)[0]!
    const [event] = simulator.world.transportEventsOf(id, START)
    const [port] = simulator.world.page('port', 0, 1, START)
    simulator.edits.withdrawEvent(id, event!.id)
    simulator.edits.change('container', id, { seal_number: attributes!.seal_number })
    simulator.edits.change('port', port!.id, { name: 'Elsewhere' })
    simulator.edits.delete('container', id)
    simulator.edits.revive('container', id)
    expect(await simulator.webhooks.deliverDue()).toBe(0)
    expect(receiver.deliveries).toEqual([])
  })
})

describe('by hand', () => {
  test('a notification is made for any record that exists', async () => {
    const container = simulator.world.page('container', 100, 1, START)[0]!
    const [event] = simulator.world.transportEventsOf(container.id, START)
    const [request] = simulator.world.page('tracking_request', 0, 1, START)
    const name = event!.attributes!.event as string
    const { webhooks } = simulator
    const ids = [
      ...webhooks.emit(name, { containerId: container.id }),
      ...webhooks.emit(name, { transportEventId: event!.id }),
      ...webhooks.emit('tracking_request.failed', { trackingRequestId: request!.id }),
      ...webhooks.emit('container.updated', { containerId: container.id }),
    ]
    await webhooks.deliverDue()
    expect(receiver.deliveries.map(({ data }) => data!.id)).toEqual(ids)
    expect(included(receiver.deliveries[0], 'transport_event').attributes!.event).toBe(name)
    expect(() => webhooks.emit('container.updated', {})).toThrow(/needs a container that exists/)
    expect(() => webhooks.emit('document.none', { containerId: container.id })).toThrow(
      /has no transport event document\.none/,
    )
  })

  test('a burst comes at its pace, each notification once', async () => {
    const { notifications, seconds } = await simulator.webhooks.burst(30, { perSecond: 200 })
    expect(notifications).toBe(30)
    expect(seconds).toBeGreaterThan(29 / 200)
    expect(new Set(receiver.deliveries.map(({ data }) => data!.id)).size).toBe(30)
  })
})

test('the control surface disturbs, emits and delivers', async () => {
  const post = async (order: unknown) => {
    const url = `${simulator.url.replace('/v2', '')}/simulator/webhooks`
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(order) })
    return { status: response.status, text: await response.text() }
  }
  const { id } = newContainer()
  for (const order of [
    { disturb: { kind: 'thin', times: 1 } },
    { disturb: { kind: 'created_at', offset_ms: 1000, event: 'container.updated' } },
    { emit: { event: 'container.updated', container_id: id } },
    { clear: true },
    { emit: { event: 'container.created', container_id: id } },
  ]) {
    expect(await post(order)).toMatchObject({ status: 200 })
    if ('emit' in order) await simulator.webhooks.deliverDue()
  }
  const [first, second] = receiver.deliveries
  expect(first!.included).toBeUndefined()
  expect(first!.data!.attributes!.created_at).toBe('2026-03-04T12:00:01Z')
  expect(second!.included).toHaveLength(3)
  expect(await post({ deliver: true })).toMatchObject({ status: 200 })
  expect(await post({ burst: { count: 2 } })).toMatchObject({ status: 200 })
  await expect.poll(() => receiver.deliveries.length).toBe(4)
  for (const wrong of [
    { disturb: { kind: 'nothing' } },
    { disturb: { kind: 'drop' } },
    { emit: { event: 'container.created', container_id: 'none' } },
    { dance: true },
  ]) {
    expect(await post(wrong)).toMatchObject({ status: 422 })
  }
})
