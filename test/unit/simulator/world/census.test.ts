import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCensus } from '../../../../src/extensions/simulator/world/census.js'
import {
  requestAt,
  requestsBefore,
  requestVariantsOf,
} from '../../../../src/extensions/simulator/plans/tracking-requests.js'
import { START } from '../simulator-client.js'

const start = START.getTime()
const DAY = 86_400_000

test.each([1, 2, 7, 300, 100_000, 1_000_000])('%i shipments exist at the start', (shipments) => {
  const census = createCensus(3, shipments, start)
  expect(census.shipmentsAt(start)).toBe(shipments)
  expect(census.shipmentsAt(start - 130 * DAY)).toBe(0)
})

test('an empty world stays empty', () => {
  expect(createCensus(3, 0, start).shipmentsAt(start + 1000 * DAY)).toBe(0)
})

test('about a hundred-and-twentieth of the account arrives each day', () => {
  const census = createCensus(3, 1_200, start)
  const arrived = census.shipmentsAt(start + 30 * DAY) - 1_200
  expect(arrived).toBeGreaterThanOrEqual(299)
  expect(arrived).toBeLessThanOrEqual(301)
})

test('serials are in the order of creation, and each request comes before its shipment', () => {
  const census = createCensus(3, 5_000, start)
  for (let serial = 1; serial < 6_000; serial++) {
    const createdAt = census.shipmentCreatedAt(serial)
    expect(createdAt).toBeGreaterThanOrEqual(census.shipmentCreatedAt(serial - 1))
    expect(census.requestCreatedAt(serial)).toBeLessThanOrEqual(createdAt)
    expect(census.requestCreatedAt(serial)).toBeGreaterThanOrEqual(
      census.requestCreatedAt(serial - 1),
    )
  }
})

test('every position of the container list belongs to one container', () => {
  const census = createCensus(9, 500, start)
  let position = 0
  const sizes = new Set<number>()
  for (let serial = 0; serial < 500; serial++) {
    expect(census.containersBefore(serial)).toBe(position)
    const count = census.containerCountOf(serial)
    sizes.add(count)
    for (let ordinal = 0; ordinal < count; ordinal++) {
      expect(census.containerAt(position++)).toEqual({ serial, ordinal })
    }
  }
  expect(Math.max(...sizes)).toBe(6)
  expect(Math.min(...sizes)).toBe(1)
  expect(position / 500).toBeCloseTo(2, 0)
})

test('every position of the request list belongs to one request', () => {
  let position = 0
  for (let serial = 0; serial < 400; serial++) {
    expect(requestsBefore(serial)).toBe(position)
    for (const variant of requestVariantsOf(serial)) {
      expect(requestAt(position++)).toEqual({ serial, variant })
    }
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5_000_000 }), (any) => {
      const { serial, variant } = requestAt(any)
      expect(requestsBefore(serial) + requestVariantsOf(serial).indexOf(variant)).toBe(any)
    }),
  )
})
