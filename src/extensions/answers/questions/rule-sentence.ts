import { isOfReportedDays, sayScope, type Rule, type Tier } from './rules-file.js'

const STARTS: Readonly<Record<string, string>> = {
  arrival: 'arrival',
  berth: 'berthing',
  discharge: 'discharge',
  available: 'the first availability',
  gate_out: 'the gate-out',
}

const REPORTED: Readonly<Record<string, string>> = {
  binds: ', or to the reported day where there is one',
  ignored: ', whatever day is reported',
  earlier: ', or to the reported day if that is earlier',
  later: ', or to the reported day if that is later',
}

/**
 * A rule in one sentence: "5 free calendar days from the day after discharge; from day 6
 * USD 85, from day 11 USD 170, until the empty is back". Days are numbered from the start of the
 * clock where free and charged days are counted alike, else as charged days. `tiers` are those of
 * the rule, in any order.
 */
export function describeRule(rule: Rule, tiers: readonly Tier[]): string {
  const scope = sayScope(rule)
  const parts = [sayFreeDays(rule), ...sayCosts(rule, tiers), ...sayValidity(rule)]
  return `${rule.charge}${scope === '' ? '' : ` (${scope})`}: ${parts.join('; ')}`
}

function sayFreeDays(rule: Rule): string {
  const { free_days: free, first_day: first } = rule
  if (free === null) return 'free to the last free day that is reported'
  const start = STARTS[rule.starts_with] ?? rule.starts_with
  const from = first === 1 ? `the day of ${start}` : `the day after ${start}`
  const other = isOfReportedDays(rule) ? (REPORTED[rule.reported] ?? '') : ''
  if (free === 0) return `no free day, counted from ${from}${other}`
  const days = `${rule.counts} ${free === 1 ? 'day' : 'days'}${sayCalendar(rule)}`
  return `${free} free ${days} from ${from}${other}`
}

/** The calendar by which the rule tells working days, where it does. */
function sayCalendar({ counts, charged, holiday_calendar: calendar }: Rule): string {
  const isUsed = counts === 'working' || charged === 'working'
  return isUsed && calendar !== null ? ` (calendar ${calendar})` : ''
}

function sayValidity({ valid_from: from, valid_to: to, valid_by: by }: Rule): string[] {
  if (from === null && to === null) return []
  const which = by === 'departure' ? 'for vessels that depart' : 'for clocks that start'
  return [
    [which, from === null ? [] : `from ${from}`, to === null ? [] : `up to ${to}`].flat().join(' '),
  ]
}

function sayCosts(rule: Rule, tiers: readonly Tier[]): string[] {
  if (tiers.length === 0) return ['without rates']
  const isNumberedFromStart =
    rule.tier_counts === 'start' ||
    (rule.free_days !== null && rule.counts === 'calendar' && rule.charged === 'calendar')
  const shift = isNumberedFromStart && rule.tier_counts === 'over' ? (rule.free_days ?? 0) : 0
  const steps = tiers
    .toSorted((one, other) => (one.from_day ?? 0) - (other.from_day ?? 0))
    .map(({ from_day: from, daily_rate: rate, per }) => {
      const day = String((from ?? 1) + shift)
      const which = isNumberedFromStart ? `day ${day}` : `charged day ${day}`
      return `from ${which} ${rule.currency_code} ${rate ?? ''}${per === 'period' ? ' once' : ''}`
    })
  const days = rule.charged === 'working' ? ', working days only' : ''
  const end = rule.until === 'empty_return' ? ', until the empty is back' : ''
  const bounds = [
    rule.minimum === null ? [] : [`at least ${rule.currency_code} ${rule.minimum}`],
    rule.cap === null ? [] : [`at most ${rule.currency_code} ${rule.cap}`],
  ].flat()
  return [`${steps.join(', ')}${days}${end}`, ...bounds]
}
