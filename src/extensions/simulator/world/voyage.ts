import type { Atlas, Site, TerminalSite, Vessel } from './atlas.js'
import { createDice, type Dice } from './dice.js'
import { planEstimates, type Revision } from '../plans/estimates.js'
import type { Coast } from './seaports.js'
import { DAY, toMinute } from './local-time.js'
import { SHIPPING_LINES, type ShippingLine } from './shipping-lines.js'

/**
 * The sea leg all containers of a shipment share, and where they go from there. Instants are epoch
 * milliseconds.
 */
export interface Voyage {
  readonly line: ShippingLine
  readonly pol: Site
  readonly pod: Site
  /**
   * Absent when the line has not said at which terminal the ship will berth, or none is known
   * there.
   */
  readonly podTerminal: TerminalSite | undefined
  readonly feederPort: Site | undefined
  readonly transshipmentPort: Site | undefined
  readonly move: 'truck' | 'rail'
  readonly destination: Site | undefined
  readonly destinationTerminal: TerminalSite | undefined
  readonly firstVessel: Vessel
  readonly podVessel: Vessel
  readonly firstVoyageNumber: string
  readonly podVoyageNumber: string
  readonly departedAt: number
  readonly arrivedAt: number
  readonly etdRevisions: readonly Revision<number>[]
  readonly etaRevisions: readonly Revision<number>[]
}

interface Lane {
  readonly from: readonly Coast[]
  readonly to: Coast
  readonly days: number
  readonly weight: number
}

/**
 * Days at sea port to port, as published schedules have them; weights give a mostly transpacific
 * account.
 */
const LANES: readonly Lane[] = [
  { from: ['east_asia'], to: 'us_west', days: 16, weight: 34 },
  { from: ['east_asia'], to: 'us_east', days: 32, weight: 22 },
  { from: ['south_asia'], to: 'us_east', days: 28, weight: 9 },
  { from: ['europe', 'mediterranean'], to: 'us_east', days: 14, weight: 12 },
  { from: ['latin_east', 'latin_west'], to: 'us_east', days: 11, weight: 5 },
  { from: ['latin_west'], to: 'us_west', days: 13, weight: 2 },
  { from: ['east_asia'], to: 'europe', days: 31, weight: 8 },
  { from: ['east_asia'], to: 'mediterranean', days: 27, weight: 3 },
  { from: ['east_asia', 'oceania'], to: 'oceania', days: 17, weight: 3 },
  { from: ['east_asia'], to: 'latin_west', days: 24, weight: 2 },
]

const TRANSSHIPMENT_PORTS = ['SGSIN', 'KRPUS', 'HKHKG', 'MYTPP', 'LKCMB', 'ESALG', 'COCTG', 'PABLB']

const VOYAGE_DICE = 0x5ea

export function planVoyage(seed: number, serial: number, createdAt: number, atlas: Atlas): Voyage {
  const dice = createDice(seed, VOYAGE_DICE, serial)
  const line = dice.pick(SHIPPING_LINES)
  const lane = pickLane(dice)
  const pol = dice.pick(atlas.seaportsOf(...lane.from))
  const pod = dice.pick(atlas.seaportsOf(lane.to).filter((port) => port !== pol))
  const fleet = atlas.fleetOf(line)
  const podVessel = dice.pick(fleet)
  const transshipmentPort = dice.chance(0.27) ? pickOther(dice, atlas, pol, pod) : undefined
  const feederPort = dice.chance(0.12) ? pickFeederPort(dice, atlas, pol) : undefined
  const departedAt = toMinute(createdAt + dice.between(-20, 12) * DAY)
  const transitDays =
    lane.days * dice.between(0.88, 1.18) + (transshipmentPort ? dice.between(4, 9) : 0)
  const arrivedAt = toMinute(departedAt + transitDays * DAY)
  return {
    line,
    pol,
    pod,
    podTerminal: pickOceanTerminal(dice, pod),
    feederPort,
    transshipmentPort,
    ...pickInland(dice, atlas, pod),
    firstVessel: transshipmentPort ? dice.pick(fleet) : podVessel,
    podVessel,
    firstVoyageNumber: pickVoyageNumber(dice),
    podVoyageNumber: pickVoyageNumber(dice),
    departedAt,
    arrivedAt,
    etdRevisions: dice.chance(0.6)
      ? planEstimates(dice, { actual: departedAt, knownFrom: createdAt, slackDays: 0.6 })
      : [],
    etaRevisions: planEstimates(dice, {
      actual: arrivedAt,
      knownFrom: createdAt,
      slackDays: line.slackDays,
    }),
  }
}

function pickLane(dice: Dice): Lane {
  const total = LANES.reduce((sum, lane) => sum + lane.weight, 0)
  let rest = dice.between(0, total)
  for (const lane of LANES) {
    rest -= lane.weight
    if (rest < 0) return lane
  }
  return dice.pick(LANES)
}

function pickOther(dice: Dice, atlas: Atlas, pol: Site, pod: Site): Site | undefined {
  const locode = dice.pick(TRANSSHIPMENT_PORTS)
  return locode === pol.locode || locode === pod.locode ? undefined : atlas.site(locode)
}

function pickFeederPort(dice: Dice, atlas: Atlas, pol: Site): Site | undefined {
  if (pol.coast === undefined) return undefined
  const feederPort = dice.pick(atlas.seaportsOf(pol.coast))
  return feederPort === pol ? undefined : feederPort
}

function pickOceanTerminal(dice: Dice, pod: Site): TerminalSite | undefined {
  const known = pod.terminals
  return known.length === 0 || dice.chance(0.04) ? undefined : dice.pick(known)
}

function pickInland(
  dice: Dice,
  atlas: Atlas,
  pod: Site,
): Pick<Voyage, 'move' | 'destination' | 'destinationTerminal'> {
  const isRail = ['US', 'CA'].includes(pod.country) && dice.chance(0.36)
  if (isRail) {
    const near = atlas.inlandSites.filter((site) => site.country === pod.country)
    const destination = dice.pick(near)
    return {
      move: 'rail',
      destination,
      destinationTerminal: dice.chance(0.9) ? dice.pick(destination.terminals) : undefined,
    }
  }
  const destination = dice.chance(0.35) ? pod : undefined
  return { move: 'truck', destination, destinationTerminal: undefined }
}

function pickVoyageNumber(dice: Dice): string {
  return dice.pick([
    `${dice.integer(1, 320).toString().padStart(3, '0')}${dice.pick(['E', 'W', 'N', 'S'])}`,
    `${dice.integer(10, 99)}W${dice.integer(10, 52)}`,
    `0${dice.text('ABCDEFGHJKLMNPRSTUVWXY0123456789', 5)}1MA`,
  ])
}
