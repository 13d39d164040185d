import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  learnSourceClock,
  stampRequest,
  unknownSourceClock,
  type SourceClock,
} from '../../../src/api/source-clock.js'

const noon = Date.parse('2026-03-01T12:00:00Z')

/**
 * One answer: sent at `startedAt`, answered after `tripMs`, made half-way there by a clock that is
 * `offsetMs` ahead.
 */
function answer(known: SourceClock, startedAt: number, tripMs: number, offsetMs: number) {
  const madeAt = startedAt + tripMs / 2 + offsetMs
  const learned = learnSourceClock(known, {
    startedAt: new Date(startedAt),
    endedAt: new Date(startedAt + tripMs),
    dateHeader: new Date(Math.floor(madeAt / 1_000) * 1_000).toUTCString(),
  })
  return stampRequest(learned, new Date(startedAt))
}

describe('the clock of the service', () => {
  test('an offset of zero is kept when the answers allow it', { tags: ['H15'] }, () => {
    const { sourceClock, observedAt } = answer(unknownSourceClock, noon + 300, 80, 0)
    expect(sourceClock.offsetMs).toBe(0)
    expect(observedAt).toEqual(new Date(noon + 300))
  })

  test.each([undefined, '', 'yesterday', '2026-03-01', 'Sun, 01 Mar 2026 25:00:00 GMT'])(
    'the Date header %j leaves the estimate as it is',
    { tags: ['H15'] },
    (dateHeader) => {
      const sample = { startedAt: new Date(noon), endedAt: new Date(noon + 5), dateHeader }
      expect(learnSourceClock(unknownSourceClock, sample)).toBe(unknownSourceClock)
    },
  )

  test.each([3_600_000, -600_000, 2_500, -2_500])(
    'an offset of %d ms is found to within a second and the trip',
    { tags: ['H15'] },
    (offsetMs) => {
      let known = unknownSourceClock
      for (let at = 0; at < 20; at += 1) {
        known = answer(known, noon + at * 1_337, 60, offsetMs).sourceClock
        expect(Math.abs(known.offsetMs - offsetMs)).toBeLessThanOrEqual(1_060)
      }
      expect(Math.abs(known.offsetMs - offsetMs)).toBeLessThan(300)
    },
  )

  test(
    'starts again from one answer with its lower bound when the clock is put forward',
    { tags: ['H15'] },
    () => {
      const known = answer(unknownSourceClock, noon, 50, 0).sourceClock
      const jumped = answer(known, noon + 10_000, 50, 7_200_000)
      expect(jumped.sourceClock.offsetMs).toBeLessThanOrEqual(7_200_000)
      expect(jumped.sourceClock.offsetMs).toBeGreaterThan(7_200_000 - 1_051)
    },
  )

  test(
    'stamps go back only when the clock of the service itself went back',
    { tags: ['H15'] },
    () => {
      const before = answer(unknownSourceClock, noon, 50, 3_600_000)
      const after = answer(before.sourceClock, noon + 10_000, 50, 0)
      expect(after.observedAt.getTime()).toBeLessThan(before.observedAt.getTime())
    },
  )

  test(
    'a clock that steps back half a second takes back no stamp that it may stand after',
    { tags: ['H15'] },
    () => {
      let known = unknownSourceClock
      let last = -Infinity
      let held = 0
      // As many answers before the step and after it, at every fraction of a second.
      for (let at = 0; at < 600; at += 1) {
        const startedAt = noon + at * 137
        const offsetMs = at < 300 ? 10_000 : 9_500
        const { observedAt, sourceClock } = answer(known, startedAt, 20, offsetMs)
        const stamp = observedAt.getTime()
        const date = Math.floor((startedAt + 10 + offsetMs) / 1_000) * 1_000
        if (date + 1_000 > last) expect(stamp).toBeGreaterThanOrEqual(last)
        if (stamp > startedAt + sourceClock.offsetMs) held += 1
        known = sourceClock
        last = stamp
      }
      expect(held).toBeGreaterThan(0)
    },
  )

  test('a slower answer to an earlier request is not raised to the stamp of a later one', () => {
    const later = answer(unknownSourceClock, noon + 500, 20, 0)
    const earlier = answer(later.sourceClock, noon, 900, 0)
    expect(earlier.observedAt.getTime()).toBe(noon)
  })

  test('property: with a steady offset, stamps never go back and are never off by more than a second and the trip', () => {
    const trips = fc.array(
      fc.record({ tripMs: fc.integer({ min: 0, max: 4_000 }), pauseMs: fc.nat(5_000) }),
      { minLength: 1, maxLength: 30 },
    )
    const offsets = fc.integer({ min: -7_200_000, max: 7_200_000 })
    fc.assert(
      fc.property(offsets, trips, (offsetMs, answers) => {
        let known = unknownSourceClock
        let startedAt = noon
        let previous = -Infinity
        for (const { tripMs, pauseMs } of answers) {
          const { observedAt, sourceClock } = answer(known, startedAt, tripMs, offsetMs)
          known = sourceClock
          const stamp = observedAt.getTime()
          expect(stamp).toBeGreaterThanOrEqual(previous)
          expect(Math.abs(stamp - (startedAt + offsetMs))).toBeLessThanOrEqual(5_000)
          previous = stamp
          startedAt += tripMs + pauseMs
        }
      }),
    )
  })
})
