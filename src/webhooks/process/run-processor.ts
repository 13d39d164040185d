import type { TrackingService } from '../../api/endpoints.js'
import { toError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import { backoffMs, type Sleep } from '../../base/retry.js'
import type { RunSettings } from '../../ingest/run.js'
import {
  completeSyncBegan,
  loadConfirmedPasses,
} from '../../warehouse/bookkeeping/confirmed-passes.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { settleUnresolved } from './claim-notifications.js'
import { NotificationProcessor, type ProcessSettings } from './process-notifications.js'
import { RefetchQueueReader } from './read-refetch-queue.js'
import { Waiter } from './waiter.js'

export interface ProcessorSettings extends RunSettings, ProcessSettings {
  /** Batches under way at once in this process. */
  readonly workers: number
}

export interface ProcessorDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: ProcessorSettings
  readonly sleep: Sleep
  /** Milliseconds, never running back. */
  readonly now: () => number
  readonly reachFailpoint?: ReachFailpoint
  /** How long an idle worker waits before it looks by itself; 1 s unless told otherwise. */
  readonly pollMs?: number
}

/** What this process has done since it started, and what waits now. */
export interface ProcessorState {
  readonly processed: number
  readonly ignored: number
  readonly foreign: number
  readonly unresolved: number
  readonly failed: number
  readonly refetched: number
  /** Why a loop fails at present; null when none does. */
  readonly lastError: string | null
}

export interface ProcessorLag {
  /** Notifications that wait to be applied. */
  readonly waiting: number
  /** Age of the oldest of them since it was received; 0 when none waits. */
  readonly oldestSeconds: number
  /** Entries of the refetch queue. */
  readonly refetches: number
}

export interface RunningProcessor {
  /** Something was stored: idle workers look at once. */
  wake(): void
  /** Ends when the batches under way are written. Idempotent. */
  stop(): Promise<void>
  state(): ProcessorState
}

const POLL_MS = 1_000
const SETTLE_EVERY_MS = 60_000
/** After a failure of the service or the database, doubled each time. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Processes the inbox and the refetch queue until it is stopped: some workers that apply
 * notifications, and one that reads again by id. What fails as a whole is tried again after a pause
 * that grows to a minute; no failure ends the processor.
 */
export function startProcessor(dependencies: ProcessorDependencies): RunningProcessor {
  const { settings, sleep, logger, pollMs = POLL_MS } = dependencies
  const stopping = new AbortController()
  /** One for each loop that news concern: none takes it away from another. */
  const waiters: Waiter[] = []
  const reachFailpoint = dependencies.reachFailpoint ?? (() => undefined)
  const parts = { ...dependencies, reachFailpoint, signal: stopping.signal }
  const processor = new NotificationProcessor(parts)
  const reader = new RefetchQueueReader({ ...parts, refetchDelayMs: settings.refetchDelayMs })
  const counts = { processed: 0, ignored: 0, foreign: 0, unresolved: 0, failed: 0, refetched: 0 }
  const errors = new Map<string, string>()
  const isStopping = (): boolean => stopping.signal.aborted

  /** One look: true when there may be more to do at once. */
  async function processOnce(): Promise<boolean> {
    const { taken, settled, failed } = await processor.processBatch()
    for (const name of ['processed', 'ignored', 'foreign', 'unresolved'] as const) {
      counts[name] += settled[name]
    }
    counts.failed += failed
    return taken > 0
  }

  async function refetchOnce(): Promise<boolean> {
    counts.refetched += await reader.readDue()
    return false
  }

  async function settleOnce(): Promise<boolean> {
    await settleByCompleteSync(dependencies.warehouse)
    return false
  }

  async function loop(
    name: string,
    everyMs: number,
    once: () => Promise<boolean>,
    isWokenByNews = true,
  ): Promise<void> {
    const waiter = new Waiter(sleep, stopping.signal)
    if (isWokenByNews) waiters.push(waiter)
    let failures = 0
    for (;;) {
      if (isStopping()) return
      let waitMs = everyMs
      try {
        const hasMore = await once()
        if (failures > 0) logger.info(`${name}: works again`)
        failures = 0
        errors.delete(name)
        if (hasMore) continue
      } catch (thrown) {
        if (isStopping()) return
        failures += 1
        waitMs = backoffMs(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
        errors.set(name, toError(thrown).message)
        logger.error(`${name}: failed, trying again`, { waitMs, error: thrown })
      }
      // A failure is not got over by news.
      await waiter.wait(waitMs, failures === 0)
    }
  }

  const loops = Promise.all([
    ...Array.from({ length: settings.workers }, () => loop('processor', pollMs, processOnce)),
    loop('refetches', pollMs, refetchOnce),
    loop('unresolved notifications', SETTLE_EVERY_MS, settleOnce, false),
  ])
  return {
    wake: () => {
      for (const waiter of waiters) waiter.wake()
    },
    stop: async () => {
      stopping.abort()
      await loops
    },
    state: () => ({ ...counts, lastError: [...errors.values()].at(-1) ?? null }),
  }
}

/**
 * Settles notifications that only a complete sync could settle; to be called after one as well.
 * Returns how many.
 */
export async function settleByCompleteSync(warehouse: Warehouse): Promise<number> {
  const passes = await loadConfirmedPasses(warehouse, warehouse.names, 'whole')
  return settleUnresolved(warehouse, warehouse.names, completeSyncBegan(passes))
}

/** What waits in the warehouse, for all processors together. One query. */
export async function readProcessorLag(warehouse: Warehouse): Promise<ProcessorLag> {
  const [row] = await warehouse.query<{ waiting: number; oldest: number; refetches: number }>(
    'read the lag of the processor',
    `select count(*) as waiting,
    coalesce(extract(epoch from max(clock_timestamp() - received_at)), 0)::double precision as oldest,
    (select count(*) from ${warehouse.names.table('refetch_queue')}) as refetches
from ${warehouse.names.table('webhook_notifications')}
where state = 'received'`,
  )
  return {
    waiting: row?.waiting ?? 0,
    oldestSeconds: row?.oldest ?? 0,
    refetches: row?.refetches ?? 0,
  }
}
