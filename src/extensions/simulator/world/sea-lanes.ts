/** A point at sea: the points one sails to from it in a straight line, and the ports nearby. */
type Waypoint = readonly [
  name: string,
  latitude: number,
  longitude: number,
  next: string,
  ports: string,
]

/** Coarse: enough to go round the continents and through the straits and canals. */
const WAYPOINTS: readonly Waypoint[] = [
  ['bohai', 38.4, 121, 'yellow', 'CNTXG'],
  ['yellow', 35.3, 122.6, 'shanghai', 'CNTAO'],
  ['shanghai', 31, 123.2, 'korea okinawa', 'CNSHA CNNGB'],
  ['korea', 33.2, 127.8, 'osumi', 'KRPUS'],
  ['okinawa', 28.5, 125.5, 'osumi formosa', ''],
  ['osumi', 30.3, 131, 'tokyo', ''],
  ['tokyo', 34.2, 140.2, 'aleutians hawaii', 'JPTYO JPYOK'],
  ['formosa', 25.2, 120.2, 'pearl', 'CNXMN'],
  ['pearl', 21.8, 117.5, 'paracel', 'CNYTN HKHKG TWKHH'],
  ['tonkin', 17, 108.6, 'paracel', 'VNHPH'],
  ['paracel', 15, 112, 'mekong', ''],
  ['mekong', 8, 108, 'siam natuna', 'VNSGN'],
  ['siam', 8, 103.5, 'natuna', 'THLCH'],
  ['natuna', 2, 105.2, 'singapore karimata', ''],
  ['karimata', -2, 108.8, 'java', ''],
  ['java', -5.3, 108.5, '', 'IDJKT IDSUB'],
  ['singapore', 1.2, 104, 'malacca', 'SGSIN MYTPP'],
  ['malacca', 2.9, 100.8, 'aceh', 'MYPKG'],
  ['aceh', 6.2, 94.8, 'ceylon', ''],
  ['ceylon', 5.4, 80.5, 'socotra', ''],
  ['socotra', 13, 52, 'mandeb', ''],
  ['mandeb', 12.4, 43.6, 'red-sea', ''],
  ['red-sea', 20, 38.4, 'sinai', ''],
  ['sinai', 27.5, 34.1, 'suez', ''],
  ['suez', 29.8, 32.5, 'port-said', ''],
  ['port-said', 31.6, 32.4, 'crete', ''],
  ['crete', 34.2, 25, 'malta', 'GRPIR'],
  ['malta', 35.8, 15, 'sicily', ''],
  ['sicily', 37.6, 10.9, 'tyrrhenian sardinia', ''],
  ['tyrrhenian', 42.9, 9.8, '', 'ITSPE ITGOA'],
  ['sardinia', 38, 7, 'alboran lions', ''],
  ['lions', 42, 5, '', 'FRFOS'],
  ['alboran', 36.3, -1.8, 'gibraltar balearic', ''],
  ['balearic', 38.3, 0.4, '', 'ESVLC'],
  ['gibraltar', 36, -5.6, 'vincent', 'ESALG'],
  ['vincent', 36.7, -9.4, 'finisterre', ''],
  ['finisterre', 43.4, -9.8, 'ushant', ''],
  ['ushant', 48.9, -5.6, 'channel', ''],
  ['channel', 50.2, -1.2, 'dover', 'FRLEH GBSOU'],
  ['dover', 51.1, 1.6, 'north-sea', ''],
  ['north-sea', 52, 2.9, 'german-bight', 'NLRTM BEANR GBFXT'],
  ['german-bight', 54, 7.8, '', 'DEHAM DEBRV'],
  ['aleutians', 48, 180, 'alaska california', ''],
  ['alaska', 50, -135, 'fuca hecate', ''],
  ['hecate', 54, -132.9, '', 'CAPRR'],
  ['fuca', 48.5, -125, 'georgia', ''],
  ['georgia', 48.3, -123.2, '', 'USSEA USTIW CAVAN'],
  ['california', 37.5, -123.2, 'conception', 'USOAK'],
  ['conception', 33.8, -120.8, '', 'USLAX USLGB'],
  ['hawaii', 16, -157, 'balboa', ''],
  ['balboa', 6.8, -80, 'panama', ''],
  ['panama', 8.8, -79.5, 'colon', ''],
  ['colon', 9.6, -79.9, 'windward yucatan', ''],
  ['windward', 20, -74, 'bahamas', ''],
  ['yucatan', 21.7, -85.5, 'gulf', ''],
  ['gulf', 27, -91.5, '', 'USHOU'],
  ['bahamas', 24.5, -74, 'miami hatteras', ''],
  ['miami', 26.6, -78.8, '', 'USMIA'],
  ['hatteras', 32, -75.5, 'georgia-bight chesapeake sandy-hook', ''],
  ['georgia-bight', 32, -79.5, '', 'USSAV USCHS'],
  ['chesapeake', 36.9, -75.6, '', 'USORF USBAL'],
  ['sandy-hook', 40.2, -73.5, 'nova-scotia', 'USNYC'],
  ['nova-scotia', 44, -63, 'cabot', 'CAHAL'],
  ['cabot', 47.4, -60, 'gaspe', ''],
  ['gaspe', 49.3, -64.5, '', 'CAMTR'],
]

