/** The instants at which a request was sent and the head of its answer came, on our clock. */
export interface ClockSample {
  readonly startedAt: Date
  readonly answeredAt: Date
  /** The answer's `Date` header as it came. Missing or garbage leaves the estimate as it is. */
  readonly dateHeader: string | undefined
}

/**
 * Our knowledge of the service's clock. Every answer carries `Date` in whole seconds: while the
 * answer was made, between our `startedAt` and our `answeredAt`, the service's clock was in [date,
 * date + 1 s). So the offset (service − ours) lies in [date − answeredAt, date + 1 s − startedAt].
 * Many answers narrow that interval down; one that contradicts it shows that one of the two clocks
 * was moved.
 */
export class SourceClock {
  #offsetMs = 0
  #lowestMs = -Infinity
  #highestMs = Infinity
  /**
   * The start of the latest stamped request, and its stamp; no later request may get an earlier
   * one.
   */
  #lastStartedAt = -Infinity
  #lastStamp = -Infinity

  /** Added to an instant of ours, gives the instant at the service. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /**
   * Takes one answer into the estimate. An offset of 0 is kept for as long as the answers allow it,
   * so that two clocks which agree give our own stamps; else the bound nearest to 0 is taken. After
   * a contradiction the estimate starts again from this answer alone, with its lower bound: a stamp
   * that is too old costs a refetch, one that is too new would hide a later fact.
   */
  learn(sample: ClockSample): void {
    const date = sample.dateHeader === undefined ? undefined : parseHttpDate(sample.dateHeader)
    if (date === undefined) return
    const startedAt = sample.startedAt.getTime()
    const answeredAt = Math.max(startedAt, sample.answeredAt.getTime())
    const seenLowest = date.getTime() - answeredAt
    const seenHighest = date.getTime() + 1_000 - startedAt
    this.#lowestMs = Math.max(this.#lowestMs, seenLowest)
    this.#highestMs = Math.min(this.#highestMs, seenHighest)
    this.#offsetMs = Math.min(Math.max(0, this.#lowestMs), this.#highestMs)
    if (this.#lowestMs <= this.#highestMs) return
    this.#offsetMs = this.#lowestMs = seenLowest
    this.#highestMs = seenHighest
    // The service's clock went back if it is now before a stamp we gave; only then may stamps go
    // back with it.
    const isStampPossible = this.#lastStamp < date.getTime() + 1_000
    if (isStampPossible && startedAt >= this.#lastStartedAt) return
    this.#lastStartedAt = this.#lastStamp = -Infinity
  }

  /**
   * The earliest instant of the content of an answer: the start of its request, on the service's
   * clock. A request that began later never gets an earlier stamp, unless the service's clock was
   * put back. One that began earlier but ended later is not raised: it may have been read earlier.
   */
  stamp(startedAt: Date): Date {
    const start = startedAt.getTime()
    const estimate = start + this.#offsetMs
    if (start < this.#lastStartedAt) return new Date(estimate)
    this.#lastStartedAt = start
    this.#lastStamp = Math.max(estimate, this.#lastStamp)
    return new Date(this.#lastStamp)
  }
}

/** A clock that is ahead by less is not wrong: it shows whole seconds, and answers travel. */
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
 * The wait that a `Retry-After` header demands, in milliseconds: whole seconds, or an HTTP-date
 * compared with `now`, an instant on the service's clock. May be far too long for a timer.
 * Undefined where the header has nothing usable (`0.5`, `-1`, `0x10`, `1e9`, two values): then the
 * usual backoff applies.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const askedMs = /^\d{1,20}$/.test(text)
    ? Number(text) * 1_000
    : (parseHttpDate(text)?.getTime() ?? NaN) - now.getTime()
  return Number.isNaN(askedMs) ? undefined : Math.max(SHORTEST_PAUSE_MS, askedMs)
}
