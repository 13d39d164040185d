import type { Pool } from 'undici'
import {
  ApiRateLimitedError,
  ApiRefusedError,
  ApiUnavailableError,
  ConnectorError,
} from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { retry, type Clock, type RetryPolicy, type RetryState, type Sleep } from '../base/retry.js'
import { limitsOf, parseAnswer, type ParsedAnswer } from './answer-document.js'
import { toStatusError } from './answer-errors.js'
import type { Call } from './call.js'
import { exchange, type ExchangeOptions, type RawAnswer } from './exchange.js'
import { isStaleConnection, isUsageError, toNetworkError } from './network-errors.js'
import type { RequestBudget } from './request-budget.js'
import { parseRetryAfter, type RetryAfter } from './retry-after.js'
import {
  boundStamp,
  learnSourceClock,
  stampRequest,
  unknownSourceClock,
  type SourceClock,
} from './source-clock.js'

export interface CallRunnerOptions extends ExchangeOptions {
  readonly pool: Pool
  readonly headersFor: (call: Call) => Readonly<Record<string, string>>
  readonly budget: RequestBudget
  readonly retryPolicy: RetryPolicy
  readonly logger: Logger
  readonly clock: Clock
  readonly sleep: Sleep
  readonly random: () => number
  readonly redact: (text: string) => string
  /** The clock that no stamp is beyond; see `boundStamp`. */
  readonly databaseNow?: (() => Promise<Date>) | undefined
}

export interface ApiAnswer extends ParsedAnswer {
  /**
   * The start of the request on the service's clock: nothing in the answer is older news than this.
   */
  readonly observedAt: Date
  readonly status: number
  /** Size of the body after decompression. */
  readonly bytes: number
  /** Requests it took, this one included. */
  readonly attempts: number
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

/**
 * No more requests than this may in a row die on connections the server had closed; beyond it, it
 * is a failure.
 */
const MOST_STALE_IN_A_ROW = 3

const SKEW_WORTH_A_WARNING_MS = 60_000

/**
 * Runs calls: budget → exchange → classify → retry. Keeps what is learned on the way: counts, the
 * service's clock, whether we are rate-limited.
 */
export class CallRunner {
  readonly #options: CallRunnerOptions
  readonly #counts = { requests: 0, retries: 0, rateLimited: 0, staleConnections: 0, bytes: 0 }
  #rateLimitedSince: Date | undefined
  #sourceClock: SourceClock = unknownSourceClock
  #isSkewReported = false

  constructor(options: CallRunnerOptions) {
    this.#options = options
  }

  stats(): ApiStats {
    return {
      ...this.#counts,
      rateLimitedSince: this.#rateLimitedSince,
      clockOffsetMs: this.#sourceClock.offsetMs,
    }
  }

  /** Tries until it works or must not be tried again; see `decideRetry`. */
  async run(call: Call): Promise<ApiAnswer> {
    const { clock, sleep, random, retryPolicy, logger } = this.#options
    return retry(() => this.#attempt(call), {
      clock,
      sleep,
      random,
      signal: call.options.signal,
      policy: retryPolicy,
      mayRepeat: (error) => call.method !== 'POST' || wasUntouched(error),
      onRetry: (error, waitMs, failures) => {
        this.#counts.retries += 1
        logger.debug('Request failed and will be tried again.', {
          request: call.where,
          waitMs,
          failures,
          error,
        })
      },
      onGiveUp: (error, _reason, state) => describeTries(error, state, this.#rateLimitedSince),
    })
  }

  async #attempt(call: Call): Promise<ApiAnswer> {
    const { logger, redact } = this.#options
    const raw = await this.#send(call)
    this.#counts.bytes += raw.body.length
    const observedAt = await this.#bound(raw, this.#learnClock(raw))
    const { status, body } = raw
    const bytes = body.length
    logger.debug('Request answered.', { request: call.where, status, bytes })
    const contentType = one(raw.headers['content-type'])
    const limits = limitsOf(call.url)
    const answer = { where: call.where, status, body, contentType, redact, limits }
    if (status !== 429) this.#rateLimitedSince = undefined
    if (!isGoodStatus(call, status)) {
      const retryAfter = this.#readRetryAfter(raw)
      const location = one(raw.headers.location)
      if (status === 429) await this.#slowDown(retryAfter)
      const text = body.toString('utf8')
      const said = { ...answer, text, location, retryAfter }
      throw toStatusError({ ...said, requestUrl: call.url, observedAt })
    }
    const { expect = 'document', areRecordsRaw } = call.options
    const parsed = parseAnswer(answer, expect, areRecordsRaw)
    return { ...parsed, observedAt, status, bytes, attempts: call.sent.requests }
  }

