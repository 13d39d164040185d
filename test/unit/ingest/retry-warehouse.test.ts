import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WarehouseUnavailableError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { retryWarehouse } from '../../../src/ingest/sink.js'

/**
 * Until a statement that nobody answers is given up: 30 s for the statement and 5 s for its answer.
 */
const NOTICED_AFTER_MS = 35_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number): Promise<void> => {
  vi.setSystemTime(Date.now() + ms)
  return Promise.resolve()
}

/**
 * How often a piece of work was tried that hangs `hangs` times, and whether it was done in the end.
 */
async function tryWork(hangs: number): Promise<{ tries: number; isDone: boolean }> {
  let tries = 0
  const run = { signal: new AbortController().signal, sleep: pass, logger: silentLogger }
  const isDone = await retryWarehouse(run, async () => {
    tries += 1
    if (tries <= hangs) {
      await pass(NOTICED_AFTER_MS)
      throw new WarehouseUnavailableError('Connection terminated')
    }
    return true
  }).catch((error: unknown) => {
    expect(error).toBeInstanceOf(WarehouseUnavailableError)
    return false
  })
  return { tries, isDone }
}

test.each([
  [1, true],
  [2, false],
])(
  'work on a database that hangs is tried once more when that was noticed, %i',
  { tags: ['C16'] },
  async (hangs, isDone) => {
    expect(await tryWork(hangs)).toEqual({ tries: 2, isDone })
  },
)
