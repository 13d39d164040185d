import { parseHttpDate } from './source-clock.js'

/**
 * A longer pause than five minutes is not waited for: the stream ends here and keeps its
 * checkpoint.
 */
const LONGEST_MS = 300_000
const SHORTEST_MS = 1_000

export type RetryAfter =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Beyond 300 s. `ms` is what the service asked for; never hand it to a timer. */
  | { readonly kind: 'too_long'; readonly ms: number }

/**
 * What a `Retry-After` header asks for: whole seconds, or an HTTP-date compared with `now` (an
 * instant on the service's clock). Zero and the past mean one second. Undefined where the header
 * says nothing usable (`0.5`, `-1`, `0x10`, `1e9`, two values): then the usual backoff applies.
 */
export function parseRetryAfter(
  header: string | readonly string[] | undefined,
  now: Date,
): RetryAfter | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^\d{1,20}$/.test(text)) return clamp(Number(text) * 1_000)
  const until = parseHttpDate(text)
  return until === undefined ? undefined : clamp(until.getTime() - now.getTime())
}

function clamp(ms: number): RetryAfter {
  if (ms > LONGEST_MS) return { kind: 'too_long', ms }
  return { kind: 'wait', ms: Math.max(SHORTEST_MS, ms) }
}
