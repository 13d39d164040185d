import type { Relationship, ResourceObject } from '../../../source/jsonapi/document.js'
import type { Site, TerminalSite } from '../world/atlas.js'
import { knownMilestone } from '../plans/container-plan.js'
import { mix } from '../world/dice.js'
import { valueAt, type Revision } from '../plans/estimates.js'
import { HOUR, isoSeconds, isoSecondsOrNull } from '../world/local-time.js'
import type { MilestoneName } from '../plans/milestones.js'
import { reference, without } from './reference-records.js'
import type { ShipmentPlan } from '../plans/shipment-plan.js'
import { lastTick } from '../world/ticks.js'

export interface ShipmentScene {
  readonly hasExtras: boolean
  readonly containerIds: readonly string[]
  /** The user who stopped the tracking, if a user did. */
  readonly userId: string
}

const ATTEMPT_HOURS = 6

/** The shipment as the service shows it at an instant. */
export function shipmentRecord(
  plan: ShipmentPlan,
  scene: ShipmentScene,
  at: number,
): ResourceObject {
  const { voyage, ending } = plan
  const isStopped = at >= ending.stoppedAt
  const attributes = allAttributes(plan, at)
  const isUserStop = isStopped && ending.reason === 'cancelled_by_user'
  return {
    id: plan.id,
    type: 'shipment',
    attributes: scene.hasExtras ? attributes : without(EXTRAS, attributes),
    relationships: {
      port_of_lading: placeReference(voyage.pol),
      port_of_discharge: placeReference(voyage.pod),
      pod_terminal: placeReference(voyage.podTerminal),
      destination: placeReference(voyage.destination),
      destination_terminal: placeReference(voyage.destinationTerminal),
      line_tracking_stopped_by_user: isUserStop ? reference('user', scene.userId) : { data: null },
      containers: { data: scene.containerIds.map((id) => ({ id, type: 'container' })) },
    },
    links: { self: `/v2/shipments/${plan.id}` },
  }
}

function placeReference(place: Site | TerminalSite | undefined): Relationship {
  return place === undefined ? { data: null } : reference(place.type, place.id)
}

/** Attributes that published payloads have and the interface does not name. */
const EXTRAS = new Set(['pol_original_etd_at', 'destination_original_eta_at'])

/** One literal: put together from parts it would cost several times as much. */
function allAttributes(plan: ShipmentPlan, at: number): Record<string, unknown> {
  const { voyage, isZoneUnknown, ending, destinationEta } = plan
  const { line, pol, pod, destination, podVessel } = voyage
  const isStopped = at >= ending.stoppedAt
  const until = Math.min(at, ending.frozenAt)
  const first = plan.containers[0]
  const known = (name: MilestoneName): string | null =>
    isoSecondsOrNull(first && knownMilestone(first, name, until)?.at)
  const estimate = (revisions: readonly Revision<number>[]): string | null =>
    isoSecondsOrNull(valueAt(revisions, until))
  const arrivedAt = known('vessel_arrived')
  const inlandArrival = voyage.move === 'rail' ? known('rail_arrived') : arrivedAt
  const checks = checksAt(plan, at)
  return {
    created_at: isoSeconds(plan.createdAt),
    ref_numbers: plan.refNumbers,
    tags: plan.tags,
    bill_of_lading_number: plan.billOfLading,
    normalized_number: plan.normalizedNumber,
    shipping_line_scac: line.scac,
    shipping_line_name: line.name,
    shipping_line_short_name: line.shortName,
    customer_name: plan.customer,
    port_of_lading_locode: pol.locode,
    port_of_lading_name: pol.name,
    port_of_discharge_locode: pod.locode,
    port_of_discharge_name: pod.name,
    pod_vessel_name: podVessel.name,
    pod_vessel_imo: podVessel.imo,
    pod_voyage_number: voyage.podVoyageNumber,
    destination_locode: destination?.locode ?? null,
    destination_name: destination?.name ?? null,
    destination_timezone: destination?.zone ?? null,
    destination_ata_at: destination === undefined ? null : inlandArrival,
    destination_eta_at: estimate(destinationEta),
    pol_etd_at: estimate(voyage.etdRevisions),
    pol_atd_at: known('vessel_departed'),
    pol_timezone: isZoneUnknown ? null : pol.zone,
    pod_eta_at: estimate(voyage.etaRevisions),
    pod_original_eta_at: isoSecondsOrNull(voyage.etaRevisions[0]?.value),
    pol_original_etd_at: isoSecondsOrNull(voyage.etdRevisions[0]?.value),
    destination_original_eta_at: isoSecondsOrNull(destinationEta[0]?.value),
    pod_ata_at: arrivedAt,
    pod_timezone: isZoneUnknown ? null : pod.zone,
    line_tracking_last_attempted_at: checks.attemptedAt,
    line_tracking_last_succeeded_at: checks.succeededAt,
    line_tracking_stopped_at: isStopped ? isoSeconds(ending.stoppedAt) : null,
    line_tracking_stopped_reason: isStopped ? ending.reason : null,
  }
}

/** The instants of the last request to the line and of its last answer. */
function checksAt(
  plan: ShipmentPlan,
  at: number,
): { readonly attemptedAt: string; readonly succeededAt: string } {
  const { ending, createdAt } = plan
  const attemptedAt = lastTick(plan, Math.min(at, ending.stoppedAt), ATTEMPT_HOURS) ?? createdAt
  const checkedAt = lastTick(plan, Math.min(at, ending.frozenAt), ATTEMPT_HOURS) ?? createdAt
  // One check in eight fails; then the last success is the one before.
  const earlierAt = checkedAt - ATTEMPT_HOURS * HOUR
  const hasFailed = mix(plan.serial, checkedAt / 1000) % 8 === 0
  const succeededAt = hasFailed && earlierAt >= createdAt ? earlierAt : checkedAt
  return { attemptedAt: isoSeconds(attemptedAt), succeededAt: isoSeconds(succeededAt) }
}
