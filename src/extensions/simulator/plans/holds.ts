import type { Dice } from '../world/dice.js'
import { DAY, toSecond } from '../world/local-time.js'

/**
 * One hold over its life: perhaps announced (`pending`), then in force (`hold`), then no longer
 * listed.
 */
export interface PlannedHold {
  readonly name: string
  readonly description: string | null
  /** Announced from here on; equal to `placedAt` when it came unannounced. */
  readonly pendingAt: number
  readonly placedAt: number
  readonly clearedAt: number
  /** From this instant on the text of an exam names its place. */
  readonly editedAt?: number
  /** Came after the container had been available once. */
  readonly isLate: boolean
  readonly isExam: boolean
}

interface Stay {
  readonly createdAt: number
  readonly dischargedAt: number
  readonly leftAt: number
}

const HOLD_NAMES = ['customs', 'freight', 'USDA', 'TMF', 'other'] as const

const DESCRIPTIONS: Readonly<Record<(typeof HOLD_NAMES)[number], readonly (string | null)[]>> = {
  customs: ['CBP EXAM', '1H - CUSTOMS HOLD', 'VACIS EXAM', null],
  freight: ['LINE FREIGHT HOLD', 'Awaiting original bill of lading', null],
  USDA: ['AGRICULTURE HOLD', null],
  TMF: ['Traffic mitigation fee unpaid', null],
  other: ['Damaged container, call terminal', null],
}

/** Two holds of one name at once; only their texts differ. */
const TWINS = ['DOWN - Broken Machine Over Pile', 'MACHINE - '] as const

export function planHolds(dice: Dice, stay: Stay): PlannedHold[] {
  const length = stay.leftAt - stay.dischargedAt
  const into = (share: number): number => toSecond(stay.dischargedAt + length * share)
  const holds: PlannedHold[] = []
  const count = dice.chance(0.45) ? dice.integer(1, 3) : 0
  for (let number = 0; number < count; number++) {
    const name = dice.pick(HOLD_NAMES)
    const description = dice.pick(DESCRIPTIONS[name])
    if (holds.some((other) => other.name === name)) continue
    const placedAt = into(dice.between(0, 0.1))
    const announcedAt = stay.dischargedAt - dice.between(1, 8) * DAY
    const pendingAt = dice.chance(0.6) ? Math.max(stay.createdAt, toSecond(announcedAt)) : placedAt
    const clearedAt = into(dice.between(0.25, 0.7))
    const isExam = description?.endsWith('EXAM') ?? false
    holds.push({
      name,
      description,
      pendingAt: Math.min(pendingAt, placedAt),
      placedAt,
      clearedAt,
      ...(isExam ? { editedAt: toSecond((placedAt + clearedAt) / 2) } : {}),
      isLate: false,
      isExam,
    })
  }
  if (dice.chance(0.05)) holds.push(...planTwins(into(0.02), into(0.4)))
  if (dice.chance(0.1)) {
    const placedAt = into(0.75)
    holds.push({
      name: dice.pick(HOLD_NAMES),
      description: null,
      pendingAt: placedAt,
      placedAt,
      clearedAt: into(0.9),
      isLate: true,
      isExam: false,
    })
  }
  return holds
}

function planTwins(placedAt: number, clearedAt: number): PlannedHold[] {
  return TWINS.map((description) => ({
    name: 'other',
    description,
    pendingAt: placedAt,
    placedAt,
    clearedAt,
    isLate: false,
    isExam: false,
  }))
}
