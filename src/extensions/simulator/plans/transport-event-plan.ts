import type { Site, TerminalSite, Vessel } from '../world/atlas.js'
import type { ContainerPlan } from './container-plan.js'
import { createDice, mix, type Dice } from '../world/dice.js'
import { valueAt, type Revision } from './estimates.js'
import type { Ids } from '../world/ids.js'
import { HOUR, toSecond } from '../world/local-time.js'
import { shownFrom, type DataSource, type Milestone } from './milestones.js'
import type { ShipmentPlan } from './shipment-plan.js'
import type { TerminalStay } from './terminal-stay.js'

/**
 * One transport event over its life: listed from `createdAt` until `withdrawnAt`, then its id is
 * gone.
 */
export interface PlannedEvent {
  readonly id: string
  readonly event: string
  readonly timestamp: number | null
  readonly createdAt: number
  readonly withdrawnAt: number
  readonly source: DataSource
  /** Undefined for an event without a place: then zone and UN/LOCODE are null as well. */
  readonly site: Site | undefined
  readonly terminal: TerminalSite | undefined
  readonly vessel: Vessel | undefined
  readonly voyageNumber: string | null
  /** For a change: the new value. */
  readonly value?: number
  /** The time from which it is withdrawn. */
  readonly invalidatedAt?: number
  /** The raw event it was made from. */
  readonly sourceEventId?: string
  /** The event that it replaces. */
  readonly previousVersionId?: string
}

type Draft = Omit<PlannedEvent, 'id'> & {
  readonly slot: number
  readonly revision: number
  /** It replaces the revision before. */
  readonly isOfSeries?: boolean
}

/** Slots make ids stable: a milestone keeps its slot when other events are planned or not. */
const SLOTS = {
  milestones: 0,
  estimatedDeparture: 40,
  estimatedArrival: 41,
  estimatedInland: 42,
  pickupLfd: 50,
  pickupLfdLine: 51,
  pickupLfdTerminal: 52,
  pickupLfdRail: 53,
  appointment: 54,
  availability: 55,
  document: 56,
  invalidated: 57,
} as const

const EVENT_DICE = 0xe7e
const FOREVER = Number.POSITIVE_INFINITY

/**
 * All transport events of a container, past, present, future and withdrawn; newest `created_at`
 * first.
 */
export function planTransportEvents(
  seed: number,
  ids: Ids,
  shipment: ShipmentPlan,
  plan: ContainerPlan,
): PlannedEvent[] {
  const dice = createDice(seed, EVENT_DICE, plan.serial, plan.ordinal)
  const drafts = [
    ...plan.milestones.map((milestone, slot) => milestoneEvent(dice, milestone, slot)),
    ...planEstimatedEvents(dice, shipment, plan),
    ...planDeadlineEvents(shipment, plan),
    ...planAvailabilityEvents(dice, shipment, plan),
    ...planDocumentEvents(dice, plan),
    ...planInvalidatedEvents(plan),
  ]
  const { serial, ordinal } = plan
  return drafts
    .map(({ slot, revision, isOfSeries = false, ...draft }) => ({
      ...draft,
      id: ids.encode('transport_event', serial, ordinal, slot, revision),
      ...(isOfSeries && revision > 0
        ? { previousVersionId: ids.encode('transport_event', serial, ordinal, slot, revision - 1) }
        : {}),
      ...(slot < plan.milestones.length
        ? { sourceEventId: ids.encode('raw_event', serial, ordinal, slot) }
        : {}),
    }))
    .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1))
}

function milestoneEvent(dice: Dice, milestone: Milestone, slot: number): Draft {
  const isPlaceless = milestone.name === 'empty_in' && dice.chance(0.3)
  return {
    slot: SLOTS.milestones + slot,
    revision: 0,
    event: `container.transport.${milestone.name}`,
    timestamp: dice.chance(0.01) ? null : milestone.at,
    createdAt: shownFrom(milestone),
    withdrawnAt: FOREVER,
    source: milestone.source,
    site: isPlaceless ? undefined : milestone.site,
    terminal: isPlaceless || dice.chance(0.2) ? undefined : milestone.terminal,
    vessel: milestone.vessel,
    voyageNumber: milestone.voyageNumber,
  }
}

