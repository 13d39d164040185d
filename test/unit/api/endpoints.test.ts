import { expect, test } from 'vitest'
import {
  createTrackingService,
  type TrackingService,
} from '../../../src/source/client/endpoints.js'
import type { RawPage } from '../../../src/source/client/list-pages.js'
import { ApiContractError } from '../../../src/base/errors.js'
import { container, failureOf, reply, useServices } from './fake-service.js'

const services = useServices()

async function start(body: unknown, status = 200) {
  const bodies: string[] = []
  const paths: (string | undefined)[] = []
  const { service, client } = await services.start((request, response) => {
    let text = ''
    paths.push(request.url)
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      bodies.push(text)
      reply(status, body)(request, response)
    })
  })
  return { service, bodies, paths, api: createTrackingService(client) }
}

async function firstPage(pages: AsyncIterable<RawPage>): Promise<RawPage | undefined> {
  for await (const page of pages) return page
  return undefined
}

const one = '?page[number]=1'
test.each<[string, (api: TrackingService) => AsyncIterable<RawPage>]>([
  [`/shipments${one}`, (api) => api.listRecords('shipments')],
  [
    `/containers${one}&page[size]=50&include=shipment`,
    (api) => api.listRecords('containers', { pageSize: 50, includes: ['shipment'] }),
  ],
  [`/tracking_requests${one}`, (api) => api.listRecords('tracking_requests')],
  [`/containers/a/transport_events${one}`, (api) => api.listTransportEvents('a')],
  [`/webhooks${one}`, (api) => api.listWebhooks()],
  [
    `/webhook_notifications${one}&filter[delivery_status]=failed`,
    (api) => api.listWebhookNotifications({ deliveryStatus: 'failed' }),
  ],
  [`/webhook_notifications${one}`, (api) => api.listWebhookNotifications()],
])('lists GET %s', async (path, list) => {
  const { api, service } = await start({ data: [container('1')] })
  expect((await firstPage(list(api)))?.document.primary).toHaveLength(1)
  expect(service.requests).toEqual([`GET /v2${path}`])
})

test.each<[string, (api: TrackingService) => Promise<unknown>]>([
  [
    '/shipments/a?include=containers,pod_terminal',
    (api) => api.getRecord('shipments', 'a', { includes: ['containers', 'pod_terminal'] }),
  ],
  ['/containers/a', (api) => api.getRecord('containers', 'a', { includes: [] })],
  ['/tracking_requests/a', (api) => api.getRecord('tracking_requests', 'a')],
  ['/ports/DEHAM', (api) => api.getRecord('ports', 'DEHAM')],
  ['/vessels/9301809', (api) => api.getRecord('vessels', '9301809', { showPositions: false })],
  [
    '/vessels/9301809?show_positions=true',
    (api) => api.getRecord('vessels', '9301809', { showPositions: true }),
  ],
  ['/webhook_notifications/a', (api) => api.getRecord('webhook_notifications', 'a')],
])('reads GET %s', async (path, read) => {
  const { api, service } = await start({ data: container('1') })
  await read(api)
  expect(service.requests).toEqual([`GET /v2${path}`])
})

test('reads the catalogue of webhook events and the sender addresses', async () => {
  const { api, service } = await start({ data: [] })
  await api.getWebhookEvents()
  await api.getWebhookIps()
  expect(service.requests).toEqual(['GET /v2/webhooks/events', 'GET /v2/webhooks/ips'])
  const bare = await start({ ips: ['192.0.2.1'] })
  expect((await bare.api.getWebhookIps()).body).toEqual({ ips: ['192.0.2.1'] })
})

const hook = { url: 'https://x.example', active: true, events: ['container.updated'] }
const sample = { url: hook.url, event: 'container.updated' }
const sent = (type: string, attributes: object, id?: string) => ({ data: { id, type, attributes } })
test.each<[string, unknown, (api: TrackingService) => Promise<unknown>]>([
  [
    'PATCH /v2/containers/a/custom_fields/po',
    sent('custom_field', { value: 7 }),
    (api) => api.updateCustomField('containers', 'a', 'po', 7),
  ],
  ['POST /v2/webhooks', sent('webhook', hook), (api) => api.createWebhook(hook)],
  [
    'PATCH /v2/webhooks/w',
    sent('webhook', { active: true }, 'w'),
    (api) => api.updateWebhook('w', { active: true }),
  ],
  ['POST /v2/webhooks/trigger', sample, (api) => api.triggerWebhook(sample)],
  ['DELETE /v2/webhooks/w', undefined, (api) => api.deleteWebhook('w')],
])('changes %s', async (request, sent, change) => {
  const { api, service, bodies } = await start({ data: container('1') })
  await change(api)
  expect(service.requests).toEqual([request])
  expect(bodies[0] === '' ? undefined : JSON.parse(bodies[0]!)).toEqual(sent)
})

test('encodes an id, so that it stays one segment of the path', async () => {
  const { api, paths } = await start({ data: container('1') })
  await api.getRecord('containers', 'a/b?c#d e%2f..')
  await api.updateCustomField('containers', 'x/y', 'po#1', 'v')
  expect(paths).toEqual([
    '/v2/containers/a%2Fb%3Fc%23d%20e%252f..',
    '/v2/containers/x%2Fy/custom_fields/po%231',
  ])
})

test.each(['', '.', '..', '\ud800', 'a\u0000b', 'x'.repeat(256)])(
  'the id %j, which no path can carry, costs its record and no request',
  { tags: ['T7'] },
  async (id) => {
    const { api, service } = await start({ data: container('1') })
    expect(await failureOf(api.getRecord('containers', id))).toBeInstanceOf(ApiContractError)
    expect(service.requests).toHaveLength(0)
  },
)
