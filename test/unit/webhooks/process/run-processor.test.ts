import { expect, test } from 'vitest'
import type { TrackingService } from '../../../../src/source/client/endpoints.js'
import { silentLogger } from '../../../../src/base/logger.js'
import { SchemaNames } from '../../../../src/warehouse/connection/schema-names.js'
import type { Session, Warehouse } from '../../../../src/warehouse/connection/warehouse.js'
import { startProcessor } from '../../../../src/webhooks/process/run-processor.js'
import { createManualSleep } from '../../../support/manual-sleep.js'
import { TEST_SETTINGS } from '../../../support/test-service.js'

const POLL_MS = 1_000

/** An empty inbox; each look at it ends when the test says so. */
function createEmptyWarehouse(): {
  readonly warehouse: Warehouse
  /** Ends the look under way. */
  readonly endLook: () => void
  readonly lookCount: () => number
} {
  let looks = 0
  let endLook = (): void => undefined
  const names = new SchemaNames('tracking')
  const session = { query: () => Promise.resolve([]), names } as unknown as Session
  const warehouse = {
    ...session,
    transaction: async (_action: string, work: (session: Session) => Promise<unknown>) => {
      looks += 1
      await new Promise<void>((resolve) => (endLook = resolve))
      return work(session)
    },
  }
  return {
    warehouse: warehouse as unknown as Warehouse,
    endLook: () => {
      endLook()
    },
    lookCount: () => looks,
  }
}

test('what is stored while a worker looks makes it look again at once, though others hear of it first', async () => {
  const { warehouse, endLook, lookCount } = createEmptyWarehouse()
  const manual = createManualSleep()
  let sleeps = 0
  const processor = startProcessor({
    service: {} as TrackingService,
    warehouse,
    logger: silentLogger,
    settings: {
      ...TEST_SETTINGS,
      own: { url: undefined, ids: ['ours'] },
      refetchDelayMs: 0,
    },
    sleep: (ms, signal) => {
      if (ms === POLL_MS) sleeps += 1
      return manual.sleep(ms, signal)
    },
    pollMs: POLL_MS,
  })
  const sleepCount = (): number => sleeps
  await expect.poll(sleepCount).toBe(1)
  expect(lookCount()).toBe(1)
  processor.wake()
  // The reader of the refetch queue hears of it, looks, and sleeps again.
  await expect.poll(sleepCount).toBe(2)
  endLook()
  await expect.poll(lookCount).toBe(2)
  endLook()
  await expect.poll(sleepCount).toBe(3)
  expect(lookCount()).toBe(2)
  await processor.stop()
})
