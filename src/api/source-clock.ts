/**
 * What we know of the service's clock. Every answer carries `Date` in whole seconds: while the
 * answer was made, between our `startedAt` and our `endedAt`, the service's clock stood in [date,
 * date + 1 s). So the offset (service − ours) lies in [date − endedAt, date + 1 s − startedAt].
 * Many answers narrow that interval down; an answer that contradicts it tells that one of the two
 * clocks was moved.
 */
export interface SourceClock {
  /** Added to an instant of ours, gives the instant at the service. */
  readonly offsetMs: number
  readonly lowestMs: number
  readonly highestMs: number
  /**
   * Up to which start of a request a stamp was given, and that stamp; nothing later may get an
   * earlier one.
   */
  readonly lastStartedAt: number
  readonly lastStamp: number
}

export const unknownSourceClock: SourceClock = {
  offsetMs: 0,
  lowestMs: -Infinity,
  highestMs: Infinity,
  lastStartedAt: -Infinity,
  lastStamp: -Infinity,
}

/** When a request was sent and when the head of its answer came, on our clock. */
export interface ClockSample {
  readonly startedAt: Date
  readonly endedAt: Date
  /** The answer's `Date` header as it came. Missing or garbage leaves the estimate as it is. */
  readonly dateHeader: string | undefined
}

/**
 * Takes one answer into the estimate. An offset of 0 is kept for as long as the answers allow it,
 * so that two clocks which agree give our own stamps; else the bound nearest to 0 is taken. After a
 * contradiction the estimate starts again from this answer alone, with its lower bound: a stamp
 * that is too old costs a refetch, one that is too new would hide a later fact.
 */
export function learnSourceClock(known: SourceClock, sample: ClockSample): SourceClock {
  const date = sample.dateHeader === undefined ? undefined : parseHttpDate(sample.dateHeader)
  if (date === undefined) return known
  const startedAt = sample.startedAt.getTime()
  const endedAt = Math.max(startedAt, sample.endedAt.getTime())
  const seenLowest = date.getTime() - endedAt
  const seenHighest = date.getTime() + 1_000 - startedAt
  const lowestMs = Math.max(known.lowestMs, seenLowest)
  const highestMs = Math.min(known.highestMs, seenHighest)
  if (lowestMs > highestMs) {
    const again = { offsetMs: seenLowest, lowestMs: seenLowest, highestMs: seenHighest }
    // The service's clock went back if it now stands before a stamp we gave; only then may stamps
    // go back with it.
    const isStampPossible = known.lastStamp < date.getTime() + 1_000
    return isStampPossible && startedAt >= known.lastStartedAt
      ? { ...known, ...again }
      : { ...unknownSourceClock, ...again }
  }
  return { ...known, lowestMs, highestMs, offsetMs: Math.min(Math.max(0, lowestMs), highestMs) }
}

/**
 * When the service can have known what an answer says: the start of its request, on the service's
 * clock. A request that began later never gets an earlier stamp, unless the service's clock was put
 * back. One that began earlier but ended later is not raised: it may have been read earlier.
 */
export function stampRequest(
  known: SourceClock,
  startedAt: Date,
): { readonly observedAt: Date; readonly sourceClock: SourceClock } {
  const start = startedAt.getTime()
  const estimate = start + known.offsetMs
  if (start < known.lastStartedAt) return { observedAt: new Date(estimate), sourceClock: known }
  const stamp = Math.max(estimate, known.lastStamp)
  const sourceClock = { ...known, lastStartedAt: start, lastStamp: stamp }
  return { observedAt: new Date(stamp), sourceClock }
}

/** A clock that is ahead by less is not wrong: it tells whole seconds, and answers travel. */
export const STAMP_TOLERANCE_MS = 10_000

/**
 * A stamp as it may be written: never beyond `latest`, the instant of the request by the database's
 * clock, plus a small tolerance. A stamp that lies in the future would hide what comes after it.
 */
export function boundStamp(observedAt: Date, latest: Date): Date {
  return new Date(Math.min(observedAt.getTime(), latest.getTime() + STAMP_TOLERANCE_MS))
}

const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * An HTTP-date in the one form that servers still send (RFC 9110, IMF-fixdate); undefined for
 * anything else. `Date.parse` alone would take `0.5`, `-5` or `Jan 1` for dates.
 */
export function parseHttpDate(text: string): Date | undefined {
  const trimmed = text.trim()
  if (!HTTP_DATE.test(trimmed)) return undefined
  const instant = new Date(trimmed)
  return Number.isNaN(instant.getTime()) ? undefined : instant
}

/** Zero and the past mean one second. */
const SHORTEST_PAUSE_MS = 1_000

/**
 * What a `Retry-After` header asks for, in milliseconds: whole seconds, or an HTTP-date compared
 * with `now`, an instant on the service's clock. May be far too long for a timer. Undefined where
 * the header says nothing usable (`0.5`, `-1`, `0x10`, `1e9`, two values): then the usual backoff
 * applies.
 */
export function parseRetryAfter(
  header: string | readonly string[] | undefined,
  now: Date,
): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  const askedMs = /^\d{1,20}$/.test(text)
    ? Number(text) * 1_000
    : (parseHttpDate(text)?.getTime() ?? NaN) - now.getTime()
  return Number.isNaN(askedMs) ? undefined : Math.max(SHORTEST_PAUSE_MS, askedMs)
}