/**
 * Each revision replaces the one before under a new id; about half of the last ones outlive the
 * real thing.
 */
function planEstimatedEvents(dice: Dice, shipment: ShipmentPlan, plan: ContainerPlan): Draft[] {
  const { voyage } = shipment
  const reportOf = (name: Milestone['name']): number =>
    plan.milestones.find((milestone) => milestone.name === name)?.reportedAt ?? FOREVER
  const series = (
    revisions: readonly Revision<number>[],
    slot: number,
    event: string,
    happenedAt: number,
    place: Pick<Draft, 'site' | 'terminal' | 'vessel' | 'voyageNumber'>,
  ): Draft[] => {
    const outlives = dice.chance(0.5)
    const isPlaceless = dice.chance(0.4)
    return revisions.map(({ at, value }, revision) => ({
      site: isPlaceless ? undefined : place.site,
      terminal: isPlaceless ? undefined : place.terminal,
      vessel: place.vessel,
      voyageNumber: place.voyageNumber,
      slot,
      revision,
      isOfSeries: true,
      event: `container.transport.estimated.${event}`,
      timestamp: value,
      createdAt: toSecond(at),
      withdrawnAt: toSecond(revisions[revision + 1]?.at ?? (outlives ? FOREVER : happenedAt)),
      source: 'shipping_line',
    }))
  }
  const none = { terminal: undefined, vessel: undefined, voyageNumber: null }
  const drafts: Draft[] = []
  if (dice.chance(0.35)) {
    const place = {
      site: voyage.pod,
      terminal: voyage.podTerminal,
      vessel: voyage.podVessel,
      voyageNumber: voyage.podVoyageNumber,
    }
    const { estimatedArrival: slot } = SLOTS
    const happenedAt = reportOf('vessel_arrived')
    drafts.push(...series(voyage.etaRevisions, slot, 'vessel_arrived', happenedAt, place))
  }
  if (dice.chance(0.3)) {
    const place = {
      ...none,
      site: voyage.pol,
      vessel: voyage.firstVessel,
      voyageNumber: voyage.firstVoyageNumber,
    }
    const { estimatedDeparture: slot } = SLOTS
    const happenedAt = reportOf('vessel_departed')
    drafts.push(...series(voyage.etdRevisions, slot, 'vessel_departed', happenedAt, place))
  }
  if (voyage.destination !== undefined && dice.chance(0.6)) {
    const place = { ...none, site: voyage.destination, terminal: voyage.destinationTerminal }
    const { estimatedInland: slot } = SLOTS
    const happenedAt = reportOf('arrived_at_inland_destination')
    const event = 'arrived_at_inland_destination'
    drafts.push(...series(plan.indEta, slot, event, happenedAt, place))
  }
  return drafts
}

/** A changed deadline is an event each time, the first time included: from nothing to a day. */
function planDeadlineEvents(shipment: ShipmentPlan, plan: ContainerPlan): Draft[] {
  const { voyage } = shipment
  const { stay } = plan
  const atPod = { site: voyage.pod, terminal: voyage.podTerminal }
  const inland = { site: voyage.destination, terminal: voyage.destinationTerminal }
  const series = (
    revisions: readonly Revision<number>[],
    slot: number,
    event: string,
    source: DataSource,
    place: Pick<Draft, 'site' | 'terminal'>,
  ): Draft[] =>
    revisions.map(({ at, value }, revision) => ({
      value,
      site: place.site,
      terminal: place.terminal,
      slot,
      revision,
      isOfSeries: true,
      event: `container.${event}.changed`,
      timestamp: at,
      createdAt: at,
      withdrawnAt: FOREVER,
      source,
      vessel: undefined,
      voyageNumber: null,
    }))
  return [
    ...series(coalescedLastFreeDay(stay), SLOTS.pickupLfd, 'pickup_lfd', 'terminal', atPod),
    ...series(stay.lfdLine, SLOTS.pickupLfdLine, 'pickup_lfd_line', 'shipping_line', atPod),
    ...series(stay.lfdTerminal, SLOTS.pickupLfdTerminal, 'pickup_lfd_terminal', 'terminal', atPod),
    ...series(stay.lfdRail, SLOTS.pickupLfdRail, 'pickup_lfd_rail', 'rail', inland),
    ...series(stay.appointment, SLOTS.appointment, 'pickup_appointment', 'terminal', atPod),
  ]
}

