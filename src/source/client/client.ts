import type { Dispatcher } from 'undici'
import {
  ApiRateLimitedError,
  ApiUnavailableError,
  ConfigError,
  ConnectorError,
} from '../../base/errors.js'
import { createRedactor, type Logger } from '../../base/logger.js'
import { openOutbound, type ProxySettings } from '../../base/outbound.js'
import {
  defaultRetryPolicy,
  retry,
  type Clock,
  type RetryPolicy,
  type RetryState,
  type Sleep,
} from '../../base/retry.js'
import { apiKeyProblem } from '../../base/service-address.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import type { RawDocument } from '../jsonapi/raw-record.js'
import { parseAnswer, splitAnswer, type Expectation, type ParsedAnswer } from './answer-document.js'
import {
  isStaleConnection,
  toCallError,
  toStatusError,
  type ReceivedAnswer,
} from './call-errors.js'
import {
  defaultTimeouts,
  exchange,
  LARGEST_ANSWER_BYTES,
  type ApiTimeouts,
  type HttpMethod,
  type RawAnswer,
} from './exchange.js'
import { parseBaseUrl, resolveSameOrigin, showPath } from './origin.js'
import type { RequestBudget, RequestPurpose } from './request-budget.js'
import { boundStamp, parseRetryAfter, SourceClock } from './source-clock.js'

export interface ApiClientOptions {
  /** Ends with the version segment, `…/v2`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly logger: Logger
  readonly clock: Clock
  readonly sleep: Sleep
  /** Returns numbers in [0, 1), for the jitter of retries. */
  readonly random: () => number
  readonly budget: RequestBudget
  readonly timeouts?: Partial<ApiTimeouts>
  /** The limit of one answer, after decompression. */
  readonly maxResponseBytes?: number
  readonly retryPolicy?: RetryPolicy
  /** Sockets kept to the service at most. */
  readonly connections?: number
  /** Opens a simulated network in place of sockets. */
  readonly open?: typeof openOutbound
  readonly userAgent?: string
  /** PEM of authorities to trust instead of the system's; for tests and private authorities. */
  readonly certificateAuthority?: string
  /** Absent: the service is reached directly. */
  readonly proxy?: ProxySettings | undefined
  /**
   * The database's clock: no stamp is beyond it. Without one, stamps follow the service's clock.
   */
  readonly databaseNow?: () => Promise<Date>
  /** Said where the service refuses the key: where its address comes from. */
  readonly keyAdvice?: string | undefined
  /** Ends every call that brings no signal of its own. */
  readonly signal?: AbortSignal
}

/** Counts requests, each try included; one per stream, say. */
export interface RequestCounter {
  requests: number
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly purpose?: RequestPurpose | undefined
  readonly counter?: RequestCounter | undefined
  /** `document` when absent. */
  readonly expect?: Expectation | undefined
}

export type ApiAnswer = ParsedAnswer & AnswerFacts

/** A page of a list; its records are not parsed. */
export interface RawPageAnswer extends AnswerFacts {
  readonly document: RawDocument
}

interface AnswerFacts {
  /**
   * The start of the request on the service's clock: nothing in the answer is older news than this.
   */
  readonly observedAt: Date
  readonly status: number
  /** Size of the body after decompression. */
  readonly bytes: number
}

export interface ApiStats {
  readonly requests: number
  readonly retries: number
  readonly rateLimited: number
  readonly staleConnections: number
  readonly bytes: number
  /** Since when every answer was "too many requests"; undefined after any other answer. */
  readonly rateLimitedSince: Date | undefined
  /** The service's clock minus ours, as far as known. */
  readonly clockOffsetMs: number
}

/** Makes the content of an answer with a good status. */
type ReadAnswer<Content> = (answer: ReceivedAnswer) => Content

/** One call, checked and ready to be sent as often as it takes. */
interface Call {
  readonly method: HttpMethod
  readonly url: URL
  /** Method and masked path, for messages. */
  readonly where: string
  readonly body: string | undefined
  readonly options: CallOptions
}

/**
 * No more requests than this may in a row die on connections the server had closed; beyond it, it
 * is a failure.
 */
const MOST_STALE_IN_A_ROW = 3

const SKEW_WORTH_A_WARNING_MS = 60_000

/**
 * A client for one account of the service: budget → exchange → classify → retry. Opens no
 * connection before the first call, and keeps its knowledge between calls: counts, the service's
 * clock, whether we are rate-limited.
 */
