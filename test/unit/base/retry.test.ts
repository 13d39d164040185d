import { afterEach, describe, expect, test, vi } from 'vitest'
import { ApiRateLimitedError, ApiUnavailableError } from '../../../src/base/errors.js'
import { createSleep, decideRetry, defaultRetryPolicy, retry } from '../../../src/base/retry.js'

const down = new ApiUnavailableError('down')
const policy = defaultRetryPolicy

function waitOf(error: unknown, failures: number, random: number, elapsedMs = 0): number {
  return decideRetry(error, { failures, elapsedMs }, policy, random) ?? NaN
}

describe('decideRetry', () => {
  test('waits between nothing and a ceiling that doubles', { tags: ['H1'] }, () => {
    expect([1, 2, 3, 4, 5].map((failures) => waitOf(down, failures, 0))).toEqual([0, 0, 0, 0, 0])
    expect([1, 2, 3, 4, 5].map((failures) => waitOf(down, failures, 0.999_999))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000,
    ])
    const patient = { ...policy, retries: 30 }
    const decision = decideRetry(down, { failures: 20, elapsedMs: 0 }, patient, 0.999_999)
    expect(decision).toBe(60_000)
  })

  test('gives up after five retries, and after ten minutes', { tags: ['H2'] }, () => {
    expect(decideRetry(down, { failures: 6, elapsedMs: 0 }, policy, 0)).toBeUndefined()
    expect(decideRetry(down, { failures: 2, elapsedMs: 599_500 }, policy, 0.9)).toBeUndefined()
  })

  test('a pause of more than 300 s is not waited for', { tags: ['R5'] }, () => {
    for (const seconds of [9_999_999, 2_147_484, 301]) {
      const limited = new ApiRateLimitedError('slow down', { retryAfterMs: seconds * 1_000 })
      expect(decideRetry(limited, { failures: 1, elapsedMs: 0 }, policy, 0)).toBeUndefined()
    }
  })

  test.each([
    ['failed', down],
    ['were refused', new ApiRateLimitedError('slow down', { retryAfterMs: 7_000 })],
  ])('forty workers that %s together spread their retries', { tags: ['R9'] }, (_what, error) => {
    let seed = 1
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const slots = new Map<number, number>()
    for (let worker = 0; worker < 40; worker += 1) {
      let now = 0
      for (let failures = 1; failures <= 5; failures += 1) now += waitOf(error, failures, random())
      // The earlier ones are left out: they are near one another however the waits are drawn.
      const slot = Math.floor(now / 1_000)
      slots.set(slot, (slots.get(slot) ?? 0) + 1)
    }
    expect(Math.max(...slots.values()) / 40).toBeLessThan(0.3)
  })
})

describe('retry', () => {
  function createTime() {
    let now = 0
    const slept: number[] = []
    return {
      slept,
      options: {
        clock: () => new Date(now),
        random: () => 0.5,
        sleep: (ms: number) => {
          now += ms
          slept.push(ms)
          return Promise.resolve()
        },
      },
    }
  }

  test.each([
    { retryAfterMs: 1_000, requests: 12 },
    { retryAfterMs: 60_000, requests: 10 },
  ])(
    'a rate limit that never ends takes twelve requests or ten minutes: $requests at $retryAfterMs ms',
    { tags: ['R4'] },
    async ({ retryAfterMs, requests }) => {
      const time = createTime()
      let sent = 0
      const limitedForEver = async (): Promise<never> => {
        sent += 1
        await Promise.resolve()
        throw new ApiRateLimitedError('slow down', { retryAfterMs })
      }
      await expect(retry(limitedForEver, time.options)).rejects.toThrow('slow down')
      expect(sent).toBe(requests)
      expect(time.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(600_000)
    },
  )

  test('an abort during the operation wins over its error and is not retried', async () => {
    const controller = new AbortController()
    const reason = new Error('shutting down')
    const operation = async (): Promise<never> => {
      await Promise.resolve()
      controller.abort(reason)
      throw down
    }
    const options = { ...createTime().options, signal: controller.signal }
    await expect(retry(operation, options)).rejects.toBe(reason)
  })
})

describe('createSleep', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('a sleep beyond 2^31 ms does not end at once', { tags: ['R5'] }, async () => {
    vi.useFakeTimers()
    let isOver = false
    const sleeping = createSleep()(2 ** 31 + 5_000).then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(2 ** 31 - 1)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(5_001)
    await sleeping
    expect(isOver).toBe(true)
  })

  test('an abort ends a sleep with its reason and leaves no timer', async () => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const sleeping = createSleep()(10_000, controller.signal)
    controller.abort(new Error('stop'))
    await expect(sleeping).rejects.toThrow('stop')
    expect(vi.getTimerCount()).toBe(0)
    await expect(createSleep()(1, controller.signal)).rejects.toThrow('stop')
  })
})
