import { hostname } from 'node:os'
import type { Logger } from '../base/logger.js'
import { placeOfPids } from '../base/process-place.js'
import { createSleep } from '../base/retry.js'
import {
  acquireLease,
  fenceWarehouse,
  type HolderProcess,
} from '../warehouse/coordination/lease.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/** One writer for each set of schemas. */
export const WRITER_LEASE = 'writer'

export interface LeaseDependencies {
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** The dependencies that are safe to use with the lease. */
export interface HeldDependencies {
  /** Every transaction is refused once the lease is lost. */
  readonly warehouse: Warehouse
  /** Also aborted when the lease is lost, with a `LeaseLostError`. */
  readonly signal: AbortSignal
}

/**
 * Does `work` as the only writer. Throws `LeaseHeldError` first if there is another. Releases the
 * lease however `work` ends.
 */
export async function holdLease<Result>(
  command: string,
  { warehouse, logger, signal }: LeaseDependencies,
  work: (held: HeldDependencies) => Promise<Result>,
): Promise<Result> {
  const lease = await acquireLease(warehouse, {
    name: WRITER_LEASE,
    holder: { host: hostname(), pid: process.pid, place: placeOfPids(), command },
    logger,
    sleep: createSleep(),
    now: () => performance.now(),
    isGone: hasEndedHere,
  })
  try {
    return await work({
      warehouse: fenceWarehouse(warehouse, lease),
      signal: AbortSignal.any([signal, lease.signal]),
    })
  } finally {
    await lease.release()
  }
}

/**
 * True for an ended process of this place, so that a killed run holds nobody up. Processes of
 * another place count as running: containers with one host name cannot see each other's processes.
 */
function hasEndedHere({ host, pid, place }: HolderProcess): boolean {
  if (host !== hostname() || place === undefined || place !== placeOfPids()) return false
  try {
    // Signal 0 only asks whether the process exists.
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
