import { Pool } from 'undici'
import { ConfigError } from '../base/errors.js'
import { createRedactor, type Logger } from '../base/logger.js'
import { defaultRetryPolicy, type Clock, type RetryPolicy, type Sleep } from '../base/retry.js'
import { apiKeyProblem } from '../base/service-address.js'
import { CallRunner, type ApiAnswer, type ApiStats } from './call-runner.js'
import { prepareCall, type Call, type CallOptions } from './call.js'
import { defaultTimeouts, type ApiTimeouts, type HttpMethod } from './exchange.js'
import { parseBaseUrl } from './origin.js'
import type { RequestBudget } from './request-budget.js'
import { defaultBodyLimits, type BodyLimits } from './response-body.js'

export interface ApiClientOptions {
  /** Ends with the version segment, `…/v2`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly logger: Logger
  readonly clock: Clock
  readonly sleep: Sleep
  /** In [0, 1); for the jitter of retries. */
  readonly random: () => number
  readonly budget: RequestBudget
  readonly timeouts?: Partial<ApiTimeouts>
  readonly bodyLimits?: Partial<BodyLimits>
  readonly retryPolicy?: RetryPolicy
  /** Sockets kept to the service at most. */
  readonly connections?: number
  readonly userAgent?: string
  /** PEM of authorities to trust instead of the system's; for tests and private authorities. */
  readonly certificateAuthority?: string
  /**
   * The database's clock: no stamp is beyond it. Without one, stamps are as the service's clock
   * says.
   */
  readonly databaseNow?: () => Promise<Date>
  /** Ends every call that brings no signal of its own. */
  readonly signal?: AbortSignal
}

export interface ApiClient {
  /** Without a trailing slash. */
  readonly baseUrl: URL
  /**
   * Reads a path below the base (`/containers`) or a URL that lies below it. Waits for the budget,
   * retries what is worth it, and throws the `Api…Error` classes of `errors.ts`; an abort rejects
   * with the signal's reason.
   */
  get(pathOrUrl: string | URL, options?: CallOptions): Promise<ApiAnswer>
  /**
   * Changes something. PATCH and DELETE are retried like reads, because repeating them changes
   * nothing more. A POST is repeated only when the service cannot have acted on it: it was never
   * sent, or was refused with 429.
   */
  send(
    method: Exclude<HttpMethod, 'GET'>,
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiAnswer>
  stats(): ApiStats
  /** Closes all sockets; calls still under way fail. */
  close(): Promise<void>
}

/**
 * A client for one account of the service. Opens no connection before the first call. Throws a
 * `ConfigError` for an address or a key that cannot work.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  // Before the HTTP library sees the key: it prints an invalid header value in its error.
  const problem = apiKeyProblem(options.apiKey)
  if (problem !== undefined) throw new ConfigError([{ setting: 'TRACKING_API_KEY', problem }])
  const baseUrl = parseBaseUrl(options.baseUrl)
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const pool = createPool(baseUrl, options, timeouts)
  const { logger, clock, sleep, random, budget } = options
  const runner = new CallRunner({
    pool,
    headersFor: (call) => headersFor(call, options),
    budget,
    retryPolicy: options.retryPolicy ?? defaultRetryPolicy,
    logger,
    clock,
    sleep,
    random,
    databaseNow: options.databaseNow,
    redact: createRedactor([options.apiKey]),
    timeouts,
    bodyLimits: { ...defaultBodyLimits, ...options.bodyLimits },
  })
  const run = async (
    method: HttpMethod,
    pathOrUrl: string | URL,
    body: unknown,
    call: CallOptions = {},
  ): Promise<ApiAnswer> => {
    const signal = call.signal ?? options.signal
    return runner.run(prepareCall(baseUrl, method, pathOrUrl, body, { ...call, signal }))
  }
  return {
    baseUrl,
    get: (pathOrUrl, call) => run('GET', pathOrUrl, undefined, call),
    send: run,
    stats: () => runner.stats(),
    close: async () => {
      await pool.destroy()
    },
  }
}

function createPool(baseUrl: URL, options: ApiClientOptions, timeouts: ApiTimeouts): Pool {
  return new Pool(baseUrl.origin, {
    connections: options.connections ?? 4,
    pipelining: 1,
    allowH2: false,
    connect: {
      timeout: timeouts.connectMs,
      // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect here.
      rejectUnauthorized: true,
      ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
    },
  })
}

function headersFor(call: Call, options: ApiClientOptions): Record<string, string> {
  return {
    authorization: `Token ${options.apiKey}`,
    accept: 'application/vnd.api+json, application/json',
    // Not br: its large window makes honest pages of like records look like a bomb.
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent ?? 'tracking-sync',
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}
