import { mix } from '../world/dice.js'
import { DAY, toSecond } from '../world/local-time.js'
import type { ContainerPlan } from './container-plan.js'
import type { Hold } from './container-status.js'
import { valueAt } from './estimates.js'

/** One in so many containers that go by rail is held at the ramp. */
const HELD_EVERY = 4
const HOLDS = [
  { name: 'freight', description: 'LINE HOLD AT RAMP' },
  { name: 'customs', description: 'CBP HOLD', detail: 'Ask the broker' },
  { name: 'other', description: null },
] as const
const DAILY_STORAGE = [75, 110, 150.5] as const

interface InlandFee {
  readonly type: 'demurrage' | 'total'
  readonly amount: number
  readonly currency_code: 'USD'
}

interface InlandStay {
  readonly from: number
  readonly until: number
  readonly hold: { readonly at: number; readonly clearedAt: number } | undefined
}

/** The time at the ramp, as reported; undefined for a container that goes by truck. */
function inlandStay(plan: ContainerPlan): InlandStay | undefined {
  const report = (name: string): number | undefined =>
    plan.milestones.find((milestone) => milestone.name === name)?.reportedAt
  const from = report('rail_unloaded')
  const until = report('full_out')
  if (from === undefined || until === undefined || until <= from) return undefined
  const isHeld = mix(plan.serial, plan.ordinal, 7) % HELD_EVERY === 0
  const into = (share: number): number => toSecond(from + (until - from) * share)
  return { from, until, hold: isHeld ? { at: into(0.05), clearedAt: into(0.6) } : undefined }
}

/** Null without a ramp, or while the container is not there. */
export function inlandHoldsAt(plan: ContainerPlan, at: number): Hold[] | null {
  const stay = inlandStay(plan)
  if (stay === undefined || at < stay.from || at >= stay.until) return null
  const { hold } = stay
  const drawn = HOLDS[mix(plan.serial, plan.ordinal, 8) % HOLDS.length]
  if (hold === undefined || drawn === undefined || at < hold.at || at >= hold.clearedAt) return []
  return [{ ...drawn, status: 'hold' }]
}

/** Storage at the ramp grows by a day at each local midnight after the railway's last free day. */
export function inlandFeesAt(plan: ContainerPlan, at: number): InlandFee[] | null {
  const stay = inlandStay(plan)
  if (stay === undefined || at < stay.from || at >= stay.until) return null
  const lastFreeDay = valueAt(plan.stay.lfdRail, at)
  const days = lastFreeDay === undefined ? 0 : Math.floor((at - lastFreeDay) / DAY)
  if (days <= 0) return []
  const daily = DAILY_STORAGE[mix(plan.serial, 9) % DAILY_STORAGE.length] ?? 0
  const amount = Math.round(daily * days * 100) / 100
  return [
    { type: 'demurrage', amount, currency_code: 'USD' },
    { type: 'total', amount, currency_code: 'USD' },
  ]
}

/** The instants at which the two above change. */
export function inlandInstants(plan: ContainerPlan): number[] {
  const stay = inlandStay(plan)
  if (stay === undefined) return []
  const { from, until, hold } = stay
  const instants = hold === undefined ? [from, until] : [from, until, hold.at, hold.clearedAt]
  for (const { value } of plan.stay.lfdRail) {
    for (let at = value + DAY; at < until; at += DAY) instants.push(at)
  }
  return instants
}