/**
 * How `pickup_lfd` itself moves: the line's day before the terminal's, the terminal's before the
 * railway's.
 */
function coalescedLastFreeDay({ lfdLine, lfdTerminal, lfdRail }: TerminalStay): Revision<number>[] {
  const instants = [...lfdLine, ...lfdTerminal, ...lfdRail].map(({ at }) => at)
  const revisions: Revision<number>[] = []
  for (const at of instants.sort((one, other) => one - other)) {
    const value = valueAt(lfdLine, at) ?? valueAt(lfdTerminal, at) ?? valueAt(lfdRail, at)
    if (value !== undefined && value !== revisions.at(-1)?.value) revisions.push({ at, value })
  }
  return revisions
}

function planAvailabilityEvents(dice: Dice, shipment: ShipmentPlan, plan: ContainerPlan): Draft[] {
  const { stay } = plan
  if (!stay.isAvailabilityKnown || stay.leftAt <= stay.dischargedAt) return []
  const { pod, podTerminal } = shipment.voyage
  // The last change is the departure itself: it makes no event of availability.
  return stay.availability.slice(0, -1).flatMap(({ at, isAvailable }, revision): Draft[] => {
    if (revision === 0 && dice.chance(0.5)) return []
    return [
      {
        slot: SLOTS.availability,
        revision,
        event: `container.transport.${isAvailable ? 'available' : 'not_available'}`,
        timestamp: at,
        createdAt: at,
        withdrawnAt: FOREVER,
        source: 'terminal',
        site: pod,
        terminal: podTerminal,
        vessel: undefined,
        voyageNumber: null,
      },
    ]
  })
}

function planDocumentEvents(dice: Dice, plan: ContainerPlan): Draft[] {
  if (!dice.chance(0.07)) return []
  const at = toSecond(plan.createdAt + dice.between(1, 60) * HOUR)
  return [
    {
      slot: SLOTS.document,
      revision: 0,
      event: dice.chance(0.75) ? 'document.extracted' : 'document.extraction_failed',
      timestamp: at,
      createdAt: at,
      withdrawnAt: FOREVER,
      // Some are uploaded by hand.
      source: mix(plan.serial, plan.ordinal, 63) % 3 === 0 ? 'user_input' : 'shipping_line',
      site: undefined,
      terminal: undefined,
      vessel: undefined,
      voyageNumber: null,
    },
  ]
}

/**
 * For some of the milestones that were first reported too early, the correction lists the first
 * report as no longer true.
 */
function planInvalidatedEvents(plan: ContainerPlan): Draft[] {
  if (mix(plan.serial, plan.ordinal, 62) % 3 !== 0) return []
  return plan.milestones.flatMap(({ name, misreported, site, terminal, vessel, voyageNumber }) =>
    misreported === undefined
      ? []
      : [
          {
            slot: SLOTS.invalidated,
            revision: 0,
            event: `container.transport.${name}`,
            timestamp: misreported.at,
            createdAt: misreported.until,
            invalidatedAt: misreported.until,
            withdrawnAt: FOREVER,
            source: 't49_operations_team',
            site,
            terminal,
            vessel,
            voyageNumber,
          },
        ],
  )
}
