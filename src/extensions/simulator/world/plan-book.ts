import type { Atlas } from './atlas.js'
import { INSERTED_SERIALS, type Census } from './census.js'
import type { ContainerPlan } from '../plans/container-plan.js'
import type { Ids } from './ids.js'
import type { Overlay } from './overlay.js'
import { planShipment, type ShipmentPlan } from '../plans/shipment-plan.js'
import { planTransportEvents, type PlannedEvent } from '../plans/transport-event-plan.js'

/**
 * Plans by serial. A small memory of the last ones saves most of the work of a page; it changes no
 * answer.
 */
export interface PlanBook {
  /** Undefined when the shipment was not yet created at the instant, or never will be. */
  shipment(serial: number, at: number): ShipmentPlan | undefined
  createdAt(serial: number): number | undefined
  container(serial: number, ordinal: number, at: number): PlannedContainer | undefined
  /** Every event of the container's life, newest `created_at` first. */
  transportEvents(planned: PlannedContainer): readonly PlannedEvent[]
}

export interface PlannedContainer {
  readonly shipment: ShipmentPlan
  readonly plan: ContainerPlan
}

/** A few pages. More would only be carried around by the garbage collector. */
const REMEMBERED = 300

export interface PlanSources {
  readonly seed: number
  readonly ids: Ids
  readonly atlas: Atlas
  readonly census: Census
  readonly overlay: Overlay
}

export function createPlanBook({ seed, ids, atlas, census, overlay }: PlanSources): PlanBook {
  const remembered = new Map<number, ShipmentPlan>()
  const events = new WeakMap<ContainerPlan, readonly PlannedEvent[]>()

  const createdAtOf = (serial: number): number | undefined => {
    if (serial < INSERTED_SERIALS) {
      const createdAt = census.shipmentCreatedAt(serial)
      return Number.isFinite(createdAt) ? createdAt : undefined
    }
    return overlay.inserted.find((inserted) => inserted.serial === serial)?.createdAt
  }
  const planOf = (serial: number, createdAt: number): ShipmentPlan => {
    let plan = remembered.get(serial)
    if (plan === undefined) {
      const containerCount = census.containerCountOf(serial)
      plan = planShipment({ seed, ids, atlas, serial, createdAt, containerCount })
      if (remembered.size >= REMEMBERED) forgetOldest(remembered)
      remembered.set(serial, plan)
    }
    return plan
  }
  const shipment = (serial: number, at: number): ShipmentPlan | undefined => {
    const createdAt = createdAtOf(serial)
    return createdAt === undefined || createdAt > at ? undefined : planOf(serial, createdAt)
  }
  return {
    shipment,
    createdAt: createdAtOf,
    container: (serial, ordinal, at) => {
      const found = shipment(serial, at)
      const plan = found?.containers[ordinal]
      return found === undefined || plan === undefined ? undefined : { shipment: found, plan }
    },
    transportEvents: (planned) => {
      let list = events.get(planned.plan)
      if (list === undefined) {
        list = planTransportEvents(seed, ids, planned.shipment, planned.plan)
        events.set(planned.plan, list)
      }
      return list
    },
  }
}

function forgetOldest(remembered: Map<number, ShipmentPlan>): void {
  const { value } = remembered.keys().next()
  if (value !== undefined) remembered.delete(value)
}
