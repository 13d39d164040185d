import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSimulator, type Simulator } from '../../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.js'
import { START } from '../simulator-client.js'

const SECRET = 'a secret of the subscriber'
const WEEK = 7 * 86_400_000

let receiver: WebhookReceiver
let simulator: Simulator

async function open(seed = 1): Promise<void> {
  simulator = await startSimulator({
    seed,
    startAt: START,
    speed: 0,
    shipments: 20,
    webhooks: { concurrency: 1, retryDelaysMs: [0, 0], deactivateAfter: null },
  })
  simulator.webhooks.create({
    url: receiver.url,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: SECRET,
    headers: [],
  })
}

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  await open()
})

afterEach(async () => {
  await simulator.close()
  await receiver.close()
})

/** The notifications of a week, sent at once. */
async function deliverWeek(): Promise<string[]> {
  simulator.clock.advance(WEEK)
  await simulator.webhooks.deliverDue()
  await simulator.webhooks.settle()
  return receiver.deliveries.map(({ data }) => data?.id ?? '')
}

const madeIds = (): string[] => simulator.webhooks.notifications.map(({ id }) => id).toReversed()

/** Another simulator of the same seed. */
async function openAgain(): Promise<void> {
  await simulator.close()
  receiver.deliveries.length = 0
  await open()
}

test('without a script everything comes once, in order and the same each time', async () => {
  const ids = await deliverWeek()
  expect(ids.length).toBeGreaterThan(40)
  expect(ids).toEqual(madeIds())
  expect(new Set(ids).size).toBe(ids.length)
  const first = receiver.deliveries.map(({ body }) => body.toString())
  await openAgain()
  // However often somebody looks.
  for (let part = 0; part < 20; part++) {
    simulator.clock.advance(WEEK / 20)
    await simulator.webhooks.deliverDue()
  }
  expect(receiver.deliveries.map(({ body }) => body.toString())).toEqual(first)
})

test('a share is taken of the same notifications in every run', async () => {
  const takeShare = async (): Promise<string[]> => {
    const drop = { kind: 'drop', as: 'failed' } as const
    simulator.webhooks.script.add({ disturbance: drop, share: 0.3 })
    return deliverWeek()
  }
  const left = await takeShare()
  const made = madeIds()
  expect(left.length).toBeGreaterThan(made.length * 0.5)
  expect(left.length).toBeLessThan(made.length * 0.9)
  await openAgain()
  expect(await takeShare()).toEqual(left)
})

test('a reordering changes places within its window, the same way each time', async () => {
  simulator.webhooks.script.add({ disturbance: { kind: 'reorder', window: 5 } })
  const ids = await deliverWeek()
  const made = madeIds()
  expect(ids).not.toEqual(made)
  for (let start = 0; start < made.length; start += 5) {
    expect(ids.slice(start, start + 5).toSorted()).toEqual(made.slice(start, start + 5).toSorted())
  }
  await openAgain()
  simulator.webhooks.script.add({ disturbance: { kind: 'reorder', window: 5 } })
  expect(await deliverWeek()).toEqual(ids)
})
