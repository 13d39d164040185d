import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import type { WebhookAttributes } from '../../../src/extensions/simulator/webhooks/webhook-desk.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'
import { START } from './simulator-client.js'

const SECRET = 'a secret of the subscriber'

let receiver: WebhookReceiver
let simulator: Simulator

beforeEach(async () => {
  receiver = await startWebhookReceiver()
})

afterEach(async () => {
  await simulator.close()
  await receiver.close()
})

/** Standing still, one request at a time, retries at once. */
async function open(webhooks: SimulatorOptions['webhooks'] = {}): Promise<void> {
  simulator = await startSimulator({
    startAt: START,
    speed: 0,
    shipments: 20,
    rateLimitPerMinute: null,
    webhooks: { concurrency: 1, retryScale: 0, ...webhooks },
  })
}

function subscribe(attributes: Partial<WebhookAttributes> = {}): string {
  return simulator.webhooks.create({
    url: receiver.url,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: SECRET,
    headers: [],
    ...attributes,
  }).id
}

/** A notification of an own container, and what comes of it. */
async function deliver(): Promise<string> {
  const [id] = simulator.webhooks.emit('container.created', { containerId: containerIds()[0]! })
  await simulator.webhooks.deliverDue()
  await simulator.webhooks.settle()
  return id!
}

const containerIds = (): string[] =>
  simulator.world.page('container', 0, 5, START).map(({ id }) => id)
const statuses = (): unknown[] =>
  simulator.webhooks.notifications.map(({ attributes }) => attributes!.delivery_status)

describe('a delivery', () => {
  test('is signed over its raw bytes and carries the headers of the webhook', async () => {
    await open()
    const webhookId = subscribe({ headers: [{ name: 'x-own', value: 'yes' }] })
    const [containerId] = containerIds()
    simulator.edits.change('container', containerId!, { seal_number: 'NEW' })
    expect(await simulator.webhooks.deliverDue()).toBe(1)
    const [delivery] = receiver.deliveries
    expect(delivery!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-own': 'yes',
      'x-svc-webhook-signature': createHmac('sha256', SECRET).update(delivery!.body).digest('hex'),
    })
    const { id } = delivery!.data!
    expect(delivery!.data).toMatchObject({
      type: 'webhook_notification',
      attributes: {
        id,
        event: 'container.updated',
        delivery_status: 'pending',
        created_at: '2026-03-04T12:00:00Z',
      },
      relationships: {
        reference_object: { data: { type: 'container_updated_event' } },
        webhook: { data: { id: webhookId, type: 'webhook' } },
        webhook_notification_logs: { data: [] },
      },
    })
    expect(delivery!.included!.at(-1)!.attributes).toMatchObject({
      changeset: { seal_number: [expect.anything(), 'NEW'] },
    })
    expect(delivery!.included).toContainEqual(
      JSON.parse(JSON.stringify(simulator.world.record('container', containerId!, START))),
    )
    expect(statuses()).toEqual(['succeeded'])
  })

  test.each([
    [[200, 201, 202, 204], 1],
    [[203, 206, 302, 400, 401, 404, 500, 503, undefined], 3],
  ] as const)('answered with %s comes %i times, with the same bytes', async (answers, times) => {
    for (const status of answers) {
      await open(status === undefined ? { timeoutMs: 50 } : {})
      subscribe()
      receiver.deliveries.length = 0
      receiver.answer = () => (receiver.deliveries.length < 3 ? status : 202)
      await deliver()
      expect({ status, count: receiver.deliveries.length }).toEqual({ status, count: times })
      expect(new Set(receiver.deliveries.map(({ body }) => body.toString())).size).toBe(1)
      expect(statuses()).toEqual(['succeeded'])
      if (status !== answers.at(-1)) await simulator.close()
    }
  })

  test.each([
    ['that nobody receives is failed after twelve retries', 200, 'failed'],
    ['that the twelfth retry brings is received', 12, 'succeeded'],
  ])('%s', { tags: ['W17'] }, async (_, refused, outcome) => {
    await open()
    subscribe()
    receiver.answer = () => (receiver.deliveries.length <= refused ? 500 : 200)
    const id = await deliver()
    expect(receiver.deliveries.map(({ data }) => data!.id)).toEqual(Array(13).fill(id))
    expect(statuses()).toEqual([outcome])
  })
})
