import { ConnectorError } from './errors.js'

/** The present instant. Passed in everywhere, so that a test or the simulator can own time. */
export type Clock = () => Date

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/** The wait after the nth failure, doubled each time: for loops that never give up. */
export function backoffMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1))
}

export interface RetryPolicy {
  /** Number of retries of a failed operation. */
  readonly retries: number
  /** Number of retries after a rate limit. */
  readonly rateLimitRetries: number
  readonly baseMs: number
  readonly capMs: number
  /** Time limit for attempts, from the begin of the first one, or from its failure. */
  readonly giveUpAfterMs: number
  readonly isCountedFromFailure?: boolean
  /** The program does not wait if the service asks for a longer pause than this. */
  readonly longestRetryAfterMs: number
}

/** Five retries in ten minutes; eleven after a rate limit, which is not a failure. */
export const defaultRetryPolicy: RetryPolicy = {
  retries: 5,
  rateLimitRetries: 11,
  baseMs: 1_000,
  capMs: 60_000,
  giveUpAfterMs: 600_000,
  longestRetryAfterMs: 300_000,
}

export interface RetryState {
  /** How often the operation has failed, this time included: 1 after the first failure. */
  readonly failures: number
  /** Time since the first attempt began or failed; see `RetryPolicy.giveUpAfterMs`. */
  readonly elapsedMs: number
}

/**
 * The wait before the next attempt in milliseconds; undefined when the call must not be repeated.
 * Pure. `random` is in [0, 1).
 *
 * Full jitter: the wait is anywhere between 0 and `baseMs × 2^(failures − 1)`, at most `capMs`, so
 * that workers that failed together do not come back together. The wait that the service asks for
 * (`retryAfterMs` of the error) is the minimum; the function adds 0.1 to 1.9 s, one second on
 * average, because the service rounds to whole seconds and tells all workers the same number.
 */
export function decideRetry(
  error: unknown,
  { failures, elapsedMs }: RetryState,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (!(error instanceof ConnectorError) || error.fate !== 'retry') return undefined
  const asked = 'retryAfterMs' in error ? error.retryAfterMs : undefined
  const retryAfterMs = typeof asked === 'number' ? asked : undefined
  if (retryAfterMs !== undefined && retryAfterMs > policy.longestRetryAfterMs) return undefined
  const isRateLimit = error.code === 'api_rate_limited'
  if (failures > (isRateLimit ? policy.rateLimitRetries : policy.retries)) return undefined
  const ceilingMs = backoffMs(failures, policy.baseMs, policy.capMs)
  const floorMs = retryAfterMs === undefined ? 0 : retryAfterMs + 100 + random * 1_800
  const waitMs = Math.max(Math.round(random * ceilingMs), Math.round(floorMs))
  return elapsedMs + waitMs > policy.giveUpAfterMs ? undefined : waitMs
}

export interface RetryOptions {
  readonly clock: Clock
  readonly sleep: Sleep
  /** In [0, 1). */
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
  readonly policy?: RetryPolicy
  /** A veto: false for a failure that must not be repeated although its fate is `retry`. */
  readonly mayRepeat?: (error: unknown) => boolean
  /** Called before each wait. */
  readonly onRetry?: (error: unknown, waitMs: number, failures: number) => void
  /** Makes of the last error of a repeatable operation what the caller gets to see. */
  readonly onGiveUp?: (error: unknown, state: RetryState) => unknown
}

/**
 * Runs an operation until it succeeds or `decideRetry` gives up; then the last error is thrown. An
 * abort rejects with the signal's reason, during a wait at once, and is never retried.
 */
export async function retry<Result>(
  operation: () => Promise<Result>,
  options: RetryOptions,
): Promise<Result> {
  const { clock, sleep, random, signal, policy = defaultRetryPolicy } = options
  let countedFrom = clock().getTime()
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted()
    try {
      return await operation()
    } catch (error) {
      signal?.throwIfAborted()
      if (failures === 1 && policy.isCountedFromFailure === true) countedFrom = clock().getTime()
      const state = { failures, elapsedMs: Math.max(0, clock().getTime() - countedFrom) }
      if (options.mayRepeat?.(error) === false) throw error
      const waitMs = decideRetry(error, state, policy, random())
      if (waitMs === undefined) throw options.onGiveUp?.(error, state) ?? error
      options.onRetry?.(error, waitMs, failures)
      await sleep(waitMs, signal)
    }
  }
}

/** `setTimeout` counts in signed 32-bit milliseconds; a longer wait would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The real `Sleep`, for waits of any length. */
export function createSleep(): Sleep {
  return async (ms, signal) => {
    for (let leftMs = Math.max(0, ms); leftMs >= 0; leftMs -= LONGEST_TIMER_MS) {
      await waitOnce(Math.min(leftMs, LONGEST_TIMER_MS), signal)
    }
  }
}

function waitOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
