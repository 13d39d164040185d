import type { Site, TerminalSite, Vessel } from '../world/atlas.js'
import { mix, type Dice } from '../world/dice.js'
import { DAY, HOUR, toMinute, toSecond } from '../world/local-time.js'
import type { Voyage } from '../world/voyage.js'

export type MilestoneName =
  | 'empty_out'
  | 'full_in'
  | 'feeder_loaded'
  | 'feeder_departed'
  | 'feeder_arrived'
  | 'feeder_discharged'
  | 'vessel_loaded'
  | 'vessel_departed'
  | 'transshipment_arrived'
  | 'transshipment_discharged'
  | 'transshipment_loaded'
  | 'transshipment_departed'
  | 'vessel_arrived'
  | 'vessel_berthed'
  | 'vessel_discharged'
  | 'rail_loaded'
  | 'rail_departed'
  | 'rail_arrived'
  | 'rail_unloaded'
  | 'arrived_at_inland_destination'
  | 'full_out'
  | 'delivered'
  | 'empty_in'

export type DataSource = ReportSource | 't49_operations_team' | 'user_input'

/** The sources of milestones. */
type ReportSource = 'shipping_line' | 'terminal' | 'ais' | 'rail'

export interface Milestone {
  readonly name: MilestoneName
  /** When it happened. */
  readonly at: number
  /**
   * When the service learnt of it; never before an earlier milestone was reported. Only then can
   * anybody see it, unless it was announced.
   */
  readonly reportedAt: number
  /** For a few: from this instant on a terminal reports it as happened, hours or days too soon. */
  readonly announcedAt?: number
  /** The instant that was reported first, and until when. */
  readonly misreported?: { readonly at: number; readonly until: number }
  readonly source: DataSource
  readonly site: Site
  readonly terminal: TerminalSite | undefined
  readonly vessel: Vessel | undefined
  readonly voyageNumber: string | null
}

type Step = Omit<Milestone, 'reportedAt' | 'announcedAt' | 'misreported' | 'source'>

const SOURCES: Partial<Record<MilestoneName, readonly ReportSource[]>> = {
  vessel_arrived: ['ais', 'shipping_line'],
  vessel_berthed: ['ais'],
  vessel_departed: ['shipping_line', 'ais'],
  vessel_discharged: ['terminal', 'shipping_line'],
  full_out: ['terminal', 'shipping_line'],
  full_in: ['terminal', 'shipping_line'],
  rail_loaded: ['terminal', 'shipping_line'],
}

/** Hours from the happening to the report, by who reports. */
const LAG_HOURS: Record<ReportSource, readonly [number, number]> = {
  ais: [0.2, 2],
  terminal: [0.5, 6],
  shipping_line: [2, 36],
  rail: [0.2, 8],
}

/**
 * The life of one container in order, from the empty leaving the depot to its return. Every instant
 * is later than the one before; what happened before `createdAt` is reported with the container's
 * first appearance.
 */
export function planMilestones(dice: Dice, voyage: Voyage, createdAt: number): Milestone[] {
  const steps = [...planOrigin(dice, voyage), ...planSea(dice, voyage)]
  const dischargedAt = steps.at(-1)?.at ?? voyage.arrivedAt
  steps.push(...planInland(dice, voyage, dischargedAt))
  let lastReport = toSecond(createdAt)
  return steps.map((step) => {
    const source = dice.pick<ReportSource>(SOURCES[step.name] ?? ['shipping_line'])
    const [least, most] = LAG_HOURS[source]
    lastReport = Math.max(lastReport, toSecond(step.at + dice.between(least, most) * HOUR))
    return { ...step, source, reportedAt: lastReport, ...misreport(step, lastReport) }
  })
}

/** One discharge in six is first reported with an instant two hours too early, for half a day. */
function misreport({ name, at }: Step, reportedAt: number): Pick<Milestone, 'misreported'> {
  if (name !== 'vessel_discharged' || Math.floor(at / 1000) % 6 !== 0) return {}
  return { misreported: { at: at - 2 * HOUR, until: reportedAt + 12 * HOUR } }
}

/** One in so many containers is reported as out, or its empty as back, before it is. */
const ANNOUNCED_EVERY = 60

/**
 * The same milestones, of a few containers one announced: three hours to two days before it
 * happens. Not drawn: a draw more would change all that is drawn after it.
 */
export function announceOne(
  milestones: readonly Milestone[],
  ...seat: readonly [seed: number, serial: number, ordinal: number]
): readonly Milestone[] {
  if (mix(...seat, 60) % ANNOUNCED_EVERY !== 0) return milestones
  const drawn = mix(...seat, 61)
  const name = drawn % 3 === 0 ? 'empty_in' : 'full_out'
  const leadHours = 3 + ((drawn >>> 8) % 46)
  return milestones.map((milestone, index) => {
    const before = milestones[index - 1]?.reportedAt ?? 0
    const announcedAt = Math.max(toSecond(milestone.at - leadHours * HOUR), before)
    if (milestone.name !== name || announcedAt >= milestone.at) return milestone
    return { ...milestone, announcedAt, source: 'terminal' }
  })
}

/** The instant from which the service shows it as happened. */
export function shownFrom({ reportedAt, announcedAt = reportedAt }: Milestone): number {
  return announcedAt
}

