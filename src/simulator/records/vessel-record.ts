import type { ResourceObject } from '../../jsonapi/document.js'
import type { Atlas, Site, Vessel } from '../world/atlas.js'
import { createDice } from '../world/dice.js'
import { DAY, HOUR, isoSeconds } from '../world/local-time.js'

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
  const isReturning = turn >= leg
  const share = Math.min(1, (turn % leg) / passage)
  const [from, to] = isReturning ? [ends[1], ends[0]] : ends
  const latitude = Number(from.latitude) + (Number(to.latitude) - Number(from.latitude)) * share
  // The shorter way round, over the date line where it must be.
  const eastward = ((Number(to.longitude) - Number(from.longitude) + 540) % 360) - 180
  const longitude = ((Number(from.longitude) + eastward * share + 540) % 360) - 180
  const northward = Number(to.latitude) - Number(from.latitude)
  const heading = (Math.round((Math.atan2(eastward, northward) * 180) / Math.PI) + 360) % 360
  return {
    latitude: round(latitude),
    longitude: round(longitude),
    heading,
    knots: share >= 1 ? 0 : knots,
    timestamp: at,
  }
}

function round(degrees: number): number {
  return Math.round(degrees * 1e9) / 1e9
}
