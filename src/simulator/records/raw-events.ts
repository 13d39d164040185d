import type { ResourceObject } from '../../jsonapi/document.js'
import type { ContainerPlan } from '../plans/container-plan.js'
import { mix } from '../world/dice.js'
import type { Ids } from '../world/ids.js'
import { isoSeconds } from '../world/local-time.js'
import { shownFrom } from '../plans/milestones.js'

/** How many milestones ahead a line announces. */
const AHEAD = 3

/**
 * What the sources said, unverified: every milestone known so far, and the next few as estimates.
 * The interface names no fields; those here are the least a reader could use.
 */
export function rawEventRecords(ids: Ids, plan: ContainerPlan, at: number): ResourceObject[] {
  const known = plan.milestones.filter((one) => shownFrom(one) <= at).length
  return plan.milestones.slice(0, known + AHEAD).map((milestone, slot) => {
    const isEstimated = slot >= known
    const error = ((mix(plan.serial, plan.ordinal, slot) % 49) - 24) * 3_600_000
    return {
      id: rawEventId(ids, plan, slot),
      type: 'raw_event',
      attributes: {
        event: milestone.name,
        timestamp: isoSeconds(isEstimated ? milestone.at + error : milestone.at),
        estimated: isEstimated,
      },
    }
  })
}

export function rawEventIds(ids: Ids, plan: ContainerPlan, at: number): string[] {
  const known = plan.milestones.filter((one) => shownFrom(one) <= at).length
  return plan.milestones.slice(0, known + AHEAD).map((_, slot) => rawEventId(ids, plan, slot))
}

function rawEventId(ids: Ids, plan: ContainerPlan, slot: number): string {
  return ids.encode('raw_event', plan.serial, plan.ordinal, slot)
}
