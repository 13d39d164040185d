import { knownMilestone, type ContainerPlan } from './container-plan.js'
import type { MilestoneName } from './milestones.js'

type ContainerStatus =
  | 'new'
  | 'on_ship'
  | 'available'
  | 'not_available'
  | 'grounded'
  | 'on_rail'
  | 'picked_up'
  | 'off_dock'
  | 'delivered'
  | 'dropped'
  | 'loaded'
  | 'empty_returned'
  | 'awaiting_inland_transfer'

/** The status that a container's last known milestone and its terminal's word give it. */
export function containerStatus(
  plan: ContainerPlan,
  move: 'truck' | 'rail',
  at: number,
): ContainerStatus {
  const has = (name: MilestoneName): boolean => knownMilestone(plan, name, at) !== undefined
  if (has('empty_in')) return 'empty_returned'
  if (has('delivered')) {
    return plan.droppedAt !== undefined && at >= plan.droppedAt ? 'dropped' : 'delivered'
  }
  if (has('full_out')) return 'picked_up'
  if (has('arrived_at_inland_destination')) return 'available'
  if (has('rail_loaded')) return 'on_rail'
  if (has('vessel_discharged')) return statusAtTerminal(plan, move, at)
  if (has('vessel_departed') || has('feeder_departed')) return 'on_ship'
  return has('vessel_loaded') || has('feeder_loaded') ? 'loaded' : 'new'
}

function statusAtTerminal(
  plan: ContainerPlan,
  move: 'truck' | 'rail',
  at: number,
): ContainerStatus {
  const { stay } = plan
  if (move === 'rail') return 'awaiting_inland_transfer'
  if (stay.offDockAt !== undefined && at >= stay.offDockAt) return 'off_dock'
  if (!stay.isAvailabilityKnown) return 'grounded'
  return isAvailableAt(plan, at) ? 'available' : 'not_available'
}

/** The word of the terminal where it is, port or ramp. False before discharge and after pick-up. */
export function isAvailableAt(plan: ContainerPlan, at: number): boolean {
  if (knownMilestone(plan, 'arrived_at_inland_destination', at) !== undefined) {
    return containerStatus(plan, 'rail', at) === 'available'
  }
  let isAvailable = false
  for (const change of plan.stay.availability) {
    if (change.at > at) break
    isAvailable = change.isAvailable
  }
  return isAvailable
}

export interface Hold {
  readonly name: string
  readonly status: 'pending' | 'hold'
  readonly description: string | null
  /** More of the terminal's own words, where it has any. */
  readonly detail?: string
}

export function standingHolds({ stay }: ContainerPlan, at: number): Hold[] {
  return stay.holds
    .filter(({ pendingAt, clearedAt }) => pendingAt <= at && at < clearedAt)
    .map(({ name, description, placedAt, editedAt = Infinity, isExam }) => ({
      name,
      status: at < placedAt ? 'pending' : 'hold',
      description: at < editedAt ? description : `${description ?? ''} - AT CES`,
      ...(isExam && at >= placedAt ? { detail: 'Centralized examination station' } : {}),
    }))
}
