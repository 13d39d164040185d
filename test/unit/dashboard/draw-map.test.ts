import { expect, it } from 'vitest'
import { drawPicture } from '../../../src/extensions/dashboard/pictures.js'
import { PLACE_PANEL } from '../../../src/extensions/dashboard/panels/place-panel.js'

const place = (name: string, longitude: string | null, latitude: string | null) => ({
  ...{ place: name, kind: 'port', port_locode: name, there_now: '4', on_the_way: '9' },
  ...{ longitude, latitude },
})

it('the map has a link and words for each mark, and none for a place that is nowhere', () => {
  const known = [place('CNSHA', '121.8', '31.2'), place('USLAX', '-118.2', '33.7')]
  const { picture, unit } = PLACE_PANEL
  if (picture.shape !== 'map') throw new Error('the panel is a map')
  const svg = drawPicture(picture, [...known, place('XXXXX', null, null)], {
    ...{ width: 580, unit, now: new Date('2026-03-08T00:00:00Z'), label: 'a map' },
    linkOf: ({ port_locode: locode }) => `/?port=${String(locode)}`,
  })
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
