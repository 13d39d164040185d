import { containerCheckDigit } from '../world/check-digits.js'
import { createDice, mix } from '../world/dice.js'
import { planEstimates, type Revision } from './estimates.js'
import type { Ids } from '../world/ids.js'
import { HOUR, toSecond } from '../world/local-time.js'
import {
  announceOne,
  planMilestones,
  shownFrom,
  type Milestone,
  type MilestoneName,
} from './milestones.js'
import { planTerminalStay, type TerminalStay } from './terminal-stay.js'
import type { Voyage } from '../world/voyage.js'

/**
 * Everything that will ever happen to one container; it does not depend on the instant of a look.
 */
export interface ContainerPlan {
  readonly id: string
  readonly serial: number
  readonly ordinal: number
  readonly createdAt: number
  readonly number: string
  readonly refNumbers: readonly string[]
  readonly sealNumber: string | null
  readonly equipmentType: string | null
  readonly equipmentLength: number
  readonly equipmentHeight: string
  readonly weightInLbs: number | null
  readonly chassisNumber: string | null
  readonly milestones: readonly Milestone[]
  readonly stay: TerminalStay
  readonly indEta: readonly Revision<number>[]
  readonly railCarrier: string | null
  /** Left standing at the consignee after delivery, from this instant. */
  readonly droppedAt: number | undefined
}

export interface ContainerSeat {
  readonly seed: number
  readonly ids: Ids
  readonly serial: number
  readonly ordinal: number
  readonly createdAt: number
}

const CONTAINER_DICE = 0xc0b
const EQUIPMENT_TYPES = [
  'dry',
  'dry',
  'dry',
  'dry',
  'dry',
  'dry',
  'reefer',
  'reefer',
  'open top',
  'flat rack',
  'tank',
  'bulk',
] as const

export function planContainer(seat: ContainerSeat, voyage: Voyage): ContainerPlan {
  const { seed, ids, serial, ordinal, createdAt } = seat
  const dice = createDice(seed, CONTAINER_DICE, serial, ordinal)
  const milestones = planMilestones(dice, voyage, createdAt)
  const delivered = milestones.find(({ name }) => name === 'delivered')
  const arrival = milestones.find(({ name }) => name === 'rail_arrived')
  const railDeparture = milestones.find(({ name }) => name === 'rail_departed')
  const firstTen = `${dice.pick(voyage.line.owners)}${dice.text('0123456789', 6)}`
  return {
    id: ids.encode('container', serial, ordinal),
    serial,
    ordinal,
    createdAt,
    number: `${firstTen}${containerCheckDigit(firstTen)}`,
    refNumbers: dice.chance(0.3) ? [`REF-${dice.text('0123456789ABCDEF', 6)}`] : [],
    sealNumber: dice.chance(0.7) ? dice.text('0123456789', 8) : null,
    equipmentType: rareType(serial, dice.chance(0.97) ? dice.pick(EQUIPMENT_TYPES) : null),
    equipmentLength: rareLength(serial, dice.pick([40, 40, 40, 40, 20, 20, 45, 10])),
    equipmentHeight: dice.pick(['high_cube', 'high_cube', 'standard']),
    weightInLbs: dice.chance(0.93) ? dice.integer(8_000, 60_000) : null,
    chassisNumber: dice.chance(0.4)
      ? `${dice.pick(['DCLZ', 'TSXZ', 'FLXZ'])}${dice.text('0123456789', 6)}`
      : null,
    milestones: announceOne(milestones, seed, serial, ordinal),
    stay: planTerminalStay(dice, voyage, milestones, createdAt),
    indEta:
      arrival === undefined || railDeparture === undefined
        ? []
        : planEstimates(dice, {
            actual: arrival.at,
            knownFrom: Math.max(createdAt, railDeparture.reportedAt),
            slackDays: 0.7,
          }),
    railCarrier: pickRailCarrier(voyage),
    droppedAt:
      delivered !== undefined && dice.chance(0.5)
        ? toSecond(delivered.reportedAt + dice.between(1, 9) * HOUR)
        : undefined,
  }
}

/** Not drawn: one more draw would change all later ones. */
function rareType(serial: number, drawn: string | null): string | null {
  return mix(serial, 50) % 120 === 0 ? 'hard top' : drawn
}

function rareLength(serial: number, drawn: number): number {
  return mix(serial, 51) % 150 === 0 ? 50 : drawn
}

function pickRailCarrier({ move, destinationTerminal }: Voyage): string | null {
  if (move !== 'rail') return null
  if (destinationTerminal === undefined) return 'CPRS'
  return 'carrier' in destinationTerminal.facts ? destinationTerminal.facts.carrier : 'NSRR'
}

/**
 * The milestone as the service shows it at the instant, if it knows of it: its report counts, not
 * its happening.
 */
export function knownMilestone(
  plan: ContainerPlan,
  name: MilestoneName,
  at: number,
): Milestone | undefined {
  for (const milestone of plan.milestones) {
    if (shownFrom(milestone) > at) return undefined
    if (milestone.name !== name) continue
    const { misreported } = milestone
    return misreported === undefined || at >= misreported.until
      ? milestone
      : { ...milestone, at: misreported.at }
  }
  return undefined
}
