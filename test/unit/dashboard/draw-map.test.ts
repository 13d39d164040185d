import { describe, expect, it } from 'vitest'
import { drawPicture } from '../../../src/extensions/dashboard/pictures.js'
import { PLACE_PANEL } from '../../../src/extensions/dashboard/panels/place-panel.js'

type Row = Record<string, string | null>

function place(name: string, longitude: number | null, latitude: number | null): Row {
  return {
    place: name,
    kind: 'port',
    there_now: '4',
    on_the_way: '9',
    longitude: longitude === null ? null : String(longitude),
    latitude: latitude === null ? null : String(latitude),
    port_locode: name,
  }
}

function draw(rows: readonly Row[], width: number): string {
  const { picture, unit } = PLACE_PANEL
  if (picture.shape !== 'map') throw new Error('the panel is a map')
  return drawPicture(picture, rows, {
    width,
    unit,
    now: new Date('2026-03-08T00:00:00Z'),
    label: 'a map',
    linkOf: ({ port_locode: locode }) =>
      typeof locode === 'string' ? `/?port=${locode}` : undefined,
  })
}

type Point = readonly [number, number]

/** The sides of the land's shapes. */
function sidesOfLand(svg: string): (readonly [Point, Point])[] {
  const [, path = ''] = /<g class="geo".*? d="([^"]*)"/s.exec(svg) ?? []
  return path.split('Z').flatMap((shape) => {
    const points = shape.split(/[ML]/).flatMap((text) => {
      const [x, y] = text.split(',').map(Number)
      return x === undefined || y === undefined ? [] : [[x, y] as const]
    })
    return points.slice(1).map((point, at) => [points[at]!, point] as const)
  })
}

const ASIA_AND_AMERICA = [place('CNSHA', 121.8, 31.2), place('USLAX', -118.2, 33.7)]
const EUROPE_AND_AMERICA = [place('NLRTM', 4.1, 51.9), place('USNYC', -74, 40.7)]

describe('the map', () => {
  it.each([
    ['over the Pacific', ASIA_AND_AMERICA, 1180],
    ['over the Pacific, on a telephone', ASIA_AND_AMERICA, 330],
    ['over the Atlantic', EUROPE_AND_AMERICA, 1180],
    ['of one place', [place('ZADUR', 31, -29.9)], 580],
    ['at the 180th meridian', [place('NZAKL', 174.8, -36.8), place('WSAPW', -171.8, -13.8)], 580],
  ])('%s has land without a line across', (_name, rows, width) => {
    const svg = draw(rows, width)
    const height = Number(/height="(\d+)"/.exec(svg)?.[1])
    const sides = sidesOfLand(svg)
    expect(sides.length).toBeGreaterThan(200)
    // Where the picture ends, a coast goes along its edge.
    const isAtEdge = ([[x, y], [toX, toY]]: readonly [Point, Point]): boolean =>
      (x === toX && (x === 0 || x === width)) || (y === toY && (y === 0 || y === height))
    const long = sides.filter(
      (side) => Math.abs(side[0][0] - side[1][0]) > width / 6 && !isAtEdge(side),
    )
    expect(long).toEqual([])
  })

  it('has a link and words for each mark, and none for a place that is nowhere', () => {
    const svg = draw([...ASIA_AND_AMERICA, place('XXXXX', null, null)], 580)
    expect([...svg.matchAll(/<title>([^<]*)/g)].map(([, title]) => title)).toEqual([
      'CNSHA: 9 on the way to it',
      'USLAX: 9 on the way to it',
      'CNSHA: 4 there now',
      'USLAX: 4 there now',
    ])
    expect(svg.split('href="/?port=USLAX"').length - 1).toBe(2)
    expect(svg).not.toContain('XXXXX')
    expect(svg).not.toMatch(/NaN|undefined/)
  })
})
