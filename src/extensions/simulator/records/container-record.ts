import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { knownMilestone, type ContainerPlan } from '../plans/container-plan.js'
import { containerStatus, isAvailableAt, standingHolds } from '../plans/container-status.js'
import { mix } from '../world/dice.js'
import { valueAt } from '../plans/estimates.js'
import { feesAt } from '../plans/fees.js'
import { coalescedDay, importDeadlinesAt, lastFreeDaysAt } from '../plans/last-free-days.js'
import { inlandFeesAt, inlandHoldsAt } from '../plans/inland-stay.js'
import { isoSeconds, isoSecondsOrNull } from '../world/local-time.js'
import type { MilestoneName } from '../plans/milestones.js'
import { reference, without } from './reference-records.js'
import type { ShipmentPlan } from '../plans/shipment-plan.js'
import { lastTick } from '../world/ticks.js'

/** The records and options around a container's own plan that its record needs. */
export interface ContainerScene {
  readonly shipment: ShipmentPlan
  /** Attributes that published payloads carry and the interface does not name. */
  readonly hasExtras: boolean
  readonly transportEventIds: readonly string[]
  readonly rawEventIds: readonly string[]
}

const TERMINAL_CHECK_HOURS = 3
const LINE_CHECK_HOURS = 6

/**
 * The container as the service shows it at an instant. `at` is the last instant at which anything
 * was still updated.
 */
export function containerRecord(
  plan: ContainerPlan,
  scene: ContainerScene,
  at: number,
): ResourceObject {
  const { voyage } = scene.shipment
  const attributes = allAttributes(plan, scene, at)
  const facility =
    voyage.move === 'rail'
      ? voyage.destinationTerminal
      : mix(plan.serial, 3) % 2 === 0
        ? voyage.podTerminal
        : undefined
  return {
    id: plan.id,
    type: 'container',
    attributes: scene.hasExtras ? attributes : without(EXTRAS, attributes),
    relationships: {
      shipment: reference('shipment', scene.shipment.id),
      pickup_facility:
        facility?.type === 'terminal' ? reference('terminal', facility.id) : { data: null },
      pod_terminal: voyage.podTerminal
        ? reference('terminal', voyage.podTerminal.id)
        : { data: null },
      transport_events: {
        data: scene.transportEventIds.map((id) => ({ id, type: 'transport_event' })),
      },
      raw_events: { data: scene.rawEventIds.map((id) => ({ id, type: 'raw_event' })) },
    },
  }
}

/**
 * One literal, because a page has hundreds of containers: an object put together from parts costs
 * several times as much to make and to collect.
 */
function allAttributes(
  plan: ContainerPlan,
  { shipment, hasExtras }: ContainerScene,
  at: number,
): Record<string, unknown> {
  const { stay, railCarrier } = plan
  const { voyage, isZoneUnknown } = shipment
  const isRail = voyage.move === 'rail'
  const known = (name: MilestoneName): string | null => knownAt(plan, name, at)
  const fullOut = known('full_out')
  const days = lastFreeDaysAt(plan, at)
  const checkedAt = terminalCheckedAt(plan, at)
  const lineCheckedAt = isoSeconds(lastTick(shipment, at, LINE_CHECK_HOURS) ?? plan.createdAt)
  const inlandZone = isRail ? (voyage.destination?.zone ?? null) : null
  return {
    number: plan.number,
    seal_number: plan.sealNumber,
    created_at: isoSeconds(plan.createdAt),
    ref_numbers: plan.refNumbers,
    equipment_type: plan.equipmentType,
    equipment_length: plan.equipmentLength,
    equipment_height: plan.equipmentHeight,
    weight_in_lbs: plan.weightInLbs,
    pod_arrived_at: known('vessel_arrived'),
    pod_discharged_at: known('vessel_discharged'),
    pod_full_out_at: isRail ? null : fullOut,
    pod_full_out_chassis_number: fullOut === null || isRail ? null : plan.chassisNumber,
    final_destination_full_out_at: isRail ? fullOut : null,
    empty_terminated_at: known('empty_in'),
    pod_rail_carrier_scac: railCarrier,
    ind_rail_carrier_scac: railCarrier,
    pod_rail_loaded_at: known('rail_loaded'),
    pod_rail_departed_at: known('rail_departed'),
    ind_eta_at: isoSecondsOrNull(valueAt(plan.indEta, at)),
    ind_ata_at: known('rail_arrived'),
    ind_rail_unloaded_at: known('rail_unloaded'),
    pickup_lfd: coalescedDay(days),
    pickup_appointment_at: isoSecondsOrNull(valueAt(stay.appointment, at)),
    availability_known: stay.isAvailabilityKnown,
    available_for_pickup: stay.isAvailabilityKnown ? isAvailableAt(plan, at) : null,
    terminal_checked_at: checkedAt,
    location_at_pod_terminal: locationAt(plan, at),
    holds_at_pod_terminal: standingHolds(plan, at),
    fees_at_pod_terminal: feesAt(stay, at),
    pod_last_tracking_request_at: checkedAt,
    shipment_last_tracking_request_at: lineCheckedAt,
    ind_facility_lfd_on: days.pickup_lfd_rail,
    import_deadlines: hasExtras ? importDeadlinesAt(plan, days, at) : days,
    pod_timezone: isZoneUnknown ? null : voyage.pod.zone,
    final_destination_timezone: inlandZone,
    empty_terminated_timezone: inlandZone ?? voyage.pod.zone,
    delivered_at: known('delivered'),
    empty_out_at: known('empty_out'),
    pol_full_in_at: known('full_in'),
    pol_vessel_loaded_at: known('vessel_loaded'),
    pol_vessel_departed_at: known('vessel_departed'),
    rail_last_tracking_request_at: isRail && checkedAt !== null ? lineCheckedAt : null,
    ind_facility_holds: isRail ? inlandHoldsAt(plan, at) : null,
    ind_facility_fees: isRail ? inlandFeesAt(plan, at) : null,
    ssl_lfd: days.pickup_lfd_line,
    current_status: containerStatus(plan, voyage.move, at),
  }
}

/** Attributes that published payloads have and the interface does not name. */
const EXTRAS = new Set([
  'delivered_at',
  'empty_out_at',
  'pol_full_in_at',
  'pol_vessel_loaded_at',
  'pol_vessel_departed_at',
  'rail_last_tracking_request_at',
  'ind_facility_holds',
  'ind_facility_fees',
  'ssl_lfd',
])

function knownAt(plan: ContainerPlan, name: MilestoneName, at: number): string | null {
  return isoSecondsOrNull(knownMilestone(plan, name, at)?.at)
}

function terminalCheckedAt(plan: ContainerPlan, at: number): string | null {
  if (at < plan.stay.dischargedAt) return null
  return isoSecondsOrNull(lastTick(plan, Math.min(at, plan.stay.leftAt), TERMINAL_CHECK_HOURS))
}

function locationAt({ stay, railCarrier }: ContainerPlan, at: number): string | null {
  if (at < stay.dischargedAt) return null
  if (at < stay.leftAt) return stay.yardSpot
  return railCarrier === null ? 'Community' : 'RAIL'
}
