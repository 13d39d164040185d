import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
  type AuthInfo,
} from '@modelcontextprotocol/server'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from '../../http/answer.js'
import type { Route } from '../../http/http-server.js'
import { forListedHosts } from '../../http/listed-hosts.js'
import { createBodyMemory, readBody } from '../../http/read-body.js'
import { prepareServer, type McpOptions } from './create-server.js'
import type { McpAccess } from './tools/tool.js'

/** Calls are small: a statement of `sql` is the longest argument. */
const BODY_LIMITS = {
  maxBytes: 256 * 1024,
  timeoutMs: 10_000,
  memory: createBodyMemory(4 * 1024 * 1024),
}

const STATUSES = { too_large: 413, length: 400, timeout: 408, busy: 503, aborted: 400 } as const

/** An answer takes less, by the time limit of its statements. */
const MOST_MS = 120_000

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export interface McpHttpOptions extends McpOptions {
  /** Names by which this server is reached, besides `localhost` and addresses. */
  readonly hosts: ReadonlySet<string>
  /** Finds out who asks, before the body is read. Throws for others. */
  readonly admit: (incoming: IncomingMessage) => Promise<McpAccess>
  /** Waits for the turn of a request that is read. Throws if too many wait. */
  readonly takeTurn: (outgoing: ServerResponse) => Promise<void>
}

export interface McpRoute {
  /** For the path `/mcp`. */
  readonly route: Route
  /** Ends calls under way. */
  close(): Promise<void>
}

/**
 * Streamable HTTP: each request is answered by a server of its own, without sessions, in either
 * generation of the protocol. Names of other hosts, and pages of other origins, are refused.
 */
export async function createMcpRoute(given: McpHttpOptions): Promise<McpRoute> {
  const { hosts, admit, takeTurn, ...options } = given
  const create = await prepareServer(options)
  const handler = createMcpHandler(({ authInfo }) => create(accessIn(authInfo)), {
    // A stream of changes would keep its turn for ever, and nothing here changes.
    maxSubscriptions: 0,
    onerror: (error) => {
      options.logger.debug('a request of MCP was refused', { reason: error.message })
    },
  })
  const origins = [...localhostAllowedOrigins(), ...hosts]
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const access = await admit(incoming)
    const read = await readBody(incoming, outgoing, BODY_LIMITS)
    if (typeof read === 'string') {
      answer(incoming, outgoing, { status: STATUSES[read], error: read })
      return
    }
    try {
      if (isBatch(read.body)) {
        answer(incoming, outgoing, { status: 400, error: 'a request has one message, not a list' })
        return
      }
      const request = toRequest(incoming, outgoing, read.body)
      const refused = originValidationResponse(request, origins)
      if (refused === undefined) await takeTurn(outgoing)
      endLate(outgoing)
      await send(
        refused ??
          (await handler.fetch(request, carrying({ ...access, isGone: () => outgoing.destroyed }))),
        outgoing,
      )
    } finally {
      read.release()
    }
  }
  const route = { methods: ['POST', 'GET', 'DELETE'], handle }
  return { route: forListedHosts(route, hosts), close: () => handler.close() }
}

/** The handler gives it to the maker of the server, and looks at none of it. */
function carrying(access: McpAccess): { readonly authInfo: AuthInfo } {
  return { authInfo: { token: '', clientId: '', scopes: [], extra: { access } } }
}

function accessIn(authInfo: AuthInfo | undefined): McpAccess {
  if (authInfo?.extra?.access === undefined) throw new Error('nobody was admitted')
  return authInfo.extra.access as McpAccess
}

/** A list of calls would wait in one turn for the turns of a hundred. */
function isBatch(body: Buffer): boolean {
  return body.toString('utf8').trimStart().startsWith('[')
}

/** A reader that takes too long would keep its turn. */
function endLate(outgoing: ServerResponse): void {
  const timer = setTimeout(() => outgoing.destroy(), MOST_MS)
  outgoing.once('close', () => {
    clearTimeout(timer)
  })
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
  const headers = { ...HEADERS, ...Object.fromEntries(response.headers) }
  // The connection is the server's: kept open after its last request, it would answer 503.
  outgoing.writeHead(
    response.status,
    Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'connection')),
  )
  if (response.body !== null) {
    for await (const chunk of response.body) {
      if (outgoing.destroyed) break
      outgoing.write(chunk)
    }
  }
  outgoing.end()
}
