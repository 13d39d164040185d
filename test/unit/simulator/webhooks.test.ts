import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import type { WebhookAttributes } from '../../../src/extensions/simulator/webhooks/webhook-desk.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'

const START = new Date('2026-03-04T12:00:00Z')
const DAY = 86_400_000
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

/** Standing still, one request at a time, with a subscriber. Returns its id. */
async function open(shipments = 20, headers: WebhookAttributes['headers'] = []): Promise<string> {
  simulator = await startSimulator({
    startAt: START,
    speed: 0,
    shipments,
    rateLimitPerMinute: null,
    webhooks: { concurrency: 1, deactivateAfter: null },
  })
  const events = WEBHOOK_EVENT_NAMES
  const { url } = receiver
  return simulator.webhooks.create({ url, active: true, events, secret: SECRET, headers }).id
}

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
  await open(80)
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
