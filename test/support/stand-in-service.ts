import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type JsonObject = Readonly<Record<string, unknown>>

export interface StandInRecord extends JsonObject {
  readonly id: string
  readonly type: string
  readonly attributes?: JsonObject
  readonly relationships?: Readonly<Record<string, JsonObject>>
}

export interface PayloadFile {
  readonly name: string
  readonly data: readonly StandInRecord[]
  readonly included: readonly StandInRecord[]
  readonly bytes: Buffer
}

export interface StandIn {
  readonly url: string
  readonly apiKey: string
  /** Path of every request that came, decoded. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

/** Every payload of a directory below `test/fixtures`. */
export function readPayloads(directory: string): PayloadFile[] {
  const place = new URL(`../fixtures/${directory}/`, import.meta.url)
  const names = readdirSync(place).filter((name) => name.endsWith('.json'))
  return names.map((name) => {
    const bytes = readFileSync(new URL(name, place))
    const { data, included = [] } = JSON.parse(bytes.toString()) as {
      data: StandInRecord | StandInRecord[]
      included?: StandInRecord[]
    }
    return { name, data: [data].flat(), included, bytes }
  })
}

/**
 * A service on a free loopback port that knows payloads and nothing of what they mean: a list
 * answers with the primary data of its type and all that came included with it, a read with the
 * record of that id, a path below a record with the records of that type that point to it. An id
 * without a payload answers 404.
 */
export async function startStandIn(payloads: readonly PayloadFile[]): Promise<StandIn> {
  const apiKey = 'stand-in-key'
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(new URL(request.url ?? '', 'http://localhost').pathname)
    const isKnown = request.headers.authorization === `Token ${apiKey}`
    const answer = isKnown && request.method === 'GET' ? answerTo(request, payloads) : undefined
    response.writeHead(answer !== undefined ? 200 : isKnown ? 404 : 401, {
      'content-type': 'application/vnd.api+json',
    })
    response.end(JSON.stringify(answer ?? { errors: [{ title: 'No such record' }] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    apiKey,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answerTo(
  request: IncomingMessage,
  payloads: readonly PayloadFile[],
): JsonObject | undefined {
  const { pathname } = new URL(request.url ?? '', 'http://localhost')
  const [, , collection = '', id, below] = pathname.split('/').map(decodeURIComponent)
  const all = payloads.flatMap(({ data, included }) => [...data, ...included])
  const isOf = (name: string) => (record: StandInRecord) => `${record.type}s` === name
  if (collection === 'webhooks' && id === 'events') {
    return list(all.filter(isOf('webhook_event_categorys')))
  }
  if (id === undefined) {
    const files = payloads.filter(({ data }) => data.some(isOf(collection)))
    const data = files.flatMap((file) => file.data.filter(isOf(collection)))
    return list(
      data,
      files.flatMap(({ included }) => included),
    )
  }
  if (below !== undefined) {
    return list(all.filter(isOf(below)).filter((record) => pointsTo(record, id)))
  }
  const record = all.filter(isOf(collection)).find((candidate) => candidate.id === id)
  return record && { data: record }
}

function list(data: readonly StandInRecord[], included: readonly StandInRecord[] = []): JsonObject {
  const isFirst = (record: StandInRecord, at: number): boolean =>
    data.findIndex(({ id }) => id === record.id) === at
  const once = data.filter(isFirst)
  return { data: once, included, links: {}, meta: { size: once.length, total: once.length } }
}

function pointsTo({ relationships = {} }: StandInRecord, id: string): boolean {
  return Object.values(relationships).some(
    ({ data }) => (data as { id?: unknown } | null | undefined)?.id === id,
  )
}
