import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'

/** An instant in the middle of a week without a change of daylight saving time. */
export const START = new Date('2026-03-04T12:00:00Z')

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly data: ResourceObject[]
  readonly included: ResourceObject[]
  readonly links: Readonly<Record<string, string>>
  readonly meta: Readonly<Record<string, unknown>>
  readonly errors: readonly Readonly<Record<string, unknown>>[]
}

/** Standing still, without a rate limit: what a test does not set does not move. */
export function startStillSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  return startSimulator({ startAt: START, speed: 0, rateLimitPerMinute: null, ...options })
}

/** A plain client: `path` is relative to the base address, or absolute. */
export async function ask(
  simulator: Simulator,
  path: string,
  init: RequestInit = {},
): Promise<Reply> {
  const url = path.startsWith('http') ? path : `${simulator.url}${path}`
  const response = await fetch(url, {
    redirect: 'manual',
    ...init,
    headers: { authorization: `Token ${simulator.apiKey}`, ...(init.headers as object) },
  })
  const text = await response.text()
  const document = parse(text)
  const data = document.data
  return {
    status: response.status,
    headers: response.headers,
    text,
    data: (Array.isArray(data) ? data : data ? [data] : []) as ResourceObject[],
    included: (document.included ?? []) as ResourceObject[],
    links: (document.links ?? {}) as Record<string, string>,
    meta: (document.meta ?? {}) as Record<string, unknown>,
    errors: (document.errors ?? []) as Record<string, unknown>[],
  }
}

export function send(
  simulator: Simulator,
  method: string,
  path: string,
  body: unknown,
): Promise<Reply> {
  return ask(simulator, path, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
