import { describe, expect, test } from 'vitest'
import { flatten, flattenText, type JsonObject } from './flat-rows.js'

const position = {
  latitude: 36.5,
  longitude: '-75.035903333',
  heading: null,
  timestamp: '2026-02-28T22:01:24Z',
  estimated: false,
}

function vessel(attributes: JsonObject): JsonObject {
  return { id: 'v-1', type: 'vessel', attributes }
}

describe('positions of a vessel', () => {
  test('are undefined where none were sent, and none where an empty list or null was', () => {
    expect(flatten(vessel({ name: 'A' })).flat.positions).toBeUndefined()
    expect(flatten(vessel({ positions: [] })).flat.positions).toEqual([])
    expect(flatten(vessel({ positions: null })).flat.positions).toEqual([])
  })

  test('of one instant are one row: the last one wins', () => {
    const row = flatten(vessel({ positions: [position, { ...position, latitude: 37 }] }))
    expect(row.flat.positions?.map((values) => values[2])).toEqual(['37'])
  })

  test.each([
    ['without a time', { latitude: 1, longitude: 2 }],
    ['with a time that is none', { ...position, timestamp: 'yesterday' }],
    ['with a bare date', { ...position, timestamp: '2026-02-28' }],
    ['with a coordinate that is none', { ...position, latitude: 'north' }],
    ['with more than the interface names', { ...position, source: 'ais' }],
    ['that is null', null],
    ['that is a text', 'somewhere'],
  ])('an item %s stays with the vessel in unmapped', (_what, item) => {
    const row = flatten(vessel({ positions: [position, item] }))
    expect(row.flat.positions).toHaveLength(1)
    expect(row.unmapped).toEqual({ positions: [item] })
  })

  test('keep digits that a JS number would lose', { tags: ['N2'] }, () => {
    const digits = '36.500000000000000000001'
    const row = flattenText(
      `{"id":"v","type":"vessel","attributes":{"positions":[{"timestamp":"2026-02-28T22:01:24Z","latitude":${digits}}]}}`,
    )
    expect(row.flat.positions?.[0]?.[2]).toBe(digits)
  })
})
