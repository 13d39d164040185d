import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { Atlas, Site, Vessel } from '../world/atlas.js'
import { createDice } from '../world/dice.js'
import { DAY, HOUR, isoSeconds } from '../world/local-time.js'
import { lengthBetween, seaRoute, type Point } from '../world/sea-lanes.js'

/**
 * A ship sails to and fro between two ports. Its positions do not depend on the shipments said to
 * be on board.
 */
interface Shuttle {
  readonly ends: readonly [Site, Site]
  readonly passage: number
  readonly phase: number
  readonly knots: number
}

interface Position {
  readonly latitude: number
  readonly longitude: number
  readonly heading: number
  readonly knots: number
  readonly timestamp: number
}

const REPORT_EVERY = HOUR / 2
const HISTORY_EVERY = 6 * HOUR
const HISTORY_LENGTH = 40
const IN_PORT = 2 * DAY

/**
 * `hasPositions` adds the history of about ten days, oldest first; it makes the record some fifty
 * times larger.
 */
export function vesselRecord(
  seed: number,
  vessel: Vessel,
  atlas: Atlas,
  at: number,
  hasPositions = false,
): ResourceObject {
  const shuttle = planShuttle(seed, vessel, atlas)
  const now = positionAt(shuttle, Math.floor(at / REPORT_EVERY) * REPORT_EVERY)
  const attributes = {
    name: vessel.name,
    imo: vessel.imo,
    mmsi: vessel.mmsi,
    latitude: now.latitude,
    longitude: now.longitude,
    nautical_speed_knots: now.knots,
    navigational_heading_degrees: now.heading,
    position_timestamp: isoSeconds(now.timestamp),
  }
  if (!hasPositions) return { id: vessel.id, type: 'vessel', attributes }
  const last = Math.floor(at / HISTORY_EVERY)
  const positions = Array.from({ length: HISTORY_LENGTH }, (_, step) => {
    const past = positionAt(shuttle, (last - HISTORY_LENGTH + 1 + step) * HISTORY_EVERY)
    return {
      latitude: past.latitude,
      longitude: past.longitude,
      heading: past.knots === 0 ? null : past.heading,
      timestamp: isoSeconds(past.timestamp),
      estimated: step % 9 === 0,
    }
  })
  return { id: vessel.id, type: 'vessel', attributes: { ...attributes, positions } }
}

function planShuttle(seed: number, vessel: Vessel, atlas: Atlas): Shuttle {
  const dice = createDice(seed, 0x5a11, vessel.index)
  const far = dice.pick([['us_west'], ['us_east'], ['europe'], ['mediterranean']] as const)
  return {
    ends: [dice.pick(atlas.seaportsOf('east_asia')), dice.pick(atlas.seaportsOf(...far))],
    passage: dice.between(14, 33) * DAY,
    phase: dice.between(0, 60) * DAY,
    knots: Math.round(dice.between(12, 20) * 10) / 10,
  }
}

function positionAt({ ends, passage, phase, knots }: Shuttle, at: number): Position {
  const leg = passage + IN_PORT
  const turn = (at + phase) % (2 * leg)
  const share = Math.min(1, (turn % leg) / passage)
  const [from, to] = turn >= leg ? [ends[1], ends[0]] : ends
  const { latitude, longitude, heading } = alongRoute(seaRoute(from, to), share)
  return {
    latitude: round(latitude),
    longitude: round(((longitude + 540) % 360) - 180),
    heading,
    knots: share >= 1 ? 0 : knots,
    timestamp: at,
  }
}

/** The place at a share of the way, and the course steered there. */
function alongRoute(
  route: readonly Point[],
  share: number,
): Pick<Position, 'latitude' | 'longitude' | 'heading'> {
  const legs = route.slice(1).map((to, index) => {
    const from = route[index] ?? to
    return { from, to, length: lengthBetween(from, to) }
  })
  let rest = share * legs.reduce((sum, { length }) => sum + length, 0)
  const leg = legs.find(({ length }, index) => {
    if (rest <= length || index === legs.length - 1) return true
    rest -= length
    return false
  })
  if (leg === undefined) throw new RangeError('A route needs two points.')
  const { from, to, length } = leg
  const part = Math.min(1, rest / length)
  const [north, east] = [to[0] - from[0], to[1] - from[1]]
  return {
    latitude: from[0] + north * part,
    longitude: from[1] + east * part,
    heading: (Math.round((Math.atan2(east, north) * 180) / Math.PI) + 360) % 360,
  }
}

function round(degrees: number): number {
  return Math.round(degrees * 1e9) / 1e9
}
