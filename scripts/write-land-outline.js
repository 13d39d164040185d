/**
 * Writes the outline of the land for the map of the dashboard,
 * src/extensions/dashboard/land-outline.ts: that of Natural Earth (1:110 million, public domain),
 * as the package `world-atlas` has it, with fewer points. Run it to draw more or less of it:
 *
 *   npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz package/land-110m.json
 *   node scripts/write-land-outline.js package/land-110m.json
 */
import { readFileSync, writeFileSync } from 'node:fs'

/** A point nearer than this to the line between its neighbours is left out, in degrees. */
const TOLERANCE = 0.35
/** Smaller islands are left out, in square degrees. */
const SMALLEST = 0.6
/** Below it lies Antarctica only. */
const SOUTH = -60
/** Steps of the coordinates, in parts of a degree. */
const STEPS = 10
const WIDTH = 96

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('name the file land-110m.json of world-atlas')
const topology = JSON.parse(readFileSync(path, 'utf8'))
const arcs = topology.arcs.map(decodeArc)
const polygons = topology.objects.land.geometries
  .flatMap(({ type, arcs: own }) => (type === 'Polygon' ? [own] : own))
  .map((rings) => rings.map(joinArcs))
  .filter(([outer]) => outer.some(([, latitude]) => latitude > SOUTH))
  .map((rings) => rings.map(unwrap).filter((ring) => areaOf(ring) >= SMALLEST))
  .map((rings) => rings.map((ring) => toSteps(simplify(ring))).filter((ring) => ring.length > 3))
  .filter((rings) => rings.length > 0)
const words = polygons
  .map((rings) => rings.map(encode).join(' / '))
  .join(' ; ')
  .split(' ')
const lines = ['']
for (const word of words) {
  const longer = `${lines.at(-1)} ${word}`.trim()
  if (longer.length <= WIDTH) lines[lines.length - 1] = longer
  else lines.push(word)
}
writeFileSync(
  new URL('../src/extensions/dashboard/land-outline.ts', import.meta.url),
  `/**
 * The land of the earth without Antarctica, made by scripts/write-land-outline.js of Natural Earth
 * (1:110 million, public domain). Polygons are separated by \`;\` and their rings by \`/\`: the outer
 * one clockwise, then its lakes. A ring is its first longitude and latitude, then the way to each
 * next point, in tenths of a degree; a longitude may pass 180.
 */
export const LAND_OUTLINE = \`
${lines.join('\n')}
\`
`,
)
const points = polygons.flat().reduce((sum, ring) => sum + ring.length, 0)
process.stdout.write(`${polygons.length} polygons, ${points} points, ${lines.length} lines\n`)

function decodeArc(steps) {
  const { scale, translate } = topology.transform
  let [x, y] = [0, 0]
  return steps.map(([east, north]) => {
    x += east
    y += north
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
  })
}

/** The points of a ring, the last one that of the first. A negative number is an arc backwards. */
function joinArcs(indexes) {
  return indexes.flatMap((index, at) => {
    const points = index < 0 ? arcs[~index].toReversed() : arcs[index]
    return at === 0 ? points : points.slice(1)
  })
}

/** Longitudes without a jump at the 180th. */
function unwrap(ring) {
  let turns = 0
  return ring.map(([longitude, latitude], at) => {
    const before = ring[at - 1]?.[0] ?? longitude
    if (longitude - before > 180) turns -= 360
    if (longitude - before < -180) turns += 360
    return [longitude + turns, latitude]
  })
}

function areaOf(ring) {
  let sum = 0
  for (const [at, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(at + 1) % ring.length]
    sum += x * nextY - nextX * y
  }
  return Math.abs(sum) / 2
}

/** By Douglas and Peucker, in two halves: a ring begins and ends at the same point. */
function simplify(ring) {
  const middle = Math.floor(ring.length / 2)
  const first = keepFar(ring.slice(0, middle + 1))
  return [...first, ...keepFar(ring.slice(middle)).slice(1)]
}

function keepFar(points) {
  const [from, to] = [points[0], points.at(-1)]
  const distances = points.map((point) => distanceOf(point, from, to))
  const most = Math.max(...distances)
  if (points.length < 3 || most <= TOLERANCE) return [from, to]
  const at = distances.indexOf(most)
  return [...keepFar(points.slice(0, at + 1)), ...keepFar(points.slice(at)).slice(1)]
}

/** From a line, as wide as a degree is there. */
function distanceOf([x, y], from, to) {
  const wide = Math.cos((y * Math.PI) / 180)
  const [dx, dy] = [(to[0] - from[0]) * wide, to[1] - from[1]]
  const [px, py] = [(x - from[0]) * wide, y - from[1]]
  const length = dx * dx + dy * dy
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / length))
  return Math.hypot(px - share * dx, py - share * dy)
}

/** Without the last point, and without points that fall on the one before. */
function toSteps(ring) {
  const rounded = ring.slice(0, -1).map((point) => point.map((value) => Math.round(value * STEPS)))
  return rounded.filter(([x, y], at) => {
    const before = rounded[(at + rounded.length - 1) % rounded.length]
    return x !== before[0] || y !== before[1]
  })
}

function encode(ring) {
  return ring
    .flatMap(([x, y], at) => (at === 0 ? [x, y] : [x - ring[at - 1][0], y - ring[at - 1][1]]))
    .join(' ')
}
