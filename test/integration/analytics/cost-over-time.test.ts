import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

/** Boxes of a run, and the days on which each of them is looked at, one after the other. */
const CASES = 90
const DAYS = 50
const DAY = 86_400_000
/** Noon in Los Angeles, which puts its clocks back on 1 November. */
const FIRST = Date.parse('2026-10-16T20:00:00Z')
const at = (day: number): string => new Date(FIRST + day * DAY).toISOString()
/** The same day in UTC, Los Angeles and Chicago. */
const dateOf = (day: number): string => at(day).slice(0, 10)

/** A box whose one charge begins on a day, and the rule that only its line has. */
interface Case {
  readonly charge: 'demurrage' | 'storage' | 'detention'
  readonly isAtRamp: boolean
  /** Cents by the first day over that they are for. */
  readonly rates: ReadonlyMap<number, number>
  /** Free days of the rule; otherwise the one who charges says the day. */
  readonly freeDays: number
  readonly isDaySaid: boolean
  readonly counts: 'calendar' | 'working'
  readonly firstDay: 0 | 1
  readonly tierCounts: 'over' | 'start'
  readonly charged: 'calendar' | 'working'
  readonly per: 'day' | 'period'
  /** Cents. */
  readonly minimum: number | null
  readonly cap: number | null
  readonly startsOn: number
  /** Days until it leaves, or its empty is back; may be after the last look. */
  readonly staysFor: number
}

const cents = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat(99_999) },
)
const tier = fc.tuple(fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 35 })), cents)
const cases: fc.Arbitrary<Case> = fc.record({
  charge: fc.constantFrom('demurrage', 'storage', 'detention'),
  isAtRamp: fc.boolean(),
  rates: fc.array(tier, { minLength: 1, maxLength: 6 }).map((tiers) => new Map(tiers)),
  freeDays: fc.nat(7),
  isDaySaid: fc.boolean(),
  counts: fc.constantFrom('calendar', 'working'),
  firstDay: fc.constantFrom(0, 1),
  tierCounts: fc.constantFrom('over', 'start'),
  charged: fc.constantFrom('calendar', 'working'),
  per: fc.constantFrom('day', 'day', 'period'),
  minimum: fc.option(fc.integer({ min: 1, max: 90_000 }), { freq: 3 }),
  cap: fc.option(fc.integer({ min: 90_000, max: 300_000 }), { freq: 3 }),
  startsOn: fc.integer({ min: 0, max: 12 }),
  staysFor: fc.integer({ min: 0, max: 80 }),
})

/** Whether the rule charges a day: nobody works on Fridays and Saturdays. */
function isCharged({ charged }: Case, day: number): boolean {
  return charged === 'calendar' || ![5, 6].includes(new Date(at(day)).getUTCDay())
}

/** Cost of the days after the last free one, one by one; null where none of them has a rate. */
function costOf(one: Case, lastFree: number, daysOver: number): number | null {
  let number = 0
  if (one.tierCounts === 'start') {
    for (let day = one.startsOn + 1 - one.firstDay; day <= lastFree; day += 1) {
      if (isCharged(one, day)) number += 1
    }
  }
  let [cost, days, charged] = [0, 0, 0]
  const paid = new Set<number>()
  for (let day = lastFree + 1; day <= lastFree + daysOver; day += 1) {
    if (!isCharged(one, day)) continue
    charged += 1
    number += 1
    const from = Math.max(...[...one.rates.keys()].filter((first) => first <= number))
    const rate = one.rates.get(from)
    if (rate === undefined) continue
    days += 1
    if (one.per === 'day' || !paid.has(from)) cost += rate
    paid.add(from)
  }
  if (days === 0) return charged === 0 ? 0 : null
  return Math.min(Math.max(cost, one.minimum ?? 0), one.cap ?? Infinity)
}

interface Clock {
  readonly container_id: string
  readonly state: string
  readonly days_over: number
  readonly days_without_rate: number
  readonly last_free_on: string
  readonly amount: string
  readonly one_day_amount: string | null
  readonly seven_days_amount: string | null
  readonly fourteen_days_amount: string | null
}

const scene = useAnalyticsScene()

