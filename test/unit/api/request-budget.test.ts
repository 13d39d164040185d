import { expect, test } from 'vitest'
import { createRequestBudget } from '../../../src/source/client/request-budget.js'
import { createSleep, type Sleep } from '../../../src/base/retry.js'
import { createVirtualTime } from './fake-service.js'

function open(perMinute: number, ownSleep?: Sleep) {
  const { clock, sleep } = createVirtualTime()
  const now = (): number => clock().getTime()
  return { clock, budget: createRequestBudget({ perMinute, clock, sleep: ownSleep ?? sleep, now }) }
}

test('no rolling minute holds more than the budget, all used', { tags: ['R1'] }, async () => {
  const { clock, budget } = open(90)
  const sentAt: number[] = []
  for (let request = 0; request < 400; request += 1) {
    await budget.acquire()
    sentAt.push(clock().getTime())
  }
  for (const [index, instant] of sentAt.entries()) {
    const within = sentAt.filter((other) => other > instant - 60_000 && other <= instant)
    expect(within.length, `request ${index}`).toBeLessThanOrEqual(90)
  }
  expect(sentAt.at(-1)! - sentAt[0]!).toBe(4 * 60_000)
})

test('after a 429 all wait, and a shorter pause cuts nothing', { tags: ['R2'] }, async () => {
  const { clock, budget } = open(90)
  const start = clock().getTime()
  await budget.pauseUntil(new Date(start + 7_000))
  await budget.pauseUntil(new Date(start + 2_000))
  await Promise.all([budget.acquire(), budget.acquire(), budget.acquire()])
  expect(clock().getTime() - start).toBe(7_000)
})

test('serves those who wait in the order in which they came', async () => {
  const { budget } = open(1)
  const served: number[] = []
  const take = async (name: number): Promise<void> => {
    await budget.acquire()
    served.push(name)
  }
  await Promise.all([take(1), take(2), take(3)])
  expect(served).toEqual([1, 2, 3])
})

test('someone who is aborted while in line leaves at once and takes no share', async () => {
  const { budget } = open(1, createSleep())
  await budget.acquire()
  const holder = new AbortController()
  const inLine = new AbortController()
  const first = budget.acquire({ signal: holder.signal })
  const second = budget.acquire({ signal: inLine.signal })
  inLine.abort(new Error('second gave up'))
  await expect(second).rejects.toThrow('second gave up')
  holder.abort(new Error('first gave up'))
  await expect(first).rejects.toThrow('first gave up')
})
