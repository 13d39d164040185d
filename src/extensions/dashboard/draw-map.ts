import * as Plot from '@observablehq/plot'
import { LAND_OUTLINE } from './land-outline.js'
import type { Picture } from './panels/panels.js'
import type { PanelRow, PictureOptions } from './picture-options.js'

type Point = readonly [longitude: number, latitude: number]
type MapPicture = Extract<Picture, { shape: 'map' }>

/** A row that has a place on the earth. */
interface Spot {
  readonly row: PanelRow
  readonly name: string
  readonly point: Point
  readonly here: number
  readonly coming: number
  readonly isShip: boolean
}

/** Kinds of marks, each with its colour of the style sheet. */
const HERE = ['there now', 'var(--series-a)'] as const
const COMING = ['on the way to it', 'var(--series-b)'] as const
const SHIP = ['ship with containers', 'var(--series-c)'] as const

/** The kinds that these rows have, for the legend. */
export function coloursOfMap(picture: MapPicture, rows: readonly PanelRow[]): Map<string, string> {
  const spots = spotsOf(picture, rows)
  return new Map([
    ...(spots.some(({ here }) => here > 0) ? [HERE] : []),
    ...(spots.some(({ coming, isShip }) => coming > 0 && !isShip) ? [COMING] : []),
    ...(spots.some(({ isShip }) => isShip) ? [SHIP] : []),
  ])
}

/** Radii of circles, in CSS pixels: their areas are as the numbers of containers. */
const SMALLEST = 2.5
const LABELS = 8

/** Circles on the land of the earth, turned so that the places are in the middle. */
export function drawMap(
  picture: MapPicture,
  rows: readonly PanelRow[],
  { width, linkOf }: PictureOptions,
): Plot.PlotOptions {
  const spots = spotsOf(picture, rows)
  const isNarrow = width < 450
  const places = spots.filter(({ isShip }) => !isShip)
  const most = Math.max(1, ...places.flatMap(({ here, coming }) => [here, coming]))
  // A few containers make no large circle.
  const largest = Math.min(isNarrow ? 12 : 24, SMALLEST + 3.5 * Math.sqrt(most))
  const radius = (count: number): number =>
    SMALLEST + (largest - SMALLEST) * Math.sqrt(count / most)
  const at = {
    x: ({ point }: Spot) => point[0],
    y: ({ point }: Spot) => point[1],
  }
  const to = (state: string) =>
    linkOf === undefined ? {} : { href: ({ row }: Spot) => linkOf({ ...row, state }) }
  const { centre, domain } = viewOf(spots.map(({ point }) => point))
  return {
    height: Math.round(width * (isNarrow ? 0.62 : 0.42)),
    margin: 0,
    marginLeft: 0,
    marginRight: 0,
    projection: { type: 'equal-earth', rotate: [-centre, 0], domain },
    r: { type: 'identity' },
    marks: [
      Plot.geo(readLand(), { fill: 'var(--land)', stroke: 'none' }),
      Plot.dot(
        places.filter(({ coming }) => coming > 0),
        {
          ...at,
          ...to('on the way'),
          r: ({ coming }: Spot) => radius(coming),
          fill: COMING[1],
          fillOpacity: 0.15,
          stroke: COMING[1],
          title: ({ name, coming }: Spot) => `${name}: ${coming} on the way to it`,
        },
      ),
      Plot.dot(
        places.filter(({ here }) => here > 0),
        {
          ...at,
          ...to('there now'),
          r: ({ here }: Spot) => radius(here),
          fill: HERE[1],
          fillOpacity: 0.65,
          stroke: 'var(--card)',
          strokeWidth: 0.75,
          title: ({ name, here }: Spot) => `${name}: ${here} there now`,
        },
      ),
      Plot.dot(
        spots.filter(({ isShip }) => isShip),
        {
          ...at,
          ...to('on the way'),
          r: isNarrow ? 3 : 4,
          symbol: 'triangle',
          fill: SHIP[1],
          stroke: 'var(--card)',
          strokeWidth: 0.75,
          title: ({ name, coming }: Spot) => `${name}: a ship with ${coming} of the containers`,
        },
      ),
      // Above the circles of its own place.
      ...(isNarrow ? [] : apart(places)).map((spot) =>
        Plot.text([spot], {
          x: at.x,
          y: at.y,
          text: 'name',
          dy: -2 - radius(Math.max(spot.here, spot.coming)),
          lineAnchor: 'bottom',
          fill: 'var(--text)',
          stroke: 'var(--card)',
          strokeWidth: 3,
          pointerEvents: 'none',
        }),
      ),
    ],
  }
}

function spotsOf(picture: MapPicture, rows: readonly PanelRow[]): Spot[] {
  return rows.flatMap((row) => {
    const {
      [picture.name]: name,
      [picture.longitude]: longitude,
      [picture.latitude]: latitude,
    } = row
    if (longitude === null || latitude === null) return []
    return {
      row,
      name: typeof name === 'string' ? name : '',
      point: [Number(longitude), Number(latitude)] as const,
      here: Number(row[picture.here]),
      coming: Number(row[picture.coming]),
      isShip: row[picture.kind] === 'ship',
    }
  })
}

/** The first places, as far as their names do not lie on each other. */
function apart(places: readonly Spot[]): Spot[] {
  const named: Spot[] = []
  for (const place of places) {
    const isFree = named.every(
      ({ point }) =>
        Math.abs(point[0] - place.point[0]) > 24 || Math.abs(point[1] - place.point[1]) > 5,
    )
    if (isFree && named.length < LABELS) named.push(place)
  }
  return named
}

/** The middle of the smallest part of the earth that has all points, and the points around it. */
function viewOf(points: readonly Point[]): {
  readonly centre: number
  readonly domain: { readonly type: 'MultiPoint'; readonly coordinates: [number, number][] }
} {
  const longitudes = points.map(([longitude]) => longitude).sort((one, other) => one - other)
  const gaps = longitudes.map((longitude, at) => {
    const next = longitudes[at + 1] ?? (longitudes[0] ?? 0) + 360
    return { next, gap: next - longitude }
  })
  const widest = gaps.reduce((one, other) => (other.gap > one.gap ? other : one), {
    next: 0,
    gap: 0,
  })
  const span = 360 - widest.gap
  const centre = wrap(widest.next + span / 2)
  const half = Math.min(179, Math.max(35, span / 2 + 8))
  const latitudes = points.map(([, latitude]) => latitude)
  const south = Math.max(-56, Math.min(0, ...latitudes) - 8)
  const north = Math.min(72, Math.max(45, ...latitudes) + 8)
  const coordinates = [south, 0, north].flatMap((latitude) =>
    [-half, 0, half].map((east): [number, number] => [wrap(centre + east), latitude]),
  )
  return { centre, domain: { type: 'MultiPoint', coordinates } }
}

function wrap(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180
}

interface Land {
  readonly type: 'MultiPolygon'
  readonly coordinates: [number, number][][][]
}

let land: Land | undefined

function readLand(): Land {
  land ??= {
    type: 'MultiPolygon',
    coordinates: LAND_OUTLINE.split(';').map((polygon) => polygon.split('/').map(readRing)),
  }
  return land
}

/** The points of a ring; its last one is its first. */
function readRing(text: string): [number, number][] {
  const steps = text.trim().split(/\s+/).map(Number)
  let [x, y] = [0, 0]
  const points = Array.from({ length: steps.length / 2 }, (_, at): [number, number] => {
    x += steps[2 * at] ?? 0
    y += steps[2 * at + 1] ?? 0
    return [x / 10, y / 10]
  })
  return [...points, ...points.slice(0, 1)]
}
