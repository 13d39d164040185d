import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import type { Clock, Sleep } from '../base/retry.js'
import { createWaitingLine } from '../base/waiting-line.js'

/** What a request is for; a shared budget may keep a share for the urgent ones. */
export type RequestPurpose = 'sync' | 'refetch' | 'control'

export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  readonly purpose?: RequestPurpose | undefined
}

/** Who may send when. One budget per API key; an implementation may share it between processes. */
export interface RequestBudget {
  /** Resolves when one request may be sent, and counts it. Rejects with the signal's reason. */
  acquire(options?: AcquireOptions): Promise<void>
  /** Nobody is let through before this instant (after a 429). Never shortens an earlier pause. */
  pauseUntil(instant: Date): Promise<void>
}

export interface RequestBudgetOptions {
  /**
   * The documented limit is 100; the product asks for 90 and leaves the rest to the customer's
   * other tools.
   */
  readonly perMinute: number
  readonly clock: Clock
  readonly sleep: Sleep
}

const WINDOW_MS = 60_000

/**
 * A budget for one process: at most `perMinute` requests in any rolling 60 seconds, first come,
 * first served. Survives a clock that jumps back: all remembered instants are moved with it, so
 * that nobody waits an hour for a stamp from the future.
 */
export function createRequestBudget(options: RequestBudgetOptions): RequestBudget {
  const { clock, sleep } = options
  const perMinute = Math.max(1, Math.floor(options.perMinute))
  let sentAt: number[] = []
  let pausedUntil = 0
  let latest = 0
  const standInLine = createWaitingLine()

  function now(): number {
    const present = clock().getTime()
    const jumpMs = Math.max(0, latest - present)
    if (jumpMs > 0) {
      sentAt = sentAt.map((instant) => instant - jumpMs)
      pausedUntil -= jumpMs
    }
    latest = present
    return present
  }

  function waitMs(): number {
    const present = now()
    sentAt = sentAt.filter((instant) => instant > present - WINDOW_MS)
    const oldest = sentAt.length < perMinute ? undefined : sentAt.at(-perMinute)
    const untilRoom = oldest === undefined ? 0 : oldest + WINDOW_MS - present
    return Math.max(0, untilRoom, pausedUntil - present)
  }

  async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
    for (let ms = waitMs(); ms > 0; ms = waitMs()) await sleep(ms, signal)
    sentAt.push(latest)
  }

  return {
    acquire({ signal } = {}) {
      return standInLine(() => takeTurn(signal), signal)
    },
    pauseUntil(instant) {
      now()
      pausedUntil = Math.max(pausedUntil, instant.getTime())
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
  let isAlone = false
  let opening: Promise<RequestBudget | undefined> | undefined

  async function withBudget(
    work: (budget: RequestBudget) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    if (!isAlone) {
      try {
        const shared = await (opening ??= openShared())
        if (shared !== undefined) {
          await work(shared)
          return
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof ConnectorError)) throw error
        logger.debug('the shared request budget cannot be asked', { error })
      }
      isAlone = true
    }
    await work(own)
  }

  return {
    acquire: ({ signal, purpose = 'control' } = {}) =>
      withBudget((budget) => budget.acquire({ signal, purpose }), signal),
    pauseUntil: (instant) => withBudget((budget) => budget.pauseUntil(instant)),
  }
}