export class ApiClient {
  /** Without a trailing slash. */
  readonly baseUrl: URL
  readonly #options: ApiClientOptions
  readonly #connections: Dispatcher
  readonly #timeouts: ApiTimeouts
  readonly #redact: (text: string) => string
  readonly #counts = { requests: 0, retries: 0, rateLimited: 0, staleConnections: 0, bytes: 0 }
  readonly #sourceClock = new SourceClock()
  #rateLimitedSince: Date | undefined
  #isSkewReported = false

  /** Throws a `ConfigError` for an address or a key that cannot work. */
  constructor(options: ApiClientOptions) {
    // Before the HTTP library sees the key: it prints an invalid header value in its error.
    const problem = apiKeyProblem(options.apiKey)
    if (problem !== undefined) throw new ConfigError([{ setting: 'TRACKING_API_KEY', problem }])
    this.#options = options
    this.baseUrl = parseBaseUrl(options.baseUrl)
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts }
    this.#redact = createRedactor([options.apiKey])
    const { connections = 4, certificateAuthority, proxy, open = openOutbound } = options
    this.#connections = open(this.baseUrl.origin, {
      connections,
      connectMs: this.#timeouts.connectMs,
      certificateAuthority,
      proxy,
    })
  }

  /**
   * Reads a path below the base (`/containers`) or a URL that lies below it. Waits for the budget,
   * retries what is worth it, and throws the `Api…Error` classes of `errors.ts`; an abort rejects
   * with the signal's reason.
   */
  async get(pathOrUrl: string | URL, options?: CallOptions): Promise<ApiAnswer> {
    const call = this.#prepare('GET', pathOrUrl, undefined, options)
    return this.#run(call, (answer) => parseAnswer(answer, options?.expect))
  }

  /** The same for a page of a list. */
  async getPage(url: URL, options?: Omit<CallOptions, 'expect'>): Promise<RawPageAnswer> {
    return this.#run(this.#prepare('GET', url, undefined, options), splitAnswer)
  }

  /**
   * Changes something. PATCH and DELETE are retried like reads, because repeating them changes
   * nothing more. A POST is repeated only when the service cannot have acted on it: it was never
   * sent, or was refused with 429.
   */
  async send(
    method: Exclude<HttpMethod, 'GET'>,
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiAnswer> {
    const call = this.#prepare(method, path, body, options)
    return this.#run(call, (answer) => parseAnswer(answer, options?.expect))
  }

  stats(): ApiStats {
    return {
      ...this.#counts,
      rateLimitedSince: this.#rateLimitedSince,
      clockOffsetMs: this.#sourceClock.offsetMs,
    }
  }

  /** Closes all sockets; calls still under way fail. */
  async close(): Promise<void> {
    await this.#connections.destroy()
  }

  /** Throws `ApiRefusedError` for an address that does not lie below the base. */
  #prepare(
    method: HttpMethod,
    pathOrUrl: string | URL,
    body: unknown,
    options: CallOptions = {},
  ): Call {
    const url = resolveSameOrigin(this.baseUrl, pathOrUrl)
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return {
      method,
      url: resolveSameOrigin(this.baseUrl, url),
      where: `${method} ${showPath(url)}`,
      body: body === undefined ? undefined : stringifyExactJson(body),
      options: { ...options, signal: options.signal ?? this.#options.signal },
    }
  }

  /** Tries until it works or must not be tried again; see `decideRetry`. */
  async #run<Content>(call: Call, read: ReadAnswer<Content>): Promise<Content & AnswerFacts> {
    const { clock, sleep, random, logger, retryPolicy = defaultRetryPolicy } = this.#options
    return retry(() => this.#attempt(call, read), {
      clock,
      sleep,
      random,
      signal: call.options.signal,
      policy: retryPolicy,
      mayRepeat: (error) => call.method !== 'POST' || wasUntouched(error),
      onRetry: (error, waitMs, failures) => {
        this.#counts.retries += 1
        const level = failures > 2 || waitMs >= 10_000 ? 'warn' : 'debug'
        logger[level]('A request is tried again.', { request: call.where, waitMs, failures, error })
      },
      onGiveUp: (error, state) => describeTries(error, state, this.#rateLimitedSince),
    })
  }

  async #attempt<Content>(call: Call, read: ReadAnswer<Content>): Promise<Content & AnswerFacts> {
    const { where, url } = call
    const raw = await this.#send(call)
    const { status, body } = raw
    this.#counts.bytes += body.length
    const observedAt = await this.#bound(raw, this.#learnClock(raw))
    this.#options.logger.debug('Request answered.', { request: where, status, bytes: body.length })
    const { keyAdvice } = this.#options
    const answer = { ...raw, where, url, observedAt, redact: this.#redact, keyAdvice }
    if (status !== 429) this.#rateLimitedSince = undefined
    if (!isGoodStatus(call, status)) {
      const sourceNow = new Date(raw.answeredAt.getTime() + this.#sourceClock.offsetMs)
      const retryAfterMs = parseRetryAfter(raw.headers['retry-after'], sourceNow)
      const error = toStatusError(answer, retryAfterMs)
      if (status === 429) await this.#slowDown(retryAfterMs)
      throw error
    }
    return { ...read(answer), observedAt, status, bytes: body.length }
  }

  /**
   * One try. Requests that die on connections the server had closed meanwhile do not count as
   * failures of the source.
   */
  async #send(call: Call): Promise<RawAnswer> {
    const { budget, clock, maxResponseBytes: maxBytes = LARGEST_ANSWER_BYTES } = this.#options
    const { method, url, body, options } = call
    const { signal } = options
    const request = { method, url, headers: this.#headersFor(call), body, signal }
    const limits = { clock, timeouts: this.#timeouts, maxBytes }
    for (let stale = 0; ; stale += 1) {
      await budget.acquire({ signal, purpose: options.purpose })
      this.#counts.requests += 1
      if (options.counter !== undefined) options.counter.requests += 1
      try {
        return await exchange(this.#connections, request, limits)
      } catch (error) {
        signal?.throwIfAborted()
        const isRepeated = method === 'GET' && stale < MOST_STALE_IN_A_ROW
        if (!isRepeated || !isStaleConnection(error, this.#counts.bytes > 0)) {
          throw toCallError(error, call.where, this.#redact, this.#options.proxy !== undefined)
        }
        this.#counts.staleConnections += 1
      }
    }
  }

  #headersFor({ body }: Call): Record<string, string> {
    return {
      authorization: `Token ${this.#options.apiKey}`,
      accept: 'application/vnd.api+json, application/json',
      'accept-encoding': 'gzip',
      'user-agent': this.#options.userAgent ?? 'tracking-sync',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
  }

  #learnClock({ startedAt, answeredAt, headers }: RawAnswer): Date {
    this.#sourceClock.learn({ startedAt, answeredAt, dateHeader: headers.date })
    const { offsetMs } = this.#sourceClock
    if (Math.abs(offsetMs) > SKEW_WORTH_A_WARNING_MS && !this.#isSkewReported) {
      this.#isSkewReported = true
      const { logger } = this.#options
      logger.warn('The clocks of the service and of this machine disagree.', { offsetMs })
    }
    return this.#sourceClock.stamp(startedAt)
  }

  async #bound({ startedAt, answeredAt }: RawAnswer, observedAt: Date): Promise<Date> {
    const now = await this.#options.databaseNow?.()
    if (now === undefined) return observedAt
    const tripMs = Math.max(0, answeredAt.getTime() - startedAt.getTime())
    return boundStamp(observedAt, new Date(now.getTime() - tripMs))
  }

  /** Everyone who shares the budget waits with us: the limit is on the account. */
  async #slowDown(retryAfterMs: number | undefined): Promise<void> {
    const { clock, budget, retryPolicy = defaultRetryPolicy } = this.#options
    this.#counts.rateLimited += 1
    this.#rateLimitedSince ??= clock()
    if (retryAfterMs === undefined || retryAfterMs > retryPolicy.longestRetryAfterMs) return
    await budget.pauseUntil(new Date(clock().getTime() + retryAfterMs))
  }
}

/** A read is answered with 200 only; a change also with 201, 202 or 204. */
function isGoodStatus({ method, options }: Call, status: number): boolean {
  if (status === 200) return true
  if (method === 'GET') return false
  return status === 201 || status === 202 || (status === 204 && options.expect === 'anything')
}

/** True when the service cannot have acted on a request. */
function wasUntouched(error: unknown): boolean {
  if (error instanceof ApiRateLimitedError) return true
  return error instanceof ConnectorError && error.context.wasSent === false
}

/** The last error, with how often we tried and since when the service limits us. */
function describeTries(
  error: unknown,
  { failures, elapsedMs }: RetryState,
  rateLimitedSince: Date | undefined,
): unknown {
  if (!(error instanceof ApiRateLimitedError || error instanceof ApiUnavailableError)) return error
  const seconds = Math.round(elapsedMs / 1_000)
  const since = rateLimitedSince && `, rate-limited since ${rateLimitedSince.toISOString()}`
  error.message += ` Given up after ${failures} tries in ${seconds} s${since ?? ''}.`
  return error
}
