/**
 * Rules of free time, worked out a second time, by docs/questions.md and the headers of the views:
 * the days that count, and the price of each day. See second-implementation.ts.
 */

const DAY = 24 * 3_600_000

/** As one writes it into a contract; `rates` by the first day they are for. */
export interface Rule {
  readonly name: string
  readonly charge: 'demurrage' | 'storage' | 'detention'
  readonly line?: string
  /** Id, FIRMS code, nickname or name. */
  readonly terminal?: string
  readonly locode?: string
  readonly place?: 'port' | 'ramp'
  readonly equipmentType?: string
  readonly equipmentLength?: number
  readonly equipmentHeight?: 'standard' | 'high_cube'
  readonly customer?: string
  readonly tag?: string
  readonly freeDays?: number
  /** The day of the start is day 1, and not the day after it. */
  readonly firstDay?: 1
  readonly counts: 'calendar' | 'working'
  /** The calendar that it names. */
  readonly calendar?: string
  readonly startsWith: 'discharge' | 'arrival' | 'gate_out'
  readonly rates: Readonly<Record<number, number>>
  /** Tiers, by the first day they are for, that are charged once. */
  readonly per?: Readonly<Record<number, 'period'>>
  /** The tiers are for days since the start, and not for charged days. */
  readonly tierCounts?: 'start'
  /** Days over that are charged; each where it is not said. */
  readonly charged?: 'working'
  /** A demurrage that runs on past the gate-out; a detention always does. */
  readonly until?: 'empty_return'
  readonly minimum?: number
  readonly cap?: number
  /** US dollars where none is named. */
  readonly currency?: string
  readonly validFrom?: string
  readonly validTo?: string
  /** The day that counts where the one who charges reports one; `binds` where it is not said. */
  readonly reported?: 'ignored' | 'earlier' | 'later'
}

export interface WorkingCalendar {
  readonly name: string
  /** A UN/LOCODE, or a terminal by one of its names: it applies to every clock there. */
  readonly place?: string
  /** Days of the week, Sunday is 0; the weekend is not said where they are not. */
  readonly weekend?: readonly number[]
  readonly holidays: readonly string[]
}

/** Rules of the place of a clock: its UN/LOCODE, and the names of its terminal. */
export interface Where {
  readonly locode: unknown
  readonly terminal: readonly unknown[]
}

type IsOff = (day: string) => boolean

/** Whether nobody works on a day, by the calendars of the rule, the terminal and the place. */
export function daysOff(
  calendars: readonly WorkingCalendar[],
  rule: Rule,
  { locode, terminal }: Where,
): IsOff {
  const named = calendars.filter(({ name }) => name === rule.calendar)
  const ofTerminal = calendars.filter(({ place }) => place && terminal.includes(place))
  const ofPlace = calendars.filter(({ place }) => place && place === locode)
  const all = [...named, ...ofTerminal, ...ofPlace]
  const holidays = new Set(all.flatMap((calendar) => calendar.holidays))
  const weekend = all.find((calendar) => calendar.weekend !== undefined)?.weekend
  const isWeekend: IsOff = weekend ? (day) => weekend.includes(weekday(day)) : isUsualWeekend
  return (day) => isWeekend(day) || holidays.has(day)
}

export function isUsualWeekend(day: string): boolean {
  return [0, 6].includes(weekday(day))
}

/** Sunday is 0. */
export function weekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay()
}

/** The last of the free days: the day before day 1 where there is none. */
export function lastFreeDay(rule: Rule, start: string, isOff: IsOff): string | undefined {
  if (rule.freeDays === undefined) return undefined
  let last = addDays(start, rule.firstDay === 1 ? -1 : 0)
  for (let left = rule.freeDays; left > 0;) {
    last = addDays(last, 1)
    if (rule.counts === 'calendar' || !isOff(last)) left -= 1
  }
  return last
}

/**
 * Price of each day after the last free one, as it adds to the total: 0 where it is not charged,
 * undefined where no tier holds.
 */
export function pricesOf(
  rule: Rule,
  start: string | undefined,
  lastFree: string,
  daysOver: number,
  isOff: IsOff,
): (number | undefined)[] {
  const isNumbered = (day: string) => rule.charged !== 'working' || !isOff(day)
  const dayZero = start && addDays(start, rule.firstDay === 1 ? -1 : 0)
  const free = between(dayZero, lastFree)
  let number = 0
  if (rule.tierCounts === 'start') {
    // Days before its start lack a number, and all do if nobody knows the start.
    const count = (from: string, days: number) => daysAfter(from, days).filter(isNumbered).length
    number =
      free === undefined ? -Infinity : free < 0 ? -count(lastFree, -free) : count(dayZero!, free)
  }
  const tiers = Object.keys(rule.rates).map(Number)
  const paid = new Set<number>()
  let [listed, total] = [0, 0]
  return daysAfter(lastFree, daysOver).map((day) => {
    if (!isNumbered(day)) return 0
    number += 1
    const tier = Math.max(...tiers.filter((from) => from <= number))
    const rate = rule.rates[tier]
    if (rate === undefined) return undefined
    const isPaid = rule.per?.[tier] === 'period' && paid.has(tier)
    paid.add(tier)
    const before = total
    listed += isPaid ? 0 : rate
    total = Math.min(Math.max(listed, rule.minimum ?? 0), rule.cap ?? Infinity)
    return cents(total - before)
  })
}

export function currencyOfRule(rule: Rule | undefined): string {
  return rule?.currency ?? 'USD'
}

/**
 * The rule that names most; of equally many that of the customer, the terminal, the line, the place
 * code, the newest, the first by name.
 */
export function narrowestFirst(one: Rule, other: Rule): number {
  const scopes = (rule: Rule) =>
    [
      ...[rule.terminal, rule.line, rule.place, rule.locode, rule.customer, rule.tag],
      ...[rule.equipmentType, rule.equipmentLength, rule.equipmentHeight],
    ].filter((scope) => scope !== undefined).length
  const isSaid = (said: string | undefined) => (said === undefined ? 0 : 1)
  return (
    scopes(other) - scopes(one) ||
    isSaid(other.customer) - isSaid(one.customer) ||
    isSaid(other.terminal) - isSaid(one.terminal) ||
    isSaid(other.line) - isSaid(one.line) ||
    isSaid(other.locode) - isSaid(one.locode) ||
    Date.parse(other.validFrom ?? '0001-01-01') - Date.parse(one.validFrom ?? '0001-01-01') ||
    (one.name < other.name ? -1 : 1)
  )
}

export function cents(amount: number): number {
  return Math.round(amount * 100) / 100
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY).toISOString().slice(0, 10)
}

function daysAfter(day: string, count: number): string[] {
  return Array.from({ length: count }, (_, before) => addDays(day, before + 1))
}

export function between(one: string | undefined, other: string | undefined): number | undefined {
  if (one === undefined || other === undefined) return undefined
  return (Date.parse(`${other}T00:00:00Z`) - Date.parse(`${one}T00:00:00Z`)) / DAY
}
