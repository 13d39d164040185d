import { imoCheckDigit } from './check-digits.js'
import { createDice, mix } from './dice.js'
import { INLAND_PORTS, METRO_AREAS, RAIL_TERMINALS } from './inland-places.js'
import type { RailTerminalFacts } from './inland-places.js'
import { SEAPORTS, type Coast } from './seaports.js'
import { TERMINALS, type TerminalFacts } from './terminals.js'
import type { Ids } from './ids.js'
import { SHIPPING_LINES, type ShippingLine } from './shipping-lines.js'

/** A place with its id in one world: a `port` (sea or inland) or a `metro_area`. */
export interface Site {
  readonly type: 'port' | 'metro_area'
  readonly id: string
  readonly locode: string
  readonly name: string
  readonly city: string
  readonly state: string | null
  readonly country: string
  readonly latitude: string
  readonly longitude: string
  readonly zone: string
  /** Undefined inland. */
  readonly coast: Coast | undefined
  readonly terminals: TerminalSite[]
}

export interface TerminalSite {
  readonly type: 'terminal' | 'rail_terminal'
  readonly id: string
  readonly site: Site
  readonly facts: TerminalFacts | RailTerminalFacts
  /** Whether the service learns there if a container can be picked up. */
  readonly reportsAvailability: boolean
}

export interface Vessel {
  readonly id: string
  readonly index: number
  readonly name: string
  readonly imo: string
  readonly mmsi: string
}

/** The reference resources of a world: a few hundred small objects, made once. */
export interface Atlas {
  readonly ports: readonly Site[]
  readonly metroAreas: readonly Site[]
  readonly terminals: readonly TerminalSite[]
  readonly railTerminals: readonly TerminalSite[]
  readonly vessels: readonly Vessel[]
  /** The ships of one shipping line. */
  readonly fleetOf: (line: ShippingLine) => readonly Vessel[]
  readonly seaportsOf: (...coasts: readonly Coast[]) => readonly Site[]
  readonly site: (locode: string) => Site
  readonly inlandSites: readonly Site[]
}

export function createAtlas(seed: number, ids: Ids): Atlas {
  const seaports = SEAPORTS.map((port, index): Site => ({
    ...port,
    type: 'port',
    id: ids.encode('port', index),
    terminals: [],
  }))
  const inlandPorts = INLAND_PORTS.map((place, index): Site => ({
    ...place,
    id: ids.encode('port', seaports.length + index),
    city: place.name,
    coast: undefined,
    terminals: [],
  }))
  const metroAreas = METRO_AREAS.map((place, index): Site => ({
    ...place,
    id: ids.encode('metro_area', index),
    city: place.name,
    coast: undefined,
    terminals: [],
  }))
  const sites = new Map(
    [...seaports, ...inlandPorts, ...metroAreas].map((one) => [one.locode, one]),
  )
  const siteOf = (locode: string): Site => {
    const found = sites.get(locode)
    if (found === undefined) throw new RangeError(`No place ${locode} in the atlas.`)
    return found
  }
  const terminals = TERMINALS.map((facts, index): TerminalSite => ({
    type: 'terminal',
    id: ids.encode('terminal', index),
    site: siteOf(facts.locode),
    facts,
    reportsAvailability: mix(seed, 0x7e12, index) % 100 < 85,
  }))
  const railTerminals = RAIL_TERMINALS.map((facts, index): TerminalSite => ({
    type: 'rail_terminal',
    id: ids.encode('rail_terminal', index),
    site: siteOf(facts.metroArea),
    facts,
    reportsAvailability: mix(seed, 0x7e13, index) % 100 < 60,
  }))
  for (const terminal of [...terminals, ...railTerminals]) terminal.site.terminals.push(terminal)
  const fleets = createFleets(seed, ids)
  const byCoasts = new Map<string, readonly Site[]>()
  return {
    ports: [...seaports, ...inlandPorts],
    metroAreas,
    terminals,
    railTerminals,
    vessels: [...fleets.values()].flat(),
    fleetOf: (line) => fleets.get(line.scac) ?? [],
    seaportsOf: (...coasts) => {
      const key = coasts.join()
      let found = byCoasts.get(key)
      if (found === undefined) {
        found = seaports.filter((port) => port.coast !== undefined && coasts.includes(port.coast))
        byCoasts.set(key, found)
      }
      return found
    },
    site: siteOf,
    inlandSites: [...metroAreas, ...inlandPorts],
  }
}

/**
 * Names are those of real ships; IMO and MMSI numbers are drawn (with a right check digit), not
 * theirs.
 */
function createFleets(seed: number, ids: Ids): Map<string, readonly Vessel[]> {
  let index = 0
  const fleets = new Map<string, readonly Vessel[]>()
  for (const line of SHIPPING_LINES) {
    const fleet = line.vessels.map((name): Vessel => {
      const dice = createDice(seed, 0xf1ee, index)
      const firstSix = String(dice.integer(920_000, 989_999))
      const vessel = {
        id: ids.encode('vessel', index),
        index,
        name,
        imo: `${firstSix}${imoCheckDigit(firstSix)}`,
        mmsi: `${dice.pick(['563', '477', '636', '219', '538', '255'])}${dice.text('0123456789', 6)}`,
      }
      index += 1
      return vessel
    })
    fleets.set(line.scac, fleet)
  }
  return fleets
}
