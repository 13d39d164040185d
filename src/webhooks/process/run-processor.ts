import type { TrackingService } from '../../source/client/endpoints.js'
import { toError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import { backoffMs, type Sleep } from '../../base/retry.js'
import type { RunSettings } from '../../ingest/run.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { closeUnresolved } from './claim-notifications.js'
import {
  addReports,
  NOTHING,
  NotificationProcessor,
  type BatchReport,
  type ProcessDependencies,
} from './process-notifications.js'
import { RefetchWorker } from './refetch-worker.js'

export interface ProcessorDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings & ProcessDependencies['settings']
  readonly sleep: Sleep
  readonly reachFailpoint?: ReachFailpoint
  /** Wait of an idle worker between two looks; 1 s by default. */
  readonly pollMs?: number
}

/** Counts since this process started. */
export interface ProcessorState extends BatchReport {
  readonly refetched: number
  /** Why a loop fails at present; null if none does. */
  readonly lastError: string | null
}

export interface RunningProcessor {
  /** Call it after storing: idle workers look at once. */
  wake(): void
  /** Resolves when the batches under way are written. Idempotent. */
  stop(): Promise<void>
  state(): ProcessorState
}

const POLL_MS = 1_000
const CLOSE_EVERY_MS = 60_000
/** Pauses after a failure of the service or the database, doubled each time. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Processes the inbox and the refetch queue until it is stopped: one worker applies notifications,
 * one refetches. After a general failure a worker tries again, with a pause that grows to a minute;
 * no failure ends the processor.
 */
export function startProcessor(dependencies: ProcessorDependencies): RunningProcessor {
  const { settings, sleep, logger, pollMs = POLL_MS } = dependencies
  const stopping = new AbortController()
  const reachFailpoint = dependencies.reachFailpoint ?? (() => undefined)
  const parts = { ...dependencies, reachFailpoint, signal: stopping.signal }
  const processor = new NotificationProcessor(parts)
  const refetcher = new RefetchWorker({ ...parts, refetchDelayMs: settings.refetchDelayMs })
  /** Each wake replaces and aborts it, so that a wake during the work ends the next wait. */
  let waking = new AbortController()
  let processed = NOTHING
  let refetched = 0
  const errors = new Map<string, string>()
  const isStopping = (): boolean => stopping.signal.aborted

  /** True if more may be due at once. */
  async function processOnce(): Promise<boolean> {
    const report = await processor.processBatch()
    processed = addReports(processed, report)
    return report.taken > 0
  }

  async function refetchOnce(): Promise<boolean> {
    refetched += await refetcher.readDue()
    return false
  }

  async function closeOnce(): Promise<boolean> {
    await closeUnresolved(dependencies.warehouse)
    return false
  }

  async function loop(
    name: string,
    everyMs: number,
    once: () => Promise<boolean>,
    isWoken = true,
  ): Promise<void> {
    let failures = 0
    while (!isStopping()) {
      const ends = isWoken ? [stopping.signal, waking.signal] : [stopping.signal]
      try {
        const hasMore = await once()
        if (failures > 0) logger.info(`${name}: works again`)
        failures = 0
        errors.delete(name)
        if (!hasMore) await wait(everyMs, AbortSignal.any(ends))
      } catch (thrown) {
        if (isStopping()) return
        failures += 1
        const waitMs = backoffMs(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
        errors.set(name, toError(thrown).message)
        logger.error(`${name}: failed, trying again`, { waitMs, error: thrown })
        // A wake must not shorten this pause.
        await wait(waitMs, stopping.signal)
      }
    }
  }

  /** Resolves after the time or with the signal. */
  async function wait(ms: number, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted()
      await sleep(ms, signal)
    } catch (thrown) {
      if (!signal.aborted) throw thrown
    }
  }

  const loops = Promise.all([
    loop('processor', pollMs, processOnce),
    loop('refetches', pollMs, refetchOnce),
    loop('unresolved notifications', CLOSE_EVERY_MS, closeOnce, false),
  ])
  return {
    wake: () => {
      const woken = waking
      waking = new AbortController()
      woken.abort()
    },
    stop: async () => {
      stopping.abort()
      await loops
    },
    state: () => ({ ...processed, refetched, lastError: [...errors.values()].at(-1) ?? null }),
  }
}
