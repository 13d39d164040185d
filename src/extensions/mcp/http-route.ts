import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from '../../http/answer.js'
import type { Route } from '../../http/http-server.js'
import { forListedHosts } from '../../http/listed-hosts.js'
import { createBodyMemory, readBody } from '../../http/read-body.js'
import { prepareServer, type McpOptions } from './create-server.js'

/** Calls are small: a statement of `sql` is the longest argument. */
const BODY_LIMITS = {
  maxBytes: 256 * 1024,
  timeoutMs: 10_000,
  memory: createBodyMemory(4 * 1024 * 1024),
}

const STATUSES = { too_large: 413, length: 400, timeout: 408, busy: 503, aborted: 400 } as const

export interface McpHttpOptions extends McpOptions {
  /** Names by which this server is reached, besides `localhost` and addresses. */
  readonly hosts: ReadonlySet<string>
}

export interface McpRoute {
  /** For the path `/mcp`; its caller decides who may ask. */
  readonly route: Route
  /** Ends calls under way. */
  close(): Promise<void>
}

/**
 * Streamable HTTP: each request is answered by a server of its own, without sessions, in either
 * generation of the protocol. Names of other hosts, and pages of other origins, are refused.
 */
export async function createMcpRoute({ hosts, ...options }: McpHttpOptions): Promise<McpRoute> {
  const handler = createMcpHandler(await prepareServer(options), {
    onerror: (error) => {
      options.logger.debug('a request of MCP was refused', { reason: error.message })
    },
  })
  const origins = [...localhostAllowedOrigins(), ...hosts]
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const read = await readBody(incoming, outgoing, BODY_LIMITS)
    if (typeof read === 'string') {
      answer(incoming, outgoing, { status: STATUSES[read], error: read })
      return
    }
    try {
      const request = toRequest(incoming, outgoing, read.body)
      const refused = originValidationResponse(request, origins)
      await send(refused ?? (await handler.fetch(request)), outgoing)
    } finally {
      read.release()
    }
  }
  const route = { methods: ['POST', 'GET', 'DELETE'], handle }
  return { route: forListedHosts(route, hosts), close: () => handler.close() }
}

/** Aborted when the client goes away. */
function toRequest(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): Request {
  const { method = 'GET', url = '/', headers } = incoming
  const gone = new AbortController()
  outgoing.once('close', () => {
    gone.abort()
  })
  const named = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: named,
    signal: gone.signal,
    ...(method === 'POST' ? { body: new Uint8Array(body) } : {}),
  })
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body !== null) {
    for await (const chunk of response.body) {
      if (outgoing.destroyed) break
      outgoing.write(chunk)
    }
  }
  outgoing.end()
}
