import { createTask, parse } from 'node-cron'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Further than a zone's clock has ever been from UTC, so it brackets every change around a day. */
const BRACKET_MS = 26 * HOUR_MS
/** 29 February falls on a given weekday once in 28 years, once in 40 around a year like 2100. */
const DAYS_LOOKED_AT = 41 * 366

/**
 * The next `count` slots of a cron expression after an instant, in milliseconds since 1970, sorted.
 * Five fields, or six with seconds in front.
 *
 * `node-cron` reads the expression and decides which days it names. It skips a slot that summer
 * time jumps over and is silent in the hour that comes twice in autumn, so the clock times of a day
 * become instants here, by the rule of Vixie cron:
 * - a clock time that does not exist runs at the end of the gap;
 * - a clock time that comes twice runs the first time, or both times where the expression names
 *   every hour. Such an expression means "every so many minutes".
 *
 * Throws on an expression that is not valid. Costs microseconds, or some milliseconds for a slot
 * that is years away.
 */
export function nextSlots(
  expression: string,
  timeZone: string,
  after: number,
  count: number,
): number[] {
  const slots: number[] = []
  for (const slot of slotsFrom(expression, offsetReader(timeZone), after)) {
    if (slot <= after || slot === slots.at(-1)) continue
    slots.push(slot)
    if (slots.length === count) break
  }
  return slots
}

/** When an expression comes next; undefined for one whose days do not exist. */
export function nextSlot(expression: string, timeZone: string): Date | undefined {
  const [next] = nextSlots(expression, timeZone, Date.now(), 1)
  return next === undefined ? undefined : new Date(next)
}

const SLOTS_LOOKED_AT = 10

/** The shortest and the longest time between the next slots of an expression. */
export function slotGaps(
  expression: string,
  timeZone: string,
): { readonly shortestMs: number; readonly longestMs: number } {
  const instants = nextSlots(expression, timeZone, Date.now(), SLOTS_LOOKED_AT)
  const gaps = instants.slice(1).map((instant, at) => instant - (instants[at] ?? instant))
  return { shortestMs: Math.min(...gaps), longestMs: Math.max(...gaps) }
}

/** Offset of a zone's clock from UTC at an instant, both in milliseconds. */
type OffsetAt = (instant: number) => number

function* slotsFrom(expression: string, offsetAt: OffsetAt, after: number): Generator<number> {
  const { second, minute, hour } = parse(expression)
  const isHourly = hour.length === 24
  const namesDay = dayReader(expression, hour[0] ?? 0, minute[0] ?? 0, second[0] ?? 0)
  // Slots of days near a change, whose order is that of their instants and not of the clock.
  let unsorted: number[] = []
  const today = Math.floor((after + offsetAt(after)) / DAY_MS) * DAY_MS
  for (let day = today - DAY_MS, left = DAYS_LOOKED_AT; left > 0; day += DAY_MS, left -= 1) {
    const offset = offsetAt(day - BRACKET_MS)
    const isSteady = offset === offsetAt(day + DAY_MS + BRACKET_MS)
    if (isSteady) {
      yield* unsorted.sort((one, other) => one - other)
      unsorted = []
    }
    if (!namesDay(day)) continue
    for (const hourOfDay of hour) {
      const hourAt = day + hourOfDay * HOUR_MS
      if (isSteady && hourAt + HOUR_MS - offset <= after) continue
      for (const minuteOfHour of minute) {
        for (const secondOfMinute of second) {
          const local = hourAt + minuteOfHour * MINUTE_MS + secondOfMinute * 1000
          if (isSteady) yield local - offset
          else unsorted.push(...instantsOf(local, offsetAt, isHourly))
        }
      }
    }
  }
  yield* unsorted.sort((one, other) => one - other)
}

/** Tells whether an expression names a day, given as its midnight on the clock. */
function dayReader(expression: string, hour: number, minute: number, second: number) {
  const task = createTask(expression, () => undefined, { timezone: 'UTC' })
  // The library keeps a list of its tasks.
  void task.destroy()
  const firstSlotMs = hour * HOUR_MS + minute * MINUTE_MS + second * 1000
  return (day: number): boolean => task.match(new Date(day + firstSlotMs))
}

/** The instants at which a clock near a change shows a time: none becomes the end of the gap. */
function instantsOf(local: number, offsetAt: OffsetAt, isHourly: boolean): number[] {
  const before = local - offsetAt(local - BRACKET_MS)
  const afterwards = local - offsetAt(local + BRACKET_MS)
  const shown = [...new Set([before, afterwards])]
    .filter((instant) => instant + offsetAt(instant) === local)
    .sort((one, other) => one - other)
  if (shown.length > 0) return isHourly ? shown : shown.slice(0, 1)
  return isHourly ? [] : [endOfGap(afterwards, before, offsetAt)]
}

/** The instant between two at which the offset changes, by halving. */
function endOfGap(from: number, to: number, offsetAt: OffsetAt): number {
  const offsetBefore = offsetAt(from)
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === offsetBefore) low = middle
    else high = middle
  }
  return high
}

function offsetReader(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  return (instant) => {
    // "1/1/2026, GMT+05:30"; UTC itself is "GMT".
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(instant)) ?? []
    const offset = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS
    return sign === '-' ? -offset : offset
  }
}
