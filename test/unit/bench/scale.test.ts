import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { dayOf, formatScale, largestAccount, scale, simulateWorkers } from '../../../bench/scale.js'

it('docs/scale.md shows the table of the model', async () => {
  const page = await readFile(new URL('../../../docs/scale.md', import.meta.url), 'utf8')
  expect(page).toContain(formatScale(scale()))
})

it('the largest account is the last one whose sync fits into an hour', () => {
  const containers = largestAccount()
  expect(dayOf(containers).syncSeconds).toBeLessThanOrEqual(3600)
  expect(dayOf(containers * 1.02).syncSeconds).toBeGreaterThan(3600)
})

it('syncs begin late where there are too few places, and at once where there are enough', () => {
  const accounts = { accounts: 200, containers: 60_000 }
  expect(simulateWorkers({ ...accounts, places: 200 }).lateP99Seconds).toBe(0)
  const few = simulateWorkers({ ...accounts, places: 10 })
  expect(few.onTimeShare).toBeLessThan(0.6)
  expect(few.lateP99Seconds).toBeGreaterThan(3600)
})
