import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type JsonObject = Readonly<Record<string, unknown>>

export interface SampleRecord extends JsonObject {
  readonly id: string
  readonly type: string
}

interface SampleDocument {
  readonly data: SampleRecord | readonly SampleRecord[]
  readonly included?: readonly SampleRecord[]
}

export interface SampleService {
  readonly url: string
  readonly apiKey: string
  /** Path and query of every request that came, decoded. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

const directory = new URL('../fixtures/samples/', import.meta.url)

export function readSample(name: string): {
  readonly data: readonly SampleRecord[]
  readonly included: readonly SampleRecord[]
} {
  const text = readFileSync(new URL(`${name}.json`, directory), 'utf8')
  const { data, included = [] } = JSON.parse(text) as SampleDocument
  return { data: Array.isArray(data) ? (data as SampleRecord[]) : [data as SampleRecord], included }
}

/** Bodies of deliveries; what they include rides along on the pages of the lists. */
export const DELIVERIES = [
  'webhook-container-created',
  'webhook-container-pickup-lfd-changed',
  'webhook-container-transport-available',
  'webhook-container-transport-rail-loaded',
  'webhook-container-transport-vessel-arrived',
  'webhook-container-updated',
  'webhook-shipment-estimated-arrival',
  'webhook-tracking-request-succeeded',
] as const

interface Answer {
  readonly data: unknown
  readonly included?: readonly SampleRecord[]
}

/**
 * The published payloads as a service on a free loopback port: the lists, reads and included
 * resources they are. Records are unchanged; only `links` and `meta` of the documents are this
 * server's. A path without a published payload answers 404; a request without the key 401.
 */
export async function startSampleService(): Promise<SampleService> {
  const apiKey = 'sample-service-key'
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(decodeURIComponent(request.url ?? ''))
    const answer = authorized(request, apiKey) ? answerTo(request) : undefined
    const status = answer !== undefined ? 200 : authorized(request, apiKey) ? 404 : 401
    const origin = `http://${request.headers.host ?? ''}`
    const body =
      answer === undefined
        ? { errors: [{ status: String(status), title: 'No such record' }] }
        : { ...answer, ...frameOf(answer, `${origin}${request.url ?? ''}`) }
    response.writeHead(status, { 'content-type': 'application/vnd.api+json' })
    response.end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v2`,
    apiKey,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function authorized(request: IncomingMessage, apiKey: string): boolean {
  return request.headers.authorization === `Token ${apiKey}`
}

function frameOf({ data }: Answer, self: string): JsonObject {
  if (!Array.isArray(data)) return { links: { self } }
  return { links: { self, next: null }, meta: { size: data.length, total: data.length } }
}

/** Included resources of deliveries, by the list they belong to. */
function includedInDeliveries(isWanted: (record: SampleRecord) => boolean): SampleRecord[] {
  return DELIVERIES.flatMap((name) => readSample(name).included.filter(isWanted))
}

function answerTo(request: IncomingMessage): Answer | undefined {
  const path = new URL(request.url ?? '', 'http://localhost').pathname
  const [, , collection = '', id, below] = path.split('/').map(decodeURIComponent)
  if (request.method !== 'GET') return undefined
  if (id === undefined) return listOf(collection)
  if (below !== undefined) {
    const isListOfEvents = collection === 'containers' && below === 'transport_events'
    return isListOfEvents ? transportEventsOf(id) : undefined
  }
  return readOf(collection, id)
}

function listOf(collection: string): Answer | undefined {
  switch (collection) {
    case 'shipments':
      return {
        data: readSample('shipments-list').data,
        included: [
          ...readSample('container-get').included.filter(({ type }) => type === 'shipment'),
          ...includedInDeliveries(({ type }) => type === 'shipment' || isOwnKindOfEvent(type)),
        ],
      }
    case 'containers':
      return {
        data: [...readSample('containers-list').data, ...readSample('container-get').data],
        included: [
          ...includedInDeliveries(
            ({ type }) =>
              !['shipment', 'tracking_request'].includes(type) && !isOwnKindOfEvent(type),
          ),
          // Their container was not published, so nobody would ask for them.
          ...readSample('container-transport-events').data,
        ],
      }
    case 'tracking_requests': {
      const read = readSample('tracking-request-get')
      const delivered = readSample('webhook-tracking-request-succeeded').included
      return {
        data: [...read.data, ...delivered.filter(({ type }) => type === 'tracking_request')],
        included: read.included,
      }
    }
    default:
      return undefined
  }
}

/** Types of events for changes of containers and estimates; the interface does not define them. */
function isOwnKindOfEvent(type: string): boolean {
  return type.endsWith('_event') && type !== 'transport_event'
}

/**
 * All published events of the container, from every payload: a service does not contradict itself.
 */
function transportEventsOf(containerId: string): Answer {
  const published = [
    ...readSample('container-transport-events').data,
    ...includedInDeliveries(({ type }) => type === 'transport_event'),
  ]
  return { data: published.filter((record) => linkedId(record, 'container') === containerId) }
}

function linkedId({ relationships }: SampleRecord, name: string): unknown {
  const linkage = (
    relationships as Record<string, { data?: { id?: unknown } | null }> | undefined
  )?.[name]
  return linkage?.data?.id
}

const READS: Readonly<Record<string, string>> = {
  containers: 'container-get',
  ports: 'port-get',
  terminals: 'terminal-get',
  vessels: 'vessel-get',
  tracking_requests: 'tracking-request-get',
}

function readOf(collection: string, id: string): Answer | undefined {
  if (collection === 'webhooks' && id === 'events')
    return { data: readSample('webhook-events').data }
  const sample = READS[collection]
  if (sample === undefined) return undefined
  const { data, included } = readSample(sample)
  const [record] = data
  const { code, imo } = (record?.attributes ?? {}) as { code?: unknown; imo?: unknown }
  const isAsked = record?.id === id || code === id || imo === id
  return isAsked ? { data: record, included } : undefined
}
