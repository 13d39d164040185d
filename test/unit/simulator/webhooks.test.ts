import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { readPayloads } from '../../support/read-payloads.js'
import { startWebhookReceiver } from '../../support/webhook-receiver.js'

const DAY = 86_400_000

const samples = readPayloads('samples').filter(({ name }) => /^webhook-(?!events)/.test(name))

/**
 * Published in deliveries only; the reads of the service do not have them, and neither do those of
 * the simulator.
 */
const DELIVERIES_ONLY: Readonly<Record<string, readonly string[]>> = {
  tracking_request: ['shipment_tags', 'is_retrying', 'retry_count', 'customer', 'user'],
}

interface Shown {
  readonly type: string
  readonly attributes?: object
  readonly relationships?: object
}

const namesOf = ({ type, attributes, relationships }: Shown): string[] =>
  [...Object.keys(attributes ?? {}), ...Object.keys(relationships ?? {})]
    .filter((name) => !DELIVERIES_ONLY[type]?.includes(name))
    .toSorted()

test('deliveries have the types, attributes and relationships of the published ones', async () => {
  const receiver = await startWebhookReceiver()
  // Standing still, one request at a time, with a subscriber.
  const simulator = await startSimulator({
    startAt: new Date('2026-03-04T12:00:00Z'),
    speed: 0,
    shipments: 80,
    rateLimitPerMinute: null,
    webhooks: { concurrency: 1, deactivateAfter: null },
  })
  onTestFinished(async () => {
    await simulator.close()
    await receiver.close()
  })
  const events = WEBHOOK_EVENT_NAMES
  simulator.webhooks.create({
    url: receiver.url,
    active: true,
    events,
    secret: 'ours',
    headers: [],
  })
  simulator.clock.advance(10 * DAY)
  await simulator.webhooks.deliverDue()
  expect(samples.length).toBeGreaterThan(5)
  const reference = ({ relationships }: Shown) =>
    (relationships as { reference_object: { data: { type: string } } }).reference_object.data.type
  for (const { data: parts, included: publishedRecords } of samples) {
    const [sample] = parts
    const { event } = sample!.attributes!
    const sent = receiver.deliveries.filter(({ data }) => data!.attributes!.event === event)
    expect(sent, String(event)).not.toEqual([])
    for (const { data, included } of sent) {
      expect(namesOf(data!)).toEqual(namesOf(sample!))
      expect(reference(data!)).toBe(reference(sample!))
      for (const published of publishedRecords) {
        const ours = included!.find(({ type }) => type === published.type)
        // A shipment without a terminal brings none.
        if (ours === undefined) expect(['terminal', 'port', 'vessel']).toContain(published.type)
        else expect(namesOf(ours)).toEqual(expect.arrayContaining(namesOf(published)))
      }
    }
  }
})
