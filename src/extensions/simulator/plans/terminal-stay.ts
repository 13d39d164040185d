import type { Site } from '../world/atlas.js'
import type { Dice } from '../world/dice.js'
import type { Revision } from './estimates.js'
import { planHolds, type PlannedHold } from './holds.js'
import { HOUR, localMidnight, toSecond } from '../world/local-time.js'
import type { Milestone } from './milestones.js'
import type { Voyage } from '../world/voyage.js'

interface Availability {
  readonly at: number
  readonly isAvailable: boolean
}

/**
 * A container's time between discharge and pick-up. All instants are those of the service's
 * knowledge.
 */
export interface TerminalStay {
  readonly dischargedAt: number
  /** Leaves the port of discharge, by truck or on a train. */
  readonly leftAt: number
  readonly isAvailabilityKnown: boolean
  readonly availability: readonly Availability[]
  readonly holds: readonly PlannedHold[]
  readonly lfdTerminal: readonly Revision<number>[]
  readonly lfdLine: readonly Revision<number>[]
  readonly lfdRail: readonly Revision<number>[]
  readonly appointment: readonly Revision<number>[]
  readonly dailyDemurrage: number
  readonly examFee: number | undefined
  readonly extendedDwellFee: number | undefined
  readonly otherFee: number | undefined
  readonly currency: string
  readonly yardSpot: string
  /** Moved to a yard outside of the terminal at this instant. */
  readonly offDockAt: number | undefined
}

const CURRENCIES: Readonly<Record<string, string>> = {
  US: 'USD',
  CA: 'CAD',
  GB: 'GBP',
  AU: 'AUD',
  MX: 'MXN',
  CL: 'CLP',
  PA: 'USD',
}

export function planTerminalStay(
  dice: Dice,
  voyage: Voyage,
  milestones: readonly Milestone[],
  createdAt: number,
): TerminalStay {
  const reported = (name: Milestone['name']): number | undefined =>
    milestones.find((milestone) => milestone.name === name)?.reportedAt
  const discharge = milestones.find(({ name }) => name === 'vessel_discharged')
  if (discharge === undefined) throw new Error('A container without a discharge was planned.')
  const dischargedAt = discharge.reportedAt
  const leftAt = reported('rail_loaded') ?? reported('full_out') ?? dischargedAt
  const holds = planHolds(dice, { createdAt, dischargedAt, leftAt })
  const lfdTerminal = planLastFreeDay(dice, voyage.pod, discharge.at, dischargedAt, leftAt, 5)
  return {
    dischargedAt,
    leftAt,
    isAvailabilityKnown: voyage.podTerminal?.reportsAvailability ?? false,
    availability: planAvailability(dice, holds, dischargedAt, leftAt),
    holds,
    lfdTerminal: voyage.move === 'rail' && dice.chance(0.6) ? [] : lfdTerminal,
    lfdLine: voyage.line.publishesLastFreeDay ? planLineDay(dice, voyage.pod, lfdTerminal) : [],
    lfdRail: planRailDay(dice, voyage, milestones),
    appointment: voyage.move === 'truck' ? planAppointment(dice, dischargedAt, leftAt) : [],
    dailyDemurrage: dice.pick([212.5, 255.1, 318.75, 165, 425]),
    examFee: holds.some(({ isExam }) => isExam) ? dice.pick([275.5, 425, 850]) : undefined,
    extendedDwellFee: dice.chance(0.2) ? dice.pick([100, 130.25]) : undefined,
    otherFee: dice.chance(0.07) ? dice.pick([35.75, 60, 1275.5]) : undefined,
    currency: CURRENCIES[voyage.pod.country] ?? 'EUR',
    yardSpot: dice.pick([
      'Grounded',
      'Wheeled',
      'Yard',
      `Y${dice.integer(1, 60)}-${dice.text('ABCDEF', 1)}${dice.integer(1, 5)}`,
    ]),
    offDockAt:
      voyage.move === 'truck' && dice.chance(0.06)
        ? toSecond(dischargedAt + (leftAt - dischargedAt) * 0.5)
        : undefined,
  }
}

/**
 * A local day, stated as its first instant. It appears some hours after discharge and may be put
 * off once or twice.
 */
function planLastFreeDay(
  dice: Dice,
  site: Site,
  happenedAt: number,
  reportedAt: number,
  leftAt: number,
  freeDays: number,
): Revision<number>[] {
  const firstAt = toSecond(reportedAt + dice.between(1, 8) * HOUR)
  if (firstAt >= leftAt) return []
  let days = freeDays + dice.integer(-1, 1)
  const revisions = [{ at: firstAt, value: localMidnight(site.zone, happenedAt, days) }]
  const moves = dice.chance(0.3) ? (dice.chance(0.3) ? 2 : 1) : 0
  for (let move = 1; move <= moves; move++) {
    const at = toSecond(firstAt + ((leftAt - firstAt) * (move + dice.fraction())) / (moves + 2))
    days += dice.integer(1, 3)
    revisions.push({ at, value: localMidnight(site.zone, happenedAt, days) })
  }
  return revisions
}

/**
 * The line's own word follows the terminal's by some hours; of two in five containers its day is
 * another one, a day later or up to two days sooner.
 */
function planLineDay(
  dice: Dice,
  pod: Site,
  terminalDay: readonly Revision<number>[],
): Revision<number>[] {
  const share = dice.fraction()
  const extraDays = share < 0.25 ? 1 : share < 0.85 ? 0 : share < 0.95 ? -1 : -2
  const delay = dice.between(1, 5) * HOUR
  return terminalDay.map(({ at, value }) => ({
    at: toSecond(at + delay),
    value: localMidnight(pod.zone, value, extraDays),
  }))
}

function planRailDay(
  dice: Dice,
  voyage: Voyage,
  milestones: readonly Milestone[],
): Revision<number>[] {
  const arrival = milestones.find(({ name }) => name === 'rail_unloaded')
  const pickup = milestones.find(({ name }) => name === 'full_out')
  if (arrival === undefined || pickup === undefined || voyage.destination === undefined) return []
  const { at, reportedAt } = arrival
  return planLastFreeDay(dice, voyage.destination, at, reportedAt, pickup.reportedAt, 2)
}

function planAvailability(
  dice: Dice,
  holds: readonly PlannedHold[],
  dischargedAt: number,
  leftAt: number,
): Availability[] {
  const stay = leftAt - dischargedAt
  const cleared = holds.filter(({ isLate }) => !isLate).map(({ clearedAt }) => clearedAt)
  const firstAt = Math.max(toSecond(dischargedAt + stay * dice.between(0.05, 0.3)), ...cleared)
  const changes = [
    { at: dischargedAt, isAvailable: false },
    { at: firstAt, isAvailable: true },
  ]
  for (const late of holds.filter(({ isLate }) => isLate)) {
    if (late.placedAt <= firstAt) continue
    changes.push({ at: late.placedAt, isAvailable: false })
    changes.push({ at: late.clearedAt, isAvailable: true })
  }
  changes.push({ at: leftAt, isAvailable: false })
  return changes
}

function planAppointment(dice: Dice, dischargedAt: number, leftAt: number): Revision<number>[] {
  if (!dice.chance(0.4)) return []
  const stay = leftAt - dischargedAt
  const booked = Math.floor((leftAt - 2 * HOUR) / HOUR) * HOUR
  const first = { at: toSecond(dischargedAt + stay * 0.3), value: booked }
  if (!dice.chance(0.35)) return [first]
  return [
    { ...first, value: booked - dice.integer(6, 30) * HOUR },
    { at: toSecond(dischargedAt + stay * 0.6), value: booked },
  ]
}
