import type { Atlas } from '../world/atlas.js'
import { planContainer, type ContainerPlan } from './container-plan.js'
import { createDice, mix, type Dice } from '../world/dice.js'
import type { Ids } from '../world/ids.js'
import { DAY, HOUR, toSecond } from '../world/local-time.js'
import { planEstimates, type Revision } from './estimates.js'
import { planVoyage, type Voyage } from '../world/voyage.js'

type StopReason =
  | 'all_containers_terminated'
  | 'past_arrival_window'
  | 'past_full_out_window'
  | 'no_updates_at_line'
  | 'cancelled_by_user'
  | 'booking_cancelled'

/**
 * How tracking ends. From `frozenAt` on the shipment does not change; the stop itself may come
 * later.
 */
interface Ending {
  readonly frozenAt: number
  readonly stoppedAt: number
  readonly reason: StopReason
}

export interface ShipmentPlan {
  readonly id: string
  readonly serial: number
  readonly createdAt: number
  readonly billOfLading: string
  readonly normalizedNumber: string
  readonly refNumbers: readonly string[] | null
  readonly tags: readonly string[]
  readonly customer: string | null
  readonly voyage: Voyage
  readonly containers: readonly ContainerPlan[]
  readonly destinationEta: readonly Revision<number>[]
  readonly ending: Ending
  /** A few shipments lack the zone of their first port, as published ones do. */
  readonly isZoneUnknown: boolean
}

export interface ShipmentSeat {
  readonly seed: number
  readonly ids: Ids
  readonly atlas: Atlas
  readonly serial: number
  readonly createdAt: number
  readonly containerCount: number
}

const SHIPMENT_DICE = 0x5417

const CUSTOMERS = [
  'Sodor Steamworks',
  'Acme Imports LLC',
  'Muller-Hauck',
  'Lakin and Sons',
  'Blue Heron Furniture',
  'Northwind Traders',
  'Tamarack Outdoor Co.',
  'Órbita Alimentos S.A.',
  'Fjord & Fell GmbH',
  '青山貿易株式会社',
] as const

const TAGS = ['urgent', 'reefer', 'project-17', 'spring collection', 'DDP', 'hazmat'] as const

export function planShipment(seat: ShipmentSeat): ShipmentPlan {
  const { seed, ids, atlas, serial, createdAt, containerCount } = seat
  const voyage = planVoyage(seed, serial, createdAt, atlas)
  const containers = Array.from({ length: containerCount }, (_, ordinal) =>
    planContainer({ seed, ids, serial, ordinal, createdAt }, voyage),
  )
  const dice = createDice(seed, SHIPMENT_DICE, serial)
  const number = `${dice.pick(['', 'SH', 'TAO', 'MUM'])}${dice.text('0123456789', 9)}`
  const arrivedInland = containers[0]?.milestones.find(({ name }) => name === 'rail_arrived')
  return {
    id: ids.encode('shipment', serial),
    serial,
    createdAt,
    billOfLading: dice.chance(0.85) ? `${voyage.line.scac}${number}` : number,
    normalizedNumber: number,
    refNumbers: dice.chance(0.05) ? null : pickRefNumbers(dice),
    tags: TAGS.filter(() => dice.chance(0.09)),
    customer: dice.chance(0.9) ? dice.pick(CUSTOMERS) : null,
    voyage,
    containers,
    destinationEta:
      voyage.destination === undefined
        ? []
        : planEstimates(dice, {
            actual: arrivedInland?.at ?? voyage.arrivedAt,
            knownFrom: createdAt,
            slackDays: voyage.line.slackDays * 1.2,
          }),
    ending: planEnding(dice, voyage, containers, seat),
    isZoneUnknown: dice.chance(0.03),
  }
}

function pickRefNumbers(dice: Dice): string[] {
  const count = dice.chance(0.6) ? 0 : dice.integer(1, 3)
  return Array.from({ length: count }, () => `PO-${dice.text('0123456789', 5)}`)
}

function planEnding(
  dice: Dice,
  voyage: Voyage,
  containers: readonly ContainerPlan[],
  { serial, createdAt }: ShipmentSeat,
): Ending {
  const ordinary = ordinaryEnding(containers, createdAt)
  const soon = createdAt + HOUR
  const fate = rareFate(serial, dice.fraction())
  const days = (least: number, most: number): number => dice.between(least, most) * DAY
  const ending = (from: number, waitDays: number, reason: StopReason): Ending | undefined => {
    const frozenAt = toSecond(Math.max(soon, from))
    // A fate that would come after the ordinary end never comes.
    if (frozenAt >= ordinary.frozenAt) return undefined
    return { frozenAt, stoppedAt: toSecond(frozenAt + waitDays * DAY), reason }
  }
  if (fate < 0.02) {
    const before = voyage.departedAt - DAY
    return before > soon ? (ending(before, 0, 'booking_cancelled') ?? ordinary) : ordinary
  }
  if (fate < 0.05) return ending(createdAt + days(2, 40), 0, 'cancelled_by_user') ?? ordinary
  if (fate < 0.07) return ending(createdAt + days(1, 15), 21, 'no_updates_at_line') ?? ordinary
  if (fate < 0.09) {
    const midway = voyage.departedAt + (voyage.arrivedAt - voyage.departedAt) * 0.7
    return midway > soon ? (ending(midway, 25, 'past_arrival_window') ?? ordinary) : ordinary
  }
  if (fate < 0.12) {
    const stay = containers[0]?.stay
    if (stay === undefined || stay.leftAt - stay.dischargedAt < DAY) return ordinary
    const between = (stay.dischargedAt + stay.leftAt) / 2
    return ending(between, 30, 'past_full_out_window') ?? ordinary
  }
  return ordinary
}

/** Not drawn: every account of some size has one that is never seen to arrive. */
function rareFate(serial: number, drawn: number): number {
  return drawn >= 0.12 && mix(serial, 52) % 60 === 0 ? 0.08 : drawn
}

function ordinaryEnding(containers: readonly ContainerPlan[], createdAt: number): Ending {
  const lastReport = Math.max(
    createdAt,
    ...containers.map(({ milestones }) => milestones.at(-1)?.reportedAt ?? createdAt),
  )
  const stoppedAt = toSecond(lastReport + 30 * HOUR)
  return { frozenAt: stoppedAt, stoppedAt, reason: 'all_containers_terminated' }
}