async function insertCases(all: readonly Case[]): Promise<void> {
  await scene.clear()
  const numbered = all.map((one, n) => ({ ...one, id: `c${n}`, line: `L${n}` }))
  const asAmount = (cents: number | null) => (cents === null ? null : (cents / 100).toFixed(2))
  const rules = numbered.map(({ id, line, charge, isAtRamp, isDaySaid, freeDays, ...rule }) => ({
    rule_name: id,
    charge,
    shipping_line_scac: line,
    place: charge === 'detention' ? null : isAtRamp ? 'ramp' : 'port',
    free_days: isDaySaid && charge !== 'detention' ? null : freeDays,
    counts: rule.counts,
    holiday_calendar: 'friday',
    first_day: rule.firstDay,
    tier_counts: rule.tierCounts,
    charged: rule.charged,
    until: 'out',
    valid_by: 'start',
    minimum: asAmount(rule.minimum),
    cap: asAmount(rule.cap),
    starts_with: charge === 'detention' ? 'gate_out' : 'discharge',
    currency_code: 'USD',
    reported: 'binds',
  }))
  const tiers = numbered.flatMap(({ id, rates, per }) =>
    [...rates].map(([from_day, rate]) => ({
      rule_name: id,
      from_day,
      daily_rate: (rate / 100).toFixed(2),
      per,
    })),
  )
  for (const [table, rows] of Object.entries({ free_time_rules: rules, free_time_tiers: tiers })) {
    await scene.query(
      `insert into tracking_analytics.${table}
      select * from jsonb_populate_recordset(null::tracking_analytics.${table}, $1::jsonb)`,
      [JSON.stringify(rows)],
    )
  }
  await scene.insertInto('analytics', 'working_calendars', [
    { calendar: 'friday', place: '', weekend: [5, 6] },
  ])
  const shipments = numbered.map(({ id, line }) => ({ shipment_id: id, shipping_line_scac: line }))
  await insertKnown(scene, 'shipments', shipments, 'insertMany')
  const boxes = numbered.map(({ id, charge, isAtRamp, startsOn, staysFor }) => {
    const [start, end] = [at(startsOn), at(startsOn + staysFor)]
    const isOut = charge === 'detention'
    const [reached, left] = isOut ? [at(-3), start] : [start, end]
    return {
      container_id: id,
      number: id,
      shipment_id: id,
      pod_timezone: 'America/Los_Angeles',
      final_destination_timezone: 'America/Chicago',
      pod_discharged_at: isAtRamp ? at(-9) : reached,
      pod_full_out_at: isAtRamp ? null : left,
      pod_rail_departed_at: isAtRamp ? at(-6) : null,
      ind_ata_at: isAtRamp ? reached : null,
      final_destination_full_out_at: isAtRamp ? left : null,
      empty_terminated_at: isOut ? end : null,
    }
  })
  await insertKnown(scene, 'containers', boxes, 'insertMany')
  const days = numbered.flatMap(({ id, charge, isAtRamp, isDaySaid, startsOn, freeDays }) => {
    if (!isDaySaid || charge === 'detention') return []
    const by = isAtRamp ? 'rail' : charge === 'storage' ? 'terminal' : 'line'
    const local_date = dateOf(startsOn + freeDays)
    return [{ container_id: id, kind: `pickup_lfd_${by}`, local_date, time_zone: 'UTC' }]
  })
  await insertKnown(scene, 'container_import_deadlines', days, 'insertMany')
}

const asCents = (amount: string | null): number | null =>
  amount === null ? null : Math.round(Number(amount) * 100)

const between = (one: string, other: string): number => (Date.parse(other) - Date.parse(one)) / DAY

it('never costs less as days pass, and foresees costs', { tags: ['I20', 'release'] }, async () => {
  // Each says in full what it is where it fails; a smaller one would not say more.
  const all = fc.sample(cases, CASES)
  await insertCases(all)
  const met = new Set<string>()
  const costs = all.map(() => 0)
  for (let day = 0; day < DAYS; day += 1) {
    const rows = await scene.read('charge_clocks', {
      asOf: at(day),
      rest: 'where rule_name = container_id',
      columns: [
        ...['container_id', 'state', 'days_over', 'days_without_rate', 'last_free_on'],
        ...['amount', 'one_day_amount', 'seven_days_amount', 'fourteen_days_amount'],
      ],
    })
    expect(rows.length).toBe(all.filter(({ startsOn }) => startsOn <= day).length)
    for (const clock of rows as unknown as readonly Clock[]) {
      const nth = Number(clock.container_id.slice(1))
      const one = all[nth]!
      const where = JSON.stringify({ ...one, rates: [...one.rates], ...clock })
      const until = Math.min(day, one.startsOn + one.staysFor)
      const over = Math.max(between(clock.last_free_on, dateOf(until)), 0)
      expect(clock.days_over, where).toBe(over)
      const cost = asCents(clock.amount)
      const lastFree = between(dateOf(0), clock.last_free_on)
      expect(cost, where).toBe(costOf(one, lastFree, over))
      expect(cost ?? Infinity, where).toBeGreaterThanOrEqual(costs[nth]!)
      costs[nth] = cost ?? costs[nth]!
      if (cost === null) met.add('days that all lack a rate')
      met.add(`${one.charge} ${clock.state}`)
      if (clock.days_without_rate > 0) met.add('days without a rate')
      const foreseen = [clock.one_day_amount, clock.seven_days_amount, clock.fourteen_days_amount]
      if (clock.state.startsWith('ended')) expect(foreseen, where).toEqual([null, null, null])
      else {
        const now = between(clock.last_free_on, dateOf(day))
        const then = [1, 7, 14].map((days) => costOf(one, lastFree, now + days))
        expect(foreseen.map(asCents), where).toEqual(then)
        const known = [cost, ...then].filter((one) => one !== null)
        expect(known, where).toEqual(known.toSorted((a, b) => a - b))
      }
    }
  }
  const states = ['due_today', 'ended_in_time', 'ended_late', 'overdue', 'upcoming']
  expect([...met].sort()).toEqual([
    'days that all lack a rate',
    'days without a rate',
    ...['demurrage', 'detention', 'storage'].flatMap((charge) =>
      states.map((state) => `${charge} ${state}`),
    ),
  ])
})
