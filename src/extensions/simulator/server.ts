import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, gzipSync } from 'node:zlib'
import { errorAnswer, type Answer, type ServiceRequest } from './interface/answers.js'
import { createClock, type Clock } from './world/clock.js'
import { answerControl } from './interface/control.js'
import { createEdits, type Edits } from './world/edits.js'
import { answerRequest } from './interface/answer-request.js'
import { deliver, faultyContent, faultyDocument, type Outgoing } from './faults/fault-responses.js'
import {
  createFaultScript,
  type DeliveryFault,
  type FaultScript,
  type FaultsInForce,
} from './faults/faults.js'
import { createIds } from './world/ids.js'
import { DEFAULT_INCLUDES, type AcceptedIncludes } from './interface/included-records.js'
import type { Service } from './interface/record-answers.js'
import type { FilterRule } from './interface/list-filters.js'
import { createRateLimit, type RateLimit } from './interface/rate-limit.js'
import { createRequestLog, type RequestLog } from './interface/request-log.js'
import {
  createSimulatedWebhooks,
  type SimulatedWebhooks,
  type WebhookMachine,
} from './webhooks/simulated-webhooks.js'
import type { WebhookOptions } from './webhooks/webhook-options.js'
import { createWorld, type World } from './world/world.js'

export { WEBHOOK_EVENT_NAMES } from './webhooks/webhook-catalog.js'

export interface SimulatorOptions {
  /** Two simulators with the same seed, shipments and start serve the same world. Default 1. */
  readonly seed?: number
  /** The number at the start. Default 300. */
  readonly shipments?: number
  /** The start of the virtual clock. Default: the real time now. */
  readonly startAt?: Date
  /** Virtual seconds per real second; 0 stops the clock. Default 1. */
  readonly speed?: number
  /** Default `simulator-key`. */
  readonly apiKey?: string
  /** Default 0: a free one. */
  readonly httpPort?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** In any rolling 60 real seconds; null: no limit. Default 100. */
  readonly rateLimitPerMinute?: number | null
  /** The length of the minute in real milliseconds; 60,000 unless a test has less time. */
  readonly rateLimitWindowMs?: number
  /** Default 30. */
  readonly pageSizeDefault?: number
  /** Larger sizes are cut to it without a word. Default 100. */
  readonly pageSizeMax?: number
  /** Per type; replaces the default of the types it names. */
  readonly acceptedIncludes?: AcceptedIncludes
  /** A 400, or an answer without it. Default `reject`. */
  readonly onUnknownInclude?: 'reject' | 'ignore'
  /**
   * How `filter[tracking_stopped]` of shipments and `filter[updated_at][start]` of tracking
   * requests are treated. Default `obey`.
   */
  readonly filters?: FilterRule
  /** Attributes that published payloads have beyond the interface. Default true. */
  readonly extras?: boolean
  /** Let `POST /webhooks/trigger` take an `http:` URL. Default false. */
  readonly allowInsecureTrigger?: boolean
  /** Make the secret of each webhook and take none from its creator. Default false: take it. */
  readonly makesSecrets?: boolean
  /** How notifications are sent. */
  readonly webhooks?: WebhookOptions
}

export interface Simulator {
  /** The base address, ending with `/v2`. */
  readonly url: string
  readonly apiKey: string
  readonly clock: Clock
  /** The data it serves, edits included: compare a warehouse with this. */
  readonly world: World
  readonly edits: Edits
  readonly faults: FaultScript
  readonly requests: RequestLog
  readonly webhooks: SimulatedWebhooks
  /** Answers without a socket: for a simulated network. */
  answer(request: PlainRequest): PlainAnswer
  /** Ends at once, open answers included. */
  close(): Promise<void>
}

/** A request whose body was read. */
export interface PlainRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body?: unknown
}

/** An answer and how its bytes are to travel. */
export interface PlainAnswer {
  readonly outgoing: Outgoing
  readonly delivery?: DeliveryFault | undefined
}

interface Running extends Service {
  readonly apiKey: string
  readonly clock: Clock
  readonly faults: FaultScript
  readonly requests: RequestLog
  readonly rateLimit: RateLimit
  readonly sending: WebhookMachine
}

