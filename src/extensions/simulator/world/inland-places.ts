/**
 * The destinations by rail. The service calls some of these a `metro_area` (with a
 * `rail_terminal`), others a `port` (with a `terminal`); both occur in published payloads, so both
 * occur here.
 */
export interface InlandPlace {
  readonly type: 'metro_area' | 'port'
  readonly locode: string
  readonly name: string
  readonly state: string | null
  readonly country: string
  readonly latitude: string
  readonly longitude: string
  readonly zone: string
}

type Facts = readonly [
  locode: string,
  name: string,
  state: string | null,
  latitude: string,
  longitude: string,
  zone: string,
]

const METRO_AREA_FACTS: readonly Facts[] = [
  ['USCHI', 'Chicago', 'IL', '41.850000', '-87.650000', 'America/Chicago'],
  ['USMEM', 'Memphis', 'TN', '35.149500', '-90.049000', 'America/Chicago'],
  ['USDAL', 'Dallas', 'TX', '32.783300', '-96.800000', 'America/Chicago'],
  ['USMKC', 'Kansas City', 'MO', '39.099700', '-94.578600', 'America/Chicago'],
  ['USCMH', 'Columbus', 'OH', '39.961200', '-82.998800', 'America/New_York'],
  ['USSTL', 'St. Louis', 'MO', '38.627000', '-90.199400', 'America/Chicago'],
  ['USDEN', 'Denver', 'CO', '39.739200', '-104.990300', 'America/Denver'],
  ['USMES', 'Minneapolis', 'MN', '44.977800', '-93.265000', 'America/Chicago'],
  ['USSLC', 'Salt Lake City', 'UT', '40.760800', '-111.891000', 'America/Denver'],
  ['CATOR', 'Toronto', 'ON', '43.653200', '-79.383200', 'America/Toronto'],
  ['CACAL', 'Calgary', 'AB', '51.044700', '-114.071900', 'America/Edmonton'],
]

const INLAND_PORT_FACTS: readonly Facts[] = [
  ['USDET', 'Detroit', 'MI', '42.331400', '-83.045800', 'America/Detroit'],
  ['USCLE', 'Cleveland', 'OH', '41.499300', '-81.694400', 'America/New_York'],
  ['USROQ', 'Rossville', 'TN', '35.048700', '-89.544800', 'America/Chicago'],
  ['USATL', 'Atlanta', 'GA', '33.749000', '-84.388000', 'America/New_York'],
]

const asPlace =
  (type: InlandPlace['type']) =>
  ([locode, name, state, latitude, longitude, zone]: Facts): InlandPlace => ({
    type,
    locode,
    name,
    state,
    country: locode.slice(0, 2),
    latitude,
    longitude,
    zone,
  })

export const METRO_AREAS: readonly InlandPlace[] = METRO_AREA_FACTS.map(asPlace('metro_area'))
export const INLAND_PORTS: readonly InlandPlace[] = INLAND_PORT_FACTS.map(asPlace('port'))

export interface RailTerminalFacts {
  readonly metroArea: string
  readonly name: string
  readonly nickname: string
  readonly firms: string | null
  readonly carrier: string
  /** The `port` of the service that is the same place by another code. */
  readonly port: string | undefined
}

const PORTS_NEARBY: Readonly<Record<string, string>> = { USMEM: 'USROQ' }

type RailFacts = readonly [
  metroArea: string,
  name: string,
  nickname: string,
  firms: string | null,
  carrier: string,
]

const RAIL_FACTS: readonly RailFacts[] = [
  ['USCHI', 'BNSF Logistics Park Chicago', 'LPC Elwood', 'HAC4', 'BNSF'],
  ['USCHI', 'UP Global IV', 'Joliet', 'HBF1', 'UPRR'],
  ['USCHI', 'CN Harvey', 'Harvey', 'H572', 'CNRU'],
  ['USMEM', 'BNSF Memphis Intermodal Facility', 'Memphis', 'L841', 'BNSF'],
  ['USDAL', 'BNSF Alliance', 'Alliance', 'SAI7', 'BNSF'],
  ['USDAL', 'UP Dallas Intermodal Terminal', 'DIT', 'SB14', 'UPRR'],
  ['USMKC', 'BNSF Logistics Park Kansas City', 'Edgerton', 'KAJ2', 'BNSF'],
  ['USCMH', 'NS Rickenbacker', 'Rickenbacker', 'HAH8', 'NSRR'],
  ['USSTL', 'UP Dupo', 'Dupo', null, 'UPRR'],
  ['USDEN', 'BNSF Denver', 'Denver', null, 'BNSF'],
  ['USMES', 'CP Shoreham', 'Shoreham', null, 'CPRS'],
  ['USSLC', 'UP Salt Lake City Intermodal', 'SLC', null, 'UPRR'],
  ['CATOR', 'CN Brampton Intermodal', 'Brampton', '3037', 'CNRU'],
  ['CACAL', 'CN Calgary Logistics Park', 'Calgary', '3702', 'CNRU'],
]

export const RAIL_TERMINALS: readonly RailTerminalFacts[] = RAIL_FACTS.map(
  ([metroArea, name, nickname, firms, carrier]) => ({
    metroArea,
    name,
    nickname,
    firms,
    carrier,
    port: PORTS_NEARBY[metroArea],
  }),
)
