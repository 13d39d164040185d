import { z } from 'zod'
import { suggest } from '../../../base/phrases.js'
import {
  amount,
  currency,
  day,
  findTwice,
  matching,
  name,
  optionalIdentifier,
  readCsv,
  refuse,
  splitCsv,
  text,
  whole,
  wordOr,
  type BadLine,
  type Line,
} from './csv-file.js'

/** The contents of a user's file, by its header. */
export type RulesFile =
  | { readonly kind: 'rules'; readonly rules: readonly Rule[]; readonly tiers: readonly Tier[] }
  | { readonly kind: 'holidays'; readonly holidays: readonly Holiday[] }
  | { readonly kind: 'calendars'; readonly calendars: readonly WorkingCalendar[] }

const ruleLine = z
  .object({
    rule: name,
    charge: z
      .string()
      .trim()
      .max(100)
      .regex(
        /^[a-z][a-z_]*$/,
        'must be a word of small letters and _, as storage, demurrage or plug_in',
      ),
    line: optionalIdentifier,
    terminal: optionalIdentifier,
    locode: matching(/^[A-Z]{2}[A-Z0-9]{3}$/, 'a UN/LOCODE as USLAX'),
    place: wordOr(null, 'port', 'ramp'),
    equipment_type: text,
    equipment_length: whole(1, 100),
    equipment_height: wordOr(null, 'standard', 'high_cube'),
    customer: text,
    tag: text,
    ref: optionalIdentifier,
    free_days: whole(0, 365),
    first_day: wordOr('0', '0', '1'),
    counts: wordOr('calendar', 'calendar', 'working'),
    holiday_calendar: text,
    starts_with: wordOr(null, 'arrival', 'berth', 'discharge', 'available', 'gate_out'),
    until: wordOr(null, 'out', 'empty_return'),
    reported: wordOr('binds', 'binds', 'ignored', 'earlier', 'later'),
    from_day: whole(1, 10_000),
    daily_rate: amount,
    per: wordOr('day', 'day', 'period'),
    tier_counts: wordOr('over', 'over', 'start'),
    charged: wordOr('calendar', 'calendar', 'working'),
    minimum: amount,
    cap: amount,
    currency,
    valid_from: day,
    valid_to: day,
    valid_by: wordOr('start', 'start', 'departure'),
    note: text,
  })
  .transform(({ line, currency, rule, from_day, daily_rate, per, ...rest }) => {
    const startsWith =
      rest.starts_with ??
      (rest.charge === 'detention' || rest.charge === 'chassis' ? 'gate_out' : 'discharge')
    return {
      tier: { rule_name: rule, from_day, daily_rate, per },
      rule: {
        ...rest,
        rule_name: rule,
        shipping_line_scac: line,
        currency_code: currency,
        first_day: Number(rest.first_day),
        starts_with: startsWith,
        until: rest.until ?? (startsWith === 'gate_out' ? 'empty_return' : 'out'),
      },
    }
  })

const holidayLine = z.object({
  calendar: name,
  holiday_on: day.refine((cell): cell is string => cell !== null, 'is empty'),
  name: text,
})

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const calendarLine = z.object({
  calendar: name,
  place: text.transform((cell) => cell ?? ''),
  weekend: z
    .string()
    .trim()
    .toLowerCase()
    .refine(
      (cell) =>
        ['', 'none'].includes(cell) || cell.split(/\s+/).every((one) => WEEKDAYS.includes(one)),
      `must be days as "sat sun" (${WEEKDAYS.join(', ')}), none, or empty if it is not said`,
    )
    .transform((cell) =>
      cell === ''
        ? null
        : WEEKDAYS.flatMap((day, at) => (cell.split(/\s+/).includes(day) ? [at + 1] : [])),
    )
    .refine((days) => days === null || days.length <= 3, 'must be three days or fewer'),
})

type RuleLine = z.output<typeof ruleLine>
export type Rule = RuleLine['rule']
export type Tier = RuleLine['tier']
export type Holiday = z.output<typeof holidayLine>
export type WorkingCalendar = z.output<typeof calendarLine>

export const RULE_COLUMNS = Object.keys(ruleLine.def.in.shape)
/** The other columns of rules may be missing: they are read as if their cells were empty. */
const NEEDED = ['rule', 'charge', 'currency']
export const HOLIDAY_COLUMNS = Object.keys(holidayLine.shape)
const CALENDAR_COLUMNS = Object.keys(calendarLine.shape)

/** The columns that say for whom a rule holds; the rule with the most of them counts. */
const SCOPE = [
  'shipping_line_scac',
  'terminal',
  'locode',
  'place',
  'equipment_type',
  'equipment_length',
  'equipment_height',
  'customer',
  'tag',
  'ref',
] as const

