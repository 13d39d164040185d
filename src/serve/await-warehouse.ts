import { toError, WarehouseUnavailableError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { backoffMs, type Sleep } from '../base/retry.js'

export interface AwaitWarehouseOptions {
  /** Brings the schemas up to date. */
  readonly prepare: () => Promise<void>
  readonly logger: Logger
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/**
 * True when the warehouse can be used, false when the signal came first. Waits for the database
 * however long it is away; throws what waiting does not cure: a newer schema, a missing grant.
 */
export async function awaitWarehouse(options: AwaitWarehouseOptions): Promise<boolean> {
  const { prepare, logger, sleep, signal } = options
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      await prepare()
      if (failures > 0) logger.info('the database can be reached')
      return true
    } catch (thrown) {
      if (!isOutage(thrown)) throw thrown
      const waitMs = backoffMs(failures + 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
      logger.error(
        'the database cannot be reached; until it can, deliveries are answered 503 and nothing runs',
        { waitMs, error: thrown },
      )
      await sleep(waitMs, signal).catch((reason: unknown) => {
        if (!signal.aborted) throw toError(reason)
      })
    }
  }
  return false
}

/** Also one that was lost in the middle of a migration. */
function isOutage(thrown: unknown): boolean {
  if (thrown instanceof WarehouseUnavailableError) return true
  return thrown instanceof Error && thrown.cause instanceof WarehouseUnavailableError
}
