import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isoSeconds,
  isoWithOffset,
  localMidnight,
} from '../../../../src/extensions/simulator/world/local-time.js'

const at = (text: string): number => Date.parse(text)

test('a local day begins at its own midnight on both sides of a clock change', () => {
  const zone = 'America/Los_Angeles'
  const before = at('2026-03-07T20:00:00Z')
  expect(isoSeconds(localMidnight(zone, before))).toBe('2026-03-07T08:00:00Z')
  expect(isoSeconds(localMidnight(zone, before, 2))).toBe('2026-03-09T07:00:00Z')
  expect(isoSeconds(localMidnight('Asia/Kolkata', before))).toBe('2026-03-07T18:30:00Z')
})

test('whole seconds are written as the standard library would', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), (seconds) => {
      const expected = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
      expect(isoSeconds(seconds * 1000)).toBe(expected)
    }),
  )
})

test('a numeric offset names the same instant', () => {
  const text = isoWithOffset(at('2026-03-07T02:00:00Z'), -7)
  expect(text).toBe('2026-03-06T19:00:00-07:00')
  expect(at(text)).toBe(at('2026-03-07T02:00:00Z'))
})