/** The scope of a rule in the words of the file, with the names of columns before bare values. */
export function sayScope(rule: Rule): string {
  return SCOPE.flatMap((column) => {
    const value = rule[column]
    return value === null ? [] : [`${column === 'shipping_line_scac' ? 'line' : column} ${value}`]
  }).join(', ')
}

/**
 * Reads a file of rules, of holidays or of calendars: comma- or semicolon-separated values with a
 * header. A rule has one line for each tier. Throws a ConfigError that names every bad line with
 * its number.
 */
export function parseRulesFile(fileName: string, csvText: string): RulesFile {
  const cells = splitCsv(fileName, csvText)
  const bad: BadLine[] = []
  if (cells.columns.includes('holiday_on')) {
    const holidays = readCsv(fileName, cells, holidayLine, HOLIDAY_COLUMNS, bad)
    bad.push(...findTwice(holidays, ({ calendar, holiday_on }) => `${holiday_on} of ${calendar}`))
    refuse(fileName, bad)
    return { kind: 'holidays', holidays: holidays.map(({ value }) => value) }
  }
  if (cells.columns.includes('weekend')) {
    const calendars = readCsv(fileName, cells, calendarLine, CALENDAR_COLUMNS, bad)
    bad.push(...findTwice(calendars, ({ calendar, place }) => `${calendar} at "${place}"`))
    refuse(fileName, bad)
    return { kind: 'calendars', calendars: calendars.map(({ value }) => value) }
  }
  const optional = RULE_COLUMNS.filter((column) => !NEEDED.includes(column))
  const read = readCsv(fileName, cells, ruleLine, RULE_COLUMNS, bad, optional)
  bad.push(...read.flatMap(findContradictions), ...compareLines(read))
  refuse(fileName, bad)
  const rules = new Map(read.map(({ value }) => [value.rule.rule_name, value.rule]))
  const tiers = read.flatMap(({ value }) => (value.tier.from_day === null ? [] : [value.tier]))
  return { kind: 'rules', rules: [...rules.values()], tiers }
}

/** Whether anybody reports a last free day for the charge of the rule. */
export function isOfReportedDays({ charge }: Rule): boolean {
  return charge === 'storage' || charge === 'demurrage'
}

/** The contradictions within a line: a rule that could never hold, or never mean what it says. */
function findContradictions({ line, value: { rule, tier } }: Line<RuleLine>): BadLine[] {
  const isOut = rule.starts_with === 'gate_out'
  const isReported = isOfReportedDays(rule)
  const isWithoutDays = rule.free_days === null
  const said: readonly (readonly [boolean, string])[] = [
    [
      (tier.from_day === null) !== (tier.daily_rate === null),
      'from_day and daily_rate go together',
    ],
    [
      rule.charge === 'detention' ? !isOut : isReported && isOut,
      'detention starts with gate_out, and storage and demurrage do not',
    ],
    [isOut && rule.place !== null, `${rule.charge} has no place: it starts with gate_out`],
    [
      isOut && rule.until === 'out',
      `${rule.charge} ends with empty_return: it starts with gate_out`,
    ],
    [!isReported && isWithoutDays, `${rule.charge} needs free_days, because nobody reports a day`],
    [
      rule.counts === 'working' && isWithoutDays,
      'working days are counted of free_days, which is empty',
    ],
    [
      rule.reported !== 'binds' && isWithoutDays,
      `reported is ${rule.reported}, and free_days, with which it is compared, is empty`,
    ],
    [
      rule.valid_from !== null && rule.valid_to !== null && rule.valid_to < rule.valid_from,
      'valid_to is before valid_from',
    ],
    [
      rule.minimum !== null && rule.cap !== null && Number(rule.minimum) > Number(rule.cap),
      'minimum is more than cap',
    ],
  ]
  return said.flatMap(([isSo, reason]) =>
    isSo ? [{ line, reason: `${rule.rule_name}: ${reason}` }] : [],
  )
}

/** Contradictions between the lines of a rule, and between two rules. */
function compareLines(lines: readonly Line<RuleLine>[]): BadLine[] {
  const bad: BadLine[] = []
  const first = new Map<string, Line<RuleLine>>()
  for (const { line, value } of lines) {
    const { rule, tier } = value
    const say = (reason: string) => bad.push({ line, reason: `${rule.rule_name}: ${reason}` })
    const earlier = first.get(rule.rule_name)
    if (earlier === undefined) {
      first.set(rule.rule_name, { line, value })
      continue
    }
    const other = Object.keys(rule).filter(
      (key) => rule[key as keyof Rule] !== earlier.value.rule[key as keyof Rule],
    )
    if (other.length > 0) say(`differs from line ${earlier.line} in ${other.join(', ')}`)
    if (tier.from_day === null) say(`is in line ${earlier.line} already, and this one has no tier`)
  }
  const tiers = lines.filter(({ value }) => value.tier.from_day !== null)
  return [
    ...bad,
    ...findTwice(
      tiers,
      ({ tier }) => `a tier of ${tier.rule_name} from day ${String(tier.from_day)} on`,
    ),
    ...findTies([...first.values()]),
  ]
}

