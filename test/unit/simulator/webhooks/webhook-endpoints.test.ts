import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Simulator } from '../../../../src/extensions/simulator/server.js'
import type { TriggerRequest } from '../../../../src/extensions/simulator/webhooks/webhook-desk.js'
import { ask, send, startStillSimulator } from '../simulator-client.js'

let simulator: Simulator

beforeEach(async () => {
  simulator = await startStillSimulator({ shipments: 2 })
})

afterEach(() => simulator.close())

test('a webhook is created, listed, edited and removed', async () => {
  const created = await send(simulator, 'POST', '/webhooks', {
    data: {
      type: 'webhook',
      attributes: {
        url: 'https://example.com/hook',
        events: ['container.updated'],
        secret: 's3cret',
      },
    },
  })
  const [webhook] = created.data
  expect(webhook).toMatchObject({
    type: 'webhook',
    attributes: {
      url: 'https://example.com/hook',
      active: true,
      events: ['container.updated'],
      headers: [],
    },
  })
  expect((await ask(simulator, '/webhooks')).data).toEqual([webhook])
  const edited = await send(simulator, 'PATCH', `/webhooks/${webhook!.id}`, { active: false })
  expect(edited.data[0]!.attributes!.active).toBe(false)
  expect((await ask(simulator, `/webhooks/${webhook!.id}`)).data).toEqual(edited.data)
  expect((await ask(simulator, `/webhooks/${webhook!.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await ask(simulator, `/webhooks/${webhook!.id}`)).status).toBe(404)
  expect((await ask(simulator, '/webhooks')).data).toEqual([])
})

test('a webhook needs an address and known events', async () => {
  expect((await send(simulator, 'POST', '/webhooks', {})).status).toBe(422)
  const wrong = { url: 'https://example.com', events: ['container.exploded'] }
  expect((await send(simulator, 'POST', '/webhooks', wrong)).status).toBe(422)
})

test('the catalogue has every transport event, and the addresses are told', async () => {
  const { data } = await ask(simulator, '/webhooks/events')
  const names = data.flatMap(({ attributes }) =>
    (attributes!.events as { name: string; description: string }[]).map(({ name }) => name),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(
    expect.arrayContaining([
      'tracking_request.succeeded',
      'shipment.estimated.arrival',
      'container.created',
      'document.extraction_failed',
    ]),
  )
  expect(
    names.filter((name) => /^(container\.(transport|pickup)|document)/.test(name)),
  ).toHaveLength(35)
  expect((await ask(simulator, '/webhooks/ips')).text).toContain('192.0.2.10')
})

test('a trigger is accepted for an HTTPS address and handed on', async () => {
  const triggered: TriggerRequest[] = []
  simulator.webhooks.onTrigger = (trigger) => triggered.push(trigger)
  const body = { url: 'https://example.com/hook', event: 'tracking_request.succeeded', secret: 'x' }
  expect((await send(simulator, 'POST', '/webhooks/trigger', body)).status).toBe(200)
  expect(triggered).toEqual([body])
  for (const url of ['http://example.com', 'file:///etc/passwd', 'nothing', undefined]) {
    expect((await send(simulator, 'POST', '/webhooks/trigger', { ...body, url })).status).toBe(422)
  }
  expect(triggered).toHaveLength(1)
})

test('notifications are listed by their delivery status', async () => {
  const notification = (id: string, status: string) => ({
    id,
    type: 'webhook_notification',
    attributes: { delivery_status: status },
  })
  simulator.webhooks.notifications.push(notification('a', 'failed'), notification('b', 'succeeded'))
  const failed = await ask(simulator, '/webhook_notifications?filter[delivery_status]=failed')
  expect(failed.data.map(({ id }) => id)).toEqual(['a'])
  expect((await ask(simulator, '/webhook_notifications')).data).toHaveLength(2)
})
