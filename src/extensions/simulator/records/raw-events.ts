import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { ContainerPlan } from '../plans/container-plan.js'
import { mix } from '../world/dice.js'
import type { Ids } from '../world/ids.js'
import { isoSeconds } from '../world/local-time.js'
import { reference } from './reference-records.js'
import { shownFrom } from '../plans/milestones.js'

/** Milestones with another name in raw events, or without one. */
const OTHERWISE: Readonly<Record<string, string | null>> = {
  vessel_berthed: null,
  arrived_at_inland_destination: 'arrived_at_destination',
}

/** How many milestones ahead a line announces. */
const AHEAD = 3

/**
 * The reports of the carrier, unverified: every milestone known so far, and the next few as
 * estimates.
 */
export function rawEventRecords(ids: Ids, plan: ContainerPlan, at: number): ResourceObject[] {
  const shown = plan.milestones.map(shownFrom).filter((from) => from <= at)
  const known = shown.length
  const foretoldAt = Math.max(plan.createdAt, ...shown)
  return plan.milestones.slice(0, known + AHEAD).map((milestone, slot) => {
    const isEstimated = slot >= known
    const error = ((mix(plan.serial, plan.ordinal, slot) % 49) - 24) * 3_600_000
    const { name, site, vessel, voyageNumber } = milestone
    const timestamp = isoSeconds(isEstimated ? milestone.at + error : milestone.at)
    const day = timestamp.slice(0, 10)
    return {
      id: rawEventId(ids, plan, slot),
      type: 'raw_event',
      attributes: {
        event: name in OTHERWISE ? OTHERWISE[name] : name,
        original_event: name.replaceAll('_', ' ').toUpperCase(),
        timestamp,
        estimated: isEstimated,
        actual_on: isEstimated ? null : day,
        estimated_on: isEstimated ? day : null,
        actual_at: isEstimated ? null : timestamp,
        estimated_at: isEstimated ? timestamp : null,
        index: slot,
        created_at: isoSeconds(isEstimated ? foretoldAt : shownFrom(milestone)),
        voyage_number: voyageNumber,
        location_name: site.name,
        location_locode: site.locode,
        vessel_name: vessel?.name ?? null,
        vessel_imo: vessel?.imo ?? null,
        timezone: site.zone,
      },
      relationships: {
        location: reference(site.type, site.id),
        vessel: vessel === undefined ? { data: null } : reference('vessel', vessel.id),
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
