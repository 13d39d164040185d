import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Clock, Sleep } from '../../base/retry.js'
import { createWaitingLine } from '../../base/waiting-line.js'

/** The purpose of a request; a shared budget may keep a share for the urgent ones. */
export type RequestPurpose = 'sync' | 'refetch' | 'control'

export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  readonly purpose?: RequestPurpose | undefined
}

/**
 * Decides when a request may be sent. One budget per API key; an implementation may share it
 * between processes.
 */
export interface RequestBudget {
  /** Resolves when one request may be sent, and counts it. Rejects with the signal's reason. */
  acquire(options?: AcquireOptions): Promise<void>
  /** Nobody is let through before this instant (after a 429). Never shortens an earlier pause. */
  pauseUntil(instant: Date): Promise<void>
}

export interface RequestBudgetOptions {
  readonly perMinute: number
  readonly clock: Clock
  readonly sleep: Sleep
  /** Milliseconds, never running back. */
  readonly now: () => number
}

const WINDOW_MS = 60_000

/** A budget for one process: at most `perMinute` requests in any 60 seconds, in their order. */
export function createRequestBudget(options: RequestBudgetOptions): RequestBudget {
  const { perMinute, clock, sleep, now } = options
  const sentAt: number[] = []
  let pausedUntil = -Infinity
  const standInLine = createWaitingLine()

  async function waitForRoom(signal: AbortSignal | undefined): Promise<void> {
    const hasRoomAt = (): number => (sentAt.at(-perMinute) ?? -Infinity) + WINDOW_MS
    const waitMs = (): number => Math.max(hasRoomAt(), pausedUntil) - now()
    for (let ms = waitMs(); ms > 0; ms = waitMs()) await sleep(ms, signal)
    sentAt.push(now())
  }

  return {
    acquire: ({ signal } = {}) => standInLine(() => waitForRoom(signal), signal),
    pauseUntil: (instant) => {
      pausedUntil = Math.max(pausedUntil, now() + instant.getTime() - clock().getTime())
      return Promise.resolve()
    },
  }
}

export interface FallbackBudgetOptions {
  /** Called once, before the first request. Undefined where nobody shares one. */
  readonly openShared: () => Promise<RequestBudget | undefined>
  /** Counts for this process alone. */
  readonly own: RequestBudget
  readonly logger: Logger
}

/**
 * The budget that all processes share, or one of our own from the first time that the shared one
 * cannot be reached: for commands that need the service and not the warehouse. The purpose is
 * `control` unless given.
 */
export function createFallbackBudget(options: FallbackBudgetOptions): RequestBudget {
  const { openShared, own, logger } = options
  let current: Promise<RequestBudget> | undefined

  async function withBudget(
    work: (budget: RequestBudget) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    try {
      await work(await (current ??= openShared().then((shared) => shared ?? own)))
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof ConnectorError)) throw error
      logger.debug('the shared request budget cannot be reached', { error })
      current = Promise.resolve(own)
      await work(own)
    }
  }

  return {
    acquire: ({ signal, purpose = 'control' } = {}) =>
      withBudget((budget) => budget.acquire({ signal, purpose }), signal),
    pauseUntil: (instant) => withBudget((budget) => budget.pauseUntil(instant)),
  }
}
