import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
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

/** A service without records on a free loopback port: its key gets 404, any other 401. */
export async function startStandIn(): Promise<StandIn> {
  const apiKey = 'stand-in-key'
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(new URL(request.url ?? '', 'http://localhost').pathname)
    const isKnown = request.headers.authorization === `Token ${apiKey}`
    response.writeHead(isKnown ? 404 : 401, { 'content-type': 'application/vnd.api+json' })
    response.end(JSON.stringify({ errors: [{ title: 'No such record' }] }))
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