/** Degrees; a route over the date line goes on counting beyond 180. */
export type Point = readonly [latitude: number, longitude: number]

interface Stretch {
  readonly to: string
  readonly length: number
}

const points = new Map<string, Point>()
const stretches = new Map<string, Stretch[]>()
/** The waypoint by which a port is reached. */
const approaches = new Map<string, string>()

for (const [name, latitude, longitude] of WAYPOINTS) points.set(name, [latitude, longitude])
for (const [name, , , next, ports] of WAYPOINTS) {
  for (const port of ports.split(' ')) approaches.set(port, name)
  for (const other of next.split(' ').filter((one) => one !== '')) {
    const length = lengthBetween(pointOf(name), pointOf(other))
    stretches.set(name, [...(stretches.get(name) ?? []), { to: other, length }])
    stretches.set(other, [...(stretches.get(other) ?? []), { to: name, length }])
  }
}

function pointOf(name: string): Point {
  const point = points.get(name)
  if (point === undefined) throw new RangeError(`The waypoint ${name} does not exist.`)
  return point
}

/** The way from one waypoint east to another, in degrees of less than half a turn. */
function eastward(from: number, to: number): number {
  return ((to - from + 540) % 360) - 180
}

/** In degrees of latitude, as if the earth were flat about there. */
export function lengthBetween(from: Point, to: Point): number {
  const across = eastward(from[1], to[1]) * Math.cos(((from[0] + to[0]) / 2) * (Math.PI / 180))
  return Math.hypot(to[0] - from[0], across)
}

interface Harbour {
  readonly locode: string
  readonly latitude: string
  readonly longitude: string
}

const known = new Map<string, readonly Point[]>()

/** The points of the shortest way by sea, both ports included. */
export function seaRoute(from: Harbour, to: Harbour): readonly Point[] {
  const key = `${from.locode} ${to.locode}`
  let route = known.get(key)
  if (route === undefined) {
    const middle = waypointsBetween(approachOf(from), approachOf(to)).map(pointOf)
    route = unwrapped([placeOf(from), ...middle, placeOf(to)])
    known.set(key, route)
  }
  return route
}

function approachOf({ locode }: Harbour): string {
  const name = approaches.get(locode)
  if (name === undefined) throw new RangeError(`No sea lane leads to ${locode}.`)
  return name
}

function placeOf({ latitude, longitude }: Harbour): Point {
  return [Number(latitude), Number(longitude)]
}

/** Dijkstra's way. */
function waypointsBetween(from: string, to: string): readonly string[] {
  const open = new Map([[from, { length: 0, way: [from] }]])
  const closed = new Set<string>()
  for (;;) {
    const [nearest] = [...open].sort(([, one], [, other]) => one.length - other.length)
    if (nearest === undefined) throw new RangeError(`No sea lane leads from ${from} to ${to}.`)
    const [name, { length, way }] = nearest
    if (name === to) return way
    open.delete(name)
    closed.add(name)
    for (const stretch of stretches.get(name) ?? []) {
      const longer = length + stretch.length
      if (closed.has(stretch.to) || longer >= (open.get(stretch.to)?.length ?? Infinity)) continue
      open.set(stretch.to, { length: longer, way: [...way, stretch.to] })
    }
  }
}

function unwrapped(route: readonly Point[]): readonly Point[] {
  let before = route[0]?.[1] ?? 0
  return route.map(([latitude, longitude]) => {
    before += eastward(before, longitude)
    return [latitude, before]
  })
}