/** Starts a simulated tracking service on this machine. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const running = createRunning(options)
  const server = createServer((request, response) => {
    respond(running, request, response).catch((error: unknown) => {
      // A scripted transform may throw; the script's author should see why.
      const detail = error instanceof Error ? error.message : 'The simulator failed.'
      const answer = errorAnswer(500, 'Internal Server Error', detail)
      if (!response.headersSent) deliver(response, toOutgoing(answer, new Date()), undefined)
    })
  })
  server.keepAliveTimeout = 60_000
  const { httpPort = 0, host = '127.0.0.1' } = options
  server.listen(httpPort, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { apiKey, clock, world, edits, faults, requests, sending } = running
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  sending.open(origin)
  return {
    url: `${origin}/v2`,
    apiKey,
    clock,
    world,
    edits,
    faults,
    requests,
    webhooks: sending.webhooks,
    answer: (request) => answerPlainly(running, request),
    close: async () => {
      await sending.close()
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function createRunning(options: SimulatorOptions): Running {
  const { seed = 1, shipments = 300, startAt = new Date(), speed = 1 } = options
  const realNow = (): number => performance.now()
  const clock = createClock(startAt, speed, realNow)
  const ids = createIds(seed)
  const edits = createEdits(ids, () => clock.now())
  const { extras = true, pageSizeDefault = 30, pageSizeMax = 100 } = options
  const { rateLimitPerMinute = 100, onUnknownInclude = 'reject' } = options
  const world = createWorld({ seed, shipments, startAt, extras }, edits)
  const parts = { seed, extras, startAt, clock, world, edits }
  const sending = createSimulatedWebhooks({ ...parts, options: options.webhooks ?? {} })
  return {
    apiKey: options.apiKey ?? 'simulator-key',
    clock,
    world,
    edits,
    sending,
    faults: createFaultScript(),
    requests: createRequestLog(),
    rateLimit: createRateLimit(rateLimitPerMinute, options.rateLimitWindowMs ?? 60_000, realNow),
    includes: {
      accepted: { ...DEFAULT_INCLUDES, ...options.acceptedIncludes },
      onUnknown: onUnknownInclude,
    },
    pages: { defaultSize: pageSizeDefault, largestSize: pageSizeMax },
    filters: options.filters ?? 'obey',
    webhooks: {
      desk: sending.webhooks,
      record: sending.record,
      allowInsecureTrigger: options.allowInsecureTrigger ?? false,
      makesSecrets: options.makesSecrets ?? false,
    },
  }
}

const NO_FAULTS: FaultsInForce = { query: [], document: [], content: [], delivery: undefined }

async function respond(
  running: Running,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = incoming.method ?? 'GET'
  const address = `http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`
  const url = new URL(URL.canParse(address) ? address : 'http://localhost/')
  const { headers } = incoming
  const body = await readBody(incoming)
  if (body === 'unreadable') {
    const answer = errorAnswer(400, 'Bad Request', 'The body is not JSON.')
    deliver(response, toOutgoing(answer, running.clock.now()), undefined)
    return
  }
  const answer = answerPlainly(running, { method, url, headers, body: body.value })
  deliver(response, answer.outgoing, answer.delivery)
}

function answerPlainly(running: Running, incoming: PlainRequest): PlainAnswer {
  const { method, url, headers, body } = incoming
  if (url.pathname === '/simulator' || url.pathname.startsWith('/simulator/')) {
    const answer = answerControl(running, method, url.pathname, body)
    return { outgoing: toOutgoing(answer, new Date()) }
  }
  const request: ServiceRequest = {
    method,
    path: url.pathname.replace(/^\/v2(?=\/|$)/, ''),
    query: url.searchParams,
    headers,
    body,
    at: running.clock.now(),
    origin: url.origin,
  }
  const isService = url.pathname.startsWith('/v2/')
  const refusal = isService ? refuse(running, request) : errorAnswer(404, 'Not Found', 'See /v2.')
  const faults = refusal === undefined ? running.faults.meet(request) : NO_FAULTS
  const outgoing = compose(running, request, refusal, faults)
  running.requests.note({
    method,
    path: url.pathname,
    query: url.search.slice(1),
    status: isSilent(faults) ? undefined : outgoing.status,
    at: request.at,
  })
  return { outgoing, delivery: faults.delivery }
}

function isSilent({ delivery }: FaultsInForce): boolean {
  return (
    delivery?.kind === 'drop' || (delivery?.kind === 'hang' && delivery.phase === 'beforeHeaders')
  )
}

/** The answer to a request that may not be served at all; undefined for the others. */
function refuse(running: Running, { headers }: ServiceRequest): Answer | undefined {
  if (headers.authorization !== `Token ${running.apiKey}`) {
    return errorAnswer(401, 'Unauthorized', 'The API key is missing or wrong.')
  }
  const limited = running.rateLimit.take()
  if (limited === undefined) return undefined
  return errorAnswer(429, 'Too Many Requests', 'The rate limit of this account is used up.', {
    headers: { 'retry-after': String(limited.retryAfterSeconds) },
  })
}

function compose(
  running: Running,
  request: ServiceRequest,
  refusal: Answer | undefined,
  faults: FaultsInForce,
): Outgoing {
  const answer = refusal ?? answerRequest(running, request, faults.query)
  let { document } = answer
  for (const fault of faults.document) document = faultyDocument(document, fault, request)
  let outgoing = toOutgoing({ ...answer, document }, request.at)
  // A fault that counts bytes counts those of the JSON.
  const isPlain = faults.content.length > 0 || faults.delivery !== undefined
  const isWorthIt = outgoing.body.length >= LEAST_COMPRESSED_BYTES
  if (!isPlain && isWorthIt && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
    outgoing = compress(outgoing)
  }
  for (const fault of faults.content.toReversed()) outgoing = faultyContent(outgoing, fault)
  return outgoing
}

function toOutgoing({ status, document, headers }: Answer, at: Date): Outgoing {
  return {
    status,
    headers: {
      'content-type': 'application/vnd.api+json',
      date: at.toUTCString(),
      ...headers,
    },
    body: Buffer.from(JSON.stringify(document)),
    hasDate: true,
  }
}

/** Services leave small answers as they are; 1 KiB is where Express's compression begins. */
const LEAST_COMPRESSED_BYTES = 1_024

function compress(outgoing: Outgoing): Outgoing {
  return {
    ...outgoing,
    headers: { ...outgoing.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: gzipSync(outgoing.body, { level: constants.Z_BEST_SPEED }),
  }
}

async function readBody(incoming: IncomingMessage): Promise<{ value: unknown } | 'unreadable'> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    return { value: text === '' ? undefined : (JSON.parse(text) as unknown) }
  } catch {
    // A client that went away in the middle gets the same answer, and does not see it.
    return 'unreadable'
  }
}
