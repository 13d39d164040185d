import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRetryAfter, SourceClock } from '../../../src/source/client/source-clock.js'

const noon = Date.parse('2026-03-01T12:00:00Z')

/**
 * One answer: sent at `startedAt`, answered after `tripMs`, made half-way there by a clock that is
 * `offsetMs` ahead.
 */
function answer(clock: SourceClock, startedAt: number, tripMs: number, offsetMs: number) {
  const madeAt = startedAt + tripMs / 2 + offsetMs
  clock.learn({
    startedAt: new Date(startedAt),
    answeredAt: new Date(startedAt + tripMs),
    dateHeader: new Date(Math.floor(madeAt / 1_000) * 1_000).toUTCString(),
  })
  return clock.stamp(new Date(startedAt)).getTime()
}

describe('the clock of the service', () => {
  test('a clock half a second back takes back no stamp', { tags: ['H15'] }, () => {
    const clock = new SourceClock()
    let last = -Infinity
    let held = 0
    // As many answers before the step and after it, at every fraction of a second.
    for (let at = 0; at < 600; at += 1) {
      const startedAt = noon + at * 137
      const offsetMs = at < 300 ? 10_000 : 9_500
      const stamp = answer(clock, startedAt, 20, offsetMs)
      const date = Math.floor((startedAt + 10 + offsetMs) / 1_000) * 1_000
      if (date + 1_000 > last) expect(stamp).toBeGreaterThanOrEqual(last)
      if (stamp > startedAt + clock.offsetMs) held += 1
      last = stamp
    }
    expect(held).toBeGreaterThan(0)
  })

  test('property: with a steady offset, stamps never go back and are never off by more than a second and the trip', () => {
    const trips = fc.array(
      fc.record({ tripMs: fc.integer({ min: 0, max: 4_000 }), pauseMs: fc.nat(5_000) }),
      { minLength: 1, maxLength: 30 },
    )
    const offsets = fc.integer({ min: -7_200_000, max: 7_200_000 })
    fc.assert(
      fc.property(offsets, trips, (offsetMs, answers) => {
        const clock = new SourceClock()
        let startedAt = noon
        let previous = -Infinity
        for (const { tripMs, pauseMs } of answers) {
          const stamp = answer(clock, startedAt, tripMs, offsetMs)
          expect(stamp).toBeGreaterThanOrEqual(previous)
          expect(Math.abs(stamp - (startedAt + offsetMs))).toBeLessThanOrEqual(5_000)
          previous = stamp
          startedAt += tripMs + pauseMs
        }
      }),
    )
  })
})

test.each([
  ['whole seconds', '7', 7_000],
  ['zero', '0', 1_000],
  ['a date ahead', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['a date in the past', 'Sun, 01 Mar 2026 11:00:00 GMT', 1_000],
  ['the longest pause', '300', 300_000],
])('honours %s (%s)', { tags: ['R3'] }, (_form, header, ms) => {
  expect(parseRetryAfter(header, new Date(noon))).toBe(ms)
})

test.each([
  undefined,
  '0.5',
  '-1',
  '',
  'abc',
  '0x10',
  '1e9',
  '7, 9',
  '7 9',
  'Infinity',
  'Sun, 99 Mar 2026 12:00:30 GMT',
  '2026-03-01T12:00:30Z',
  '7'.repeat(5_000),
])('says nothing for the invalid form %j', { tags: ['R3'] }, (header) => {
  expect(parseRetryAfter(header, new Date(noon))).toBeUndefined()
})

test.each(['301', '9999999', '2147484', '99999999999999999999', 'Sun, 01 Mar 2036 12:00:00 GMT'])(
  '%s is too long to be waited for',
  { tags: ['R5'] },
  (header) => {
    expect(parseRetryAfter(header, new Date(noon))).toBeGreaterThan(300_000)
  },
)