  /**
   * One try. Requests that die on connections the server had closed meanwhile do not count as
   * failures of the source.
   */
  async #send(call: Call): Promise<RawAnswer> {
    const { pool, budget, headersFor } = this.#options
    const { method, url, body, options } = call
    const { signal } = options
    const request = { method, url, headers: headersFor(call), body, signal }
    for (let stale = 0; ; stale += 1) {
      await budget.acquire({ signal, purpose: options.purpose })
      this.#counts.requests += 1
      call.sent.requests += 1
      if (options.counter !== undefined) options.counter.requests += 1
      try {
        return await exchange(pool, request, this.#options)
      } catch (error) {
        signal?.throwIfAborted()
        const isRepeated = method === 'GET' && stale < MOST_STALE_IN_A_ROW
        if (!isRepeated || !isStaleConnection(error, this.#counts.bytes > 0)) {
          throw this.#translate(error, call)
        }
        this.#counts.staleConnections += 1
      }
    }
  }

  #translate(error: unknown, call: Call): unknown {
    const { redact } = this.#options
    if (error instanceof ApiRefusedError) {
      return new ApiRefusedError(`${call.where}: ${error.message}.`)
    }
    if (isUsageError(error)) return error
    return toNetworkError(error, call.where, redact)
  }

  #learnClock(raw: RawAnswer): Date {
    const learned = learnSourceClock(this.#sourceClock, {
      startedAt: raw.startedAt,
      endedAt: raw.answeredAt,
      dateHeader: one(raw.headers.date),
    })
    const { observedAt, sourceClock } = stampRequest(learned, raw.startedAt)
    this.#sourceClock = sourceClock
    const { offsetMs } = sourceClock
    if (Math.abs(offsetMs) > SKEW_WORTH_A_WARNING_MS && !this.#isSkewReported) {
      this.#isSkewReported = true
      this.#options.logger.warn('The clocks of the service and of this machine disagree.', {
        offsetMs,
      })
    }
    return observedAt
  }

  async #bound(raw: RawAnswer, observedAt: Date): Promise<Date> {
    const now = await this.#options.databaseNow?.()
    if (now === undefined) return observedAt
    const tripMs = Math.max(0, raw.answeredAt.getTime() - raw.startedAt.getTime())
    return boundStamp(observedAt, new Date(now.getTime() - tripMs))
  }

  #readRetryAfter(raw: RawAnswer): RetryAfter | undefined {
    const sourceNow = new Date(raw.answeredAt.getTime() + this.#sourceClock.offsetMs)
    return parseRetryAfter(raw.headers['retry-after'], sourceNow)
  }

  /** Everyone who shares the budget waits with us: the limit is on the account. */
  async #slowDown(retryAfter: RetryAfter | undefined): Promise<void> {
    const { clock, budget } = this.#options
    this.#counts.rateLimited += 1
    this.#rateLimitedSince ??= clock()
    if (retryAfter?.kind !== 'wait') return
    await budget.pauseUntil(new Date(clock().getTime() + retryAfter.ms))
  }
}

function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}

/** A read is answered with 200 only; a change also with 201, 202 or 204. */
function isGoodStatus(call: Call, status: number): boolean {
  if (status === 200) return true
  const isEmptyAllowed = call.options.expect === 'anything'
  if (call.method === 'GET') return false
  return status === 201 || status === 202 || (status === 204 && isEmptyAllowed)
}

/** True when the service cannot have acted on a request. */
function wasUntouched(error: unknown): boolean {
  if (error instanceof ApiRateLimitedError) return true
  return error instanceof ConnectorError && error.context.wasSent === false
}

/**
 * The last error of many, with what was tried said in its message, and since when the service
 * refuses to answer more.
 */
function describeTries(
  error: unknown,
  { failures, elapsedMs }: RetryState,
  rateLimitedSince: Date | undefined,
): unknown {
  if (!(error instanceof ApiRateLimitedError || error instanceof ApiUnavailableError)) return error
  const seconds = Math.round(elapsedMs / 1_000)
  const since =
    rateLimitedSince === undefined ? '' : `, rate-limited since ${rateLimitedSince.toISOString()}`
  const message = `${error.message} Given up after ${failures} tries in ${seconds} s${since}.`
  const { cause, context, retryAfterMs } = error
  const options = { ...(cause === undefined ? {} : { cause }), context, retryAfterMs }
  return error instanceof ApiRateLimitedError
    ? new ApiRateLimitedError(message, options)
    : new ApiUnavailableError(message, options)
}
