import { inlandInstants } from '../plans/inland-stay.js'
import type { ContainerPlan } from '../plans/container-plan.js'
import { DAY, HOUR, toSecond } from '../world/local-time.js'
import { shownFrom } from '../plans/milestones.js'
import type { PlanBook } from '../world/plan-book.js'
import type { ShipmentPlan } from '../plans/shipment-plan.js'

/**
 * Whole seconds at which an attribute of the container may differ from the second before, in order.
 * Some of them change nothing: the caller compares the attributes. Nothing changes after the
 * shipment is frozen.
 */
export function containerChangeInstants(plan: ContainerPlan, frozenAt: number): number[] {
  const { stay } = plan
  const instants = [
    ...plan.milestones.flatMap((milestone) => {
      const { misreported } = milestone
      return [shownFrom(milestone), ...(misreported === undefined ? [] : [misreported.until])]
    }),
    ...stay.availability.map(({ at }) => at),
    ...stay.holds.flatMap(({ pendingAt, placedAt, editedAt = placedAt, clearedAt }) => [
      pendingAt,
      placedAt,
      editedAt,
      clearedAt,
    ]),
    ...[stay.lfdTerminal, stay.lfdLine, stay.lfdRail, stay.appointment, plan.indEta].flatMap(
      (revisions) => revisions.map(({ at }) => at),
    ),
    ...feeInstants(plan),
    ...inlandInstants(plan),
    stay.dischargedAt,
    stay.leftAt,
    ...(plan.droppedAt === undefined ? [] : [plan.droppedAt]),
    ...(stay.offDockAt === undefined ? [] : [stay.offDockAt]),
  ]
  return inOrder(instants.filter((at) => at > plan.createdAt && at <= frozenAt))
}

/**
 * The instants at which demurrage grows by a day, and at which the other fees begin and end;
 * `fees.ts` has the rules.
 */
function feeInstants({ stay }: ContainerPlan): number[] {
  const instants = [stay.dischargedAt + DAY, stay.dischargedAt + 6 * DAY, stay.leftAt + 12 * HOUR]
  for (const { value } of stay.lfdTerminal) {
    for (let at = value + DAY; at <= stay.leftAt; at += DAY) instants.push(at)
  }
  return instants
}

/**
 * Every whole second at which the shipment or its containers may have an occurrence, in order, its
 * creation included.
 */
export function shipmentStirInstants(shipment: ShipmentPlan, book: PlanBook): number[] {
  const { createdAt, ending, voyage, containers } = shipment
  const instants = [createdAt, ending.stoppedAt, ...voyage.etaRevisions.map(({ at }) => at)]
  for (const plan of containers) {
    instants.push(...containerChangeInstants(plan, ending.frozenAt))
    for (const event of book.transportEvents({ shipment, plan })) {
      if (event.createdAt <= ending.frozenAt) instants.push(event.createdAt)
    }
  }
  return inOrder(instants)
}

function inOrder(instants: readonly number[]): number[] {
  return [...new Set(instants.map(toSecond))].sort((one, other) => one - other)
}
