import type { Dice } from '../world/dice.js'
import { DAY, HOUR, toMinute } from '../world/local-time.js'

/** A value that holds from `at` until the next revision. */
export interface Revision<Value> {
  readonly at: number
  readonly value: Value
}

/** The value at an instant; undefined before the first revision. Revisions are few and in order. */
export function valueAt<Value>(
  revisions: readonly Revision<Value>[],
  at: number,
): Value | undefined {
  let standing: Value | undefined
  for (const revision of revisions) {
    if (revision.at > at) break
    standing = revision.value
  }
  return standing
}

export interface EstimateFacts {
  /** The instant at which it will happen: the estimates close in on it. */
  readonly actual: number
  /** First instant at which anybody could know the estimate. */
  readonly knownFrom: number
  /** Typical error of the first estimate, in days. */
  readonly slackDays: number
}

/**
 * Three to six estimates whose error shrinks to under two hours; mostly too early at first, as
 * carriers are. None when the thing has happened before anybody looked.
 */
export function planEstimates(dice: Dice, facts: EstimateFacts): Revision<number>[] {
  const { actual, knownFrom, slackDays } = facts
  const lead = actual - knownFrom
  if (lead < 12 * HOUR) return []
  const count = dice.integer(3, 6)
  const delay = (0.7 + dice.bell()) * slackDays * DAY
  const isWholeHours = dice.chance(0.5)
  return Array.from({ length: count }, (_, step) => {
    const share = step === 0 ? 0 : (step + dice.between(-0.3, 0.3)) / count
    const noise = dice.bell() * 0.25 * slackDays * DAY * (1 - share)
    const error = step === count - 1 ? dice.bell() * HOUR * 0.7 : delay * (1 - share) ** 1.3 + noise
    const value = isWholeHours
      ? Math.round((actual - error) / HOUR) * HOUR
      : toMinute(actual - error)
    return { at: Math.ceil(knownFrom + share * lead * 0.97), value }
  })
}
