import { mix } from '../world/dice.js'
import { isoSeconds, isoSecondsOrNull } from '../world/local-time.js'
import type { ContainerPlan } from './container-plan.js'
import { valueAt, type Revision } from './estimates.js'

/** One in so many containers has an object in place of each date, with all known facts. */
const DETAILED_EVERY = 24

/** The last free days at an instant, by source. */
export function lastFreeDaysAt({ stay }: ContainerPlan, at: number) {
  return {
    pickup_lfd_terminal: isoSecondsOrNull(valueAt(stay.lfdTerminal, at)),
    pickup_lfd_rail: isoSecondsOrNull(valueAt(stay.lfdRail, at)),
    pickup_lfd_line: isoSecondsOrNull(valueAt(stay.lfdLine, at)),
  }
}

/** The service's pick of them. */
export function coalescedDay(days: ReturnType<typeof lastFreeDaysAt>): string | null {
  return days.pickup_lfd_line ?? days.pickup_lfd_terminal ?? days.pickup_lfd_rail
}

/** The attribute: a date by source; of a few containers where each date comes from as well. */
export function importDeadlinesAt(
  plan: ContainerPlan,
  days: ReturnType<typeof lastFreeDaysAt>,
  at: number,
): Readonly<Record<string, unknown>> {
  const day = coalescedDay(days)
  if (day === null || mix(plan.serial, plan.ordinal, 5) % DETAILED_EVERY !== 0) return days
  const { lfdTerminal, lfdRail, lfdLine } = plan.stay
  return {
    pickup_lfd_terminal: detailed(lfdTerminal, at),
    pickup_lfd_rail: detailed(lfdRail, at),
    pickup_lfd_line: detailed(lfdLine, at),
    unified: { value: day, source: days.pickup_lfd_line === day ? 'line' : 'terminal' },
  }
}

/** The first and the latest word, and a day that the service calculates from the tariff. */
function detailed(revisions: readonly Revision<number>[], at: number): object | null {
  const [first] = revisions
  const current = valueAt(revisions, at)
  if (first === undefined || current === undefined) return null
  return {
    original: isoSeconds(first.value),
    current: isoSeconds(current),
    calculated: {
      value: isoSeconds(first.value),
      free_days: 4,
      start_event: 'vessel_discharged',
      holidays: [],
      business_days: true,
    },
  }
}
