import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ConfigError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { answer } from './answer.js'
import { inTurns } from './turns.js'

export interface Route {
  /** Others are answered 405. */
  readonly methods: readonly string[]
  /** Answers the request. A thrown error is logged, and answered 500 without its message. */
  handle(request: IncomingMessage, response: ServerResponse): void | Promise<void>
}

export interface HttpLimits {
  readonly headerBytes: number
  /** Until the headers are complete; also for a silent connection. */
  readonly headersTimeoutMs: number
  /** Until headers and body are complete. */
  readonly requestTimeoutMs: number
  /** How often the two are checked. */
  readonly checkIntervalMs: number
  readonly keepAliveTimeoutMs: number
  /** More are closed as they come. */
  readonly connections: number
  readonly requestsPerConnection: number
}

/** With Node's defaults a slow sender holds any number of connections for minutes. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  headerBytes: 16 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 5_000,
  connections: 500,
  requestsPerConnection: 100,
}

export interface HttpServerOptions {
  /** 127.0.0.1 if absent. */
  readonly host?: string | undefined
  /** 0 takes a free one. */
  readonly httpPort: number
  /** By exact path; `/questions/*` takes every other path right below `/questions`. */
  readonly routes: Readonly<Record<string, Route>>
  readonly logger: Logger
  /** Called for a request that no route takes, before it is answered 404 or 405. Must not throw. */
  readonly onRefused?: (request: IncomingMessage, status: 404 | 405) => void
  readonly limits?: Partial<HttpLimits>
  /** The settings of its address, for errors; `TRACKING_HOST` and `PORT` if absent. */
  readonly settings?: { readonly host: string; readonly httpPort: string }
}

export interface HttpServer {
  /** Of this machine: `http://127.0.0.1:8080`. */
  readonly url: string
  readonly httpPort: number
  /**
   * Takes no new connection, closes those without a request, lets requests under way finish for at
   * most `graceMs`, then cuts what is left. Idempotent.
   */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts an HTTP server that strangers may reach: strict parser, short limits, a bounded number of
 * connections. Paths are compared as they were sent, neither decoded nor resolved. Throws
 * ConfigError where the address cannot be taken.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits }
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    joinDuplicateHeaders: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
  })
  server.maxRequestsPerSocket = limits.requestsPerConnection
  server.maxConnections = limits.connections
  const connections = createConnections()
  const dispatch = (request: IncomingMessage, response: ServerResponse): void => {
    connections.begin(request, response)
    handleRequest(options, request, response)
  }
  // A sender that has said all it will say still reads its answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  const parsers = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const connection = inTurns(socket)
    connections.add(connection)
    for (const parse of parsers) parse.call(server, connection)
  })
  server.on('request', dispatch)
  // The route that reads the body asks for it, so that a body too long is never sent.
  server.on('checkContinue', dispatch)
  server.on('clientError', (error, socket) => {
    refuseBrokenRequest(error, socket, connections)
  })
  await listen(server, options)
  // Without a listener, an error of the server itself would end the process.
  server.on('error', (error) => {
    options.logger.error('the HTTP server had an error', { error })
  })
  const { port, address } = server.address() as AddressInfo
  let stopping: Promise<void> | undefined
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    httpPort: port,
    stop: (graceMs) => (stopping ??= stop(server, connections, graceMs)),
  }
}

/**
 * The open connections, and the answers under way on each. Node closes no connection by itself that
 * has not sent a request yet.
 */
function createConnections() {
  const answers = new Map<Duplex, Set<ServerResponse>>()
  let isClosing = false

  return {
    add: (socket: Duplex): void => {
      answers.set(socket, new Set())
      socket.once('close', () => {
        answers.delete(socket)
      })
    },
    begin: ({ socket }: IncomingMessage, response: ServerResponse): void => {
      const open = answers.get(socket)
      open?.add(response)
      if (isClosing) response.shouldKeepAlive = false
      response.once('close', () => {
        open?.delete(response)
        if (isClosing && open?.size === 0) socket.destroy()
      })
    },
    /** Whether part of an answer was sent on it. */
    isAnswering: (socket: Duplex): boolean =>
      [...(answers.get(socket) ?? [])].some(({ headersSent }) => headersSent),
    /** Ends connections without a request now, the others after their answer. */
    closeWhenAnswered: (): void => {
      isClosing = true
      for (const [socket, open] of answers) {
        if (open.size === 0) socket.destroy()
        for (const response of open) {
          if (!response.headersSent) response.shouldKeepAlive = false
        }
      }
    },
  }
}

type Connections = ReturnType<typeof createConnections>

async function listen(
  server: Server,
  {
    host = '127.0.0.1',
    httpPort,
    settings = { host: 'TRACKING_HOST', httpPort: 'PORT' },
  }: HttpServerOptions,
): Promise<void> {
  server.listen(httpPort, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const found = LISTEN_PROBLEMS[code ?? '']
    if (found === undefined) throw error
    const { part, problem } = found
    const given = part === 'host' ? host : httpPort
    const setting = settings[part]
    throw new ConfigError([{ setting, problem: `is ${given}, which ${problem}` }], { cause: error })
  }
}

const LISTEN_PROBLEMS: Readonly<Record<string, { part: 'host' | 'httpPort'; problem: string }>> = {
  EADDRINUSE: { part: 'httpPort', problem: 'is in use; name another, or 0 for a free one' },
  EACCES: { part: 'httpPort', problem: 'may not be used by this user; name one above 1023' },
  EADDRNOTAVAIL: { part: 'host', problem: 'is not an address of this machine' },
  ENOTFOUND: { part: 'host', problem: 'is neither an address nor a known name' },
}

function handleRequest(
  { routes, logger, onRefused }: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const path = request.url?.split('?', 1)[0] ?? ''
  const below = `${path.slice(0, path.lastIndexOf('/'))}/*`
  const [known] = [path, below].filter((one) => Object.hasOwn(routes, one))
  const route = known === undefined ? undefined : routes[known]
  if (route === undefined) {
    onRefused?.(request, 404)
    answer(request, response, { status: 404, error: 'not_found' })
    return
  }
  if (!route.methods.includes(request.method ?? '')) {
    onRefused?.(request, 405)
    const headers = { allow: route.methods.join(', ') }
    answer(request, response, { status: 405, error: 'method_not_allowed', headers })
    return
  }
  void (async () => route.handle(request, response))().catch((error: unknown) => {
    logger.error('a request failed by a fault of the program', { path, error })
    if (response.headersSent) response.destroy()
    else answer(request, response, { status: 500, error: 'internal' })
  })
}

/** Nothing after what the parser refused can be trusted to be a request. */
function refuseBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  connections: Connections,
): void {
  if (socket.writable && !connections.isAnswering(socket)) {
    const status = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request'
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  }
  socket.destroy()
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

async function stop(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  connections.closeWhenAnswered()
  const timer = setTimeout(() => {
    server.closeAllConnections()
  }, graceMs)
  await closed
  clearTimeout(timer)
}
