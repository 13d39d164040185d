import { expect, test } from 'vitest'
import { createClock } from '../../../../src/extensions/simulator/world/clock.js'

test('virtual time runs at its speed, can be stopped and advanced', () => {
  let real = 1_000
  const start = new Date('2026-01-01T00:00:00Z')
  const clock = createClock(start, 60, () => real)
  const passed = (): number => clock.now().getTime() - start.getTime()
  expect(passed()).toBe(0)
  real += 1_000
  expect(passed()).toBe(60_000)
  clock.setSpeed(1)
  real += 500
  expect(passed()).toBe(60_500)
  clock.stop()
  real += 10_000
  expect(passed()).toBe(60_500)
  clock.advance(3_600_000)
  expect(passed()).toBe(3_660_500)
})