/** Two rules of one charge and one scope from the same day on: nobody could tell which counts. */
function findTies(rules: readonly Line<RuleLine>[]): BadLine[] {
  const first = new Map<string, Line<RuleLine>>()
  return rules.flatMap(({ line, value }) => {
    const { rule } = value
    const scope = [rule.charge, rule.valid_from, ...SCOPE.map((column) => rule[column])]
    const earlier = first.get(JSON.stringify(scope))
    if (earlier === undefined) {
      first.set(JSON.stringify(scope), { line, value })
      return []
    }
    const { rule_name: other } = earlier.value.rule
    const reason =
      `${rule.rule_name}: holds for the same ${rule.charge} as ${other} in line ${earlier.line}; ` +
      'name more of what it holds for, or give it another valid_from'
    return [{ line, reason }]
  })
}

/** The tiers of each rule, by its name. */
export function groupTiers(tiers: readonly Tier[]): ReadonlyMap<string, readonly Tier[]> {
  const groups = new Map<string, Tier[]>()
  for (const tier of tiers) {
    const group = groups.get(tier.rule_name)
    if (group === undefined) groups.set(tier.rule_name, [tier])
    else group.push(tier)
  }
  return groups
}

/** Doubts about rules that are allowed: odd charges, and tiers that are missing, free or cheaper. */
export function findDoubts(rules: readonly Rule[], tiers: readonly Tier[]): string[] {
  const groups = groupTiers(tiers)
  return rules.flatMap((rule) => {
    const tiersOfRule = groups.get(rule.rule_name) ?? []
    const own = tiersOfRule.map(({ from_day }) => from_day ?? 1)
    return [
      ...findDaysWithoutRate(rule, own),
      ...findTiersInFreeTime(rule, own),
      ...findFallingRates(tiersOfRule),
      ...findMisspeltCharge(rule),
    ]
  })
}

/** Often a tier that was meant to count free days too. */
function findDaysWithoutRate(rule: Rule, days: readonly number[]): string[] {
  const firstRated = Math.min(...days)
  const firstOver = rule.tier_counts === 'over' ? 1 : (rule.free_days ?? 0) + 1
  if (days.length === 0 || firstRated <= firstOver) return []
  const last = firstRated - 1
  const span = last === firstOver ? `day ${last}` : `days ${firstOver} to ${last}`
  const counted = rule.tier_counts === 'over' ? 'over' : 'since the start'
  const fix =
    rule.tier_counts === 'over'
      ? '; if from_day counts from the start of the clock, set tier_counts to start'
      : ''
  return [`${rule.rule_name} has no rate for ${span} ${counted}${fix}`]
}

/** Tiers from the start whose days are all free: often from_day was meant to count days over. */
function findTiersInFreeTime(rule: Rule, days: readonly number[]): string[] {
  const { free_days: free } = rule
  if (rule.tier_counts !== 'start' || free === null) return []
  const sorted = days.toSorted((one, other) => one - other)
  return sorted.flatMap((day, at) => {
    const next = sorted[at + 1]
    if (next === undefined || next > free + 1) return []
    return [
      `${rule.rule_name} never charges its tier from day ${day}, which ends in free time; ` +
        'if from_day counts days over, set tier_counts to over',
    ]
  })
}

/** Often two lines that were swapped: a tariff rises with time. */
function findFallingRates(tiers: readonly Tier[]): string[] {
  const daily = tiers
    .filter(({ per }) => per === 'day')
    .toSorted((one, other) => (one.from_day ?? 1) - (other.from_day ?? 1))
  return daily.slice(1).flatMap(({ rule_name, from_day, daily_rate }, at) => {
    const before = daily[at]?.daily_rate ?? null
    if (before === null || Number(daily_rate) >= Number(before)) return []
    return [`${rule_name} charges less from day ${from_day} on, ${daily_rate} after ${before}`]
  })
}

const REPORTED_CHARGES = ['storage', 'demurrage', 'detention']

function findMisspeltCharge({ rule_name, charge }: Rule): string[] {
  if ([...REPORTED_CHARGES, 'plug_in', 'chassis'].includes(charge)) return []
  const meant = suggest(charge, REPORTED_CHARGES)
  return meant === ''
    ? []
    : [`${rule_name} is for a charge of its own, ${charge}${meant.slice(0, -1)}`]
}
