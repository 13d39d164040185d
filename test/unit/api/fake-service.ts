import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { afterEach } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { ApiClient, type ApiClientOptions } from '../../../src/source/client/client.js'
import { unlimitedBudget } from '../../support/unlimited-budget.js'
import type { Clock, Sleep } from '../../../src/base/retry.js'

/** Looks like a key and appears nowhere else, so that a leak is found by searching for it. */
export const canaryKey = 'canary-key-2f8c41d9'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface FakeService {
  readonly baseUrl: string
  readonly origin: string
  /** `GET /v2/containers?…` of every request that came, query decoded. */
  readonly requests: string[]
  readonly headers: IncomingMessage['headers'][]
  close(): Promise<void>
}

/**
 * A real HTTP server on a free loopback port. Answers are taken from the script in order; the last
 * one is repeated.
 */
export async function startFakeService(...script: readonly Answer[]): Promise<FakeService> {
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  let served = 0
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${decodeURIComponent(request.url ?? '')}`)
    headers.push(request.headers)
    const answer = script[Math.min(served, script.length - 1)]
    served += 1
    answer?.(request, response)
  })
  const origin = await listen(server)
  return { baseUrl: `${origin}/v2`, origin, requests, headers, close: () => stop(server) }
}

export async function listen(server: NetServer): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

/** Answers with a status, a body (a value becomes JSON) and headers. */
export function reply(
  status: number,
  body: unknown = '',
  headers: Readonly<Record<string, string | string[]>> = {},
): Answer {
  return (_request, response) => {
    const isText = typeof body === 'string' || Buffer.isBuffer(body)
    response.writeHead(status, { 'content-type': 'application/vnd.api+json', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }
}

export function container(id: string): { readonly id: string; readonly type: string } {
  return { id, type: 'container' }
}

export const emptyList = { data: [] }

/** A clock that moves only by its own sleeps, which take no real time. */
export function createVirtualTime(start = '2026-03-01T00:00:00Z'): {
  readonly clock: Clock
  readonly sleep: Sleep
  readonly slept: number[]
} {
  let now = new Date(start).getTime()
  const slept: number[] = []
  return {
    slept,
    clock: () => new Date(now),
    sleep: (ms, signal) => {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
      slept.push(ms)
      now += ms
      return Promise.resolve()
    },
  }
}

/** A client with virtual time for waits and without a budget; sockets and their limits are real. */
export function createTestClient(
  baseUrl: string,
  options: Partial<ApiClientOptions> = {},
): ApiClient {
  const { clock, sleep } = createVirtualTime()
  return new ApiClient({
    baseUrl,
    apiKey: canaryKey,
    logger: silentLogger,
    clock,
    sleep,
    random: () => 0.5,
    budget: unlimitedBudget,
    ...options,
  })
}

/** The error of a rejected promise; fails the test when it was not rejected. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof Error) return outcome
  throw new Error('expected a rejection with an Error')
}

/** For a file: services and clients that are closed after each of its tests, the last one first. */
export function useServices() {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  const connect = (baseUrl: string, options: Partial<ApiClientOptions> = {}): ApiClient => {
    const client = createTestClient(baseUrl, options)
    closers.push(() => client.close())
    return client
  }
  const start = async (script: Answer | readonly Answer[], options?: Partial<ApiClientOptions>) => {
    const service = await startFakeService(...[script].flat())
    closers.push(() => service.close())
    return { service, client: connect(service.baseUrl, options) }
  }
  return { connect, start, atEnd: (close: () => Promise<void>) => void closers.push(close) }
}