function planOrigin(dice: Dice, voyage: Voyage): Step[] {
  const { pol, feederPort, firstVessel: vessel, firstVoyageNumber: voyageNumber } = voyage
  const loadedAt = voyage.departedAt - dice.between(4, 30) * HOUR
  const ashore = { terminal: undefined, vessel: undefined, voyageNumber: null }
  const steps: Step[] = []
  let beforeAt = loadedAt - dice.between(0.6, 5) * DAY
  if (feederPort !== undefined) {
    const feeder = { ...ashore, voyageNumber: `F${voyageNumber}` }
    const arrivedAt = beforeAt - 4 * HOUR
    const sailedAt = arrivedAt - dice.between(1, 4) * DAY
    const feederLoadedAt = sailedAt - 5 * HOUR
    steps.push(
      { ...feeder, name: 'feeder_loaded', at: feederLoadedAt, site: feederPort },
      { ...feeder, name: 'feeder_departed', at: sailedAt, site: feederPort },
      { ...feeder, name: 'feeder_arrived', at: arrivedAt, site: pol },
      { ...feeder, name: 'feeder_discharged', at: beforeAt, site: pol },
    )
    beforeAt = feederLoadedAt - dice.between(0.5, 2) * DAY
  }
  const origin = feederPort ?? pol
  const emptyOutAt = beforeAt - dice.between(0.5, 6) * DAY
  steps.unshift(
    { ...ashore, name: 'empty_out', at: emptyOutAt, site: origin },
    { ...ashore, name: 'full_in', at: beforeAt, site: origin },
  )
  const terminal = pol.terminals[0]
  steps.push(
    { name: 'vessel_loaded', at: loadedAt, site: pol, terminal, vessel, voyageNumber },
    { name: 'vessel_departed', at: voyage.departedAt, site: pol, terminal, vessel, voyageNumber },
  )
  return steps.map((step) => ({ ...step, at: toMinute(step.at) }))
}

function planSea(dice: Dice, voyage: Voyage): Step[] {
  const { departedAt, arrivedAt, transshipmentPort, pod, podTerminal, podVessel } = voyage
  const steps: Step[] = []
  if (transshipmentPort !== undefined) {
    const length = arrivedAt - departedAt
    const before = { vessel: voyage.firstVessel, voyageNumber: voyage.firstVoyageNumber }
    const after = { vessel: podVessel, voyageNumber: voyage.podVoyageNumber }
    const place = { site: transshipmentPort, terminal: transshipmentPort.terminals[0] }
    const inAt = departedAt + length * 0.4
    const outAt = departedAt + length * 0.6
    const stay = outAt - inAt
    steps.push(
      { ...place, ...before, name: 'transshipment_arrived', at: inAt },
      {
        ...place,
        ...before,
        name: 'transshipment_discharged',
        at: inAt + stay * dice.between(0.1, 0.2),
      },
      {
        ...place,
        ...after,
        name: 'transshipment_loaded',
        at: outAt - stay * dice.between(0.1, 0.2),
      },
      { ...place, ...after, name: 'transshipment_departed', at: outAt },
    )
  }
  const atPod = {
    site: pod,
    terminal: podTerminal,
    vessel: podVessel,
    voyageNumber: voyage.podVoyageNumber,
  }
  const berthedAt = arrivedAt + dice.between(1, 20) * HOUR
  const dischargedAt = berthedAt + dice.between(4, 60) * HOUR
  steps.push(
    { ...atPod, name: 'vessel_arrived', at: arrivedAt },
    { ...atPod, name: 'vessel_berthed', at: berthedAt },
    { ...atPod, name: 'vessel_discharged', at: dischargedAt },
  )
  return steps.map((step) => ({ ...step, at: toMinute(step.at) }))
}

function planInland(dice: Dice, voyage: Voyage, dischargedAt: number): Step[] {
  const ashore = { vessel: undefined, voyageNumber: null }
  const atPod = { ...ashore, site: voyage.pod, terminal: voyage.podTerminal }
  const destination = voyage.destination
  const steps: Step[] = []
  let at = dischargedAt
  const later = (leastHours: number, mostHours: number): number => {
    at = toMinute(at + dice.between(leastHours, mostHours) * HOUR)
    return at
  }
  if (voyage.move === 'rail' && destination !== undefined) {
    const inland = { ...ashore, site: destination, terminal: voyage.destinationTerminal }
    steps.push(
      { ...atPod, name: 'rail_loaded', at: later(30, 150) },
      { ...atPod, name: 'rail_departed', at: later(4, 30) },
      { ...inland, name: 'rail_arrived', at: later(60, 190) },
      { ...inland, name: 'rail_unloaded', at: later(2, 20) },
      { ...inland, name: 'arrived_at_inland_destination', at: later(0.2, 2) },
      { ...inland, name: 'full_out', at: later(20, 150) },
    )
  } else {
    steps.push({ ...atPod, name: 'full_out', at: later(30, 280) })
  }
  const site = voyage.move === 'rail' && destination !== undefined ? destination : voyage.pod
  const outside = { ...ashore, site, terminal: undefined }
  if (dice.chance(0.45)) steps.push({ ...outside, name: 'delivered', at: later(3, 60) })
  steps.push({ ...outside, name: 'empty_in', at: later(20, 200) })
  return steps
}
