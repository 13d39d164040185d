import type { Clock, Sleep } from '../../base/retry.js'
import { createWaitingLine } from '../../base/waiting-line.js'
import { askForRequest, pauseRequests } from './request-window.js'
import type { Warehouse } from '../connection/warehouse.js'

/** `sync` may be asked to leave a share to the others; see `SharedRequestBudgetOptions.reservedForRefetches`. */
export type BudgetPurpose = 'sync' | 'refetch' | 'control'

export interface SharedRequestBudget {
  /** Resolves when one request may be sent, and counts it. Rejects with the signal's reason, or when the database cannot be asked. */
  acquire(options?: {
    readonly signal?: AbortSignal | undefined
    readonly purpose?: BudgetPurpose | undefined
  }): Promise<void>
  /** Nobody, in any process, is let through before this instant of our clock, 300 s from now at most. Never shortens an earlier pause. */
  pauseUntil(instant: Date): Promise<void>
}

export interface SharedRequestBudgetOptions {
  readonly warehouse: Warehouse
  /** Whose budget it is; see `accountKey`. */
  readonly account: string
  readonly perMinute: number
  /**
   * What `sync` leaves to refetches while somebody asks for them; 20 unless told otherwise, and never more than half of the budget. When nobody
   * asked for ten windows, `sync` may use it too.
   */
  readonly reservedForRefetches?: number
  readonly sleep: Sleep
  readonly clock: Clock
  /** In [0, 1). */
  readonly random?: () => number
  /** 60,000 unless a test has less time. */
  readonly windowMs?: number
}

const WINDOW_MS = 60_000
const RESERVED_FOR_REFETCHES = 20

/** Longer pauses are not believed, as in the retry policy: a mistaken Retry-After must not silence every process for a day. */
const LONGEST_PAUSE_MS = 300_000

/** Processes that wait for the same instant do not all ask at once. */
const JITTER_MS = 25

/** Until when asking again is pointless, and since when we know. */
interface Hint {
  readonly waitMs: number
  readonly heardAt: number
}

/**
 * A budget for all processes of one account, kept in the warehouse: at most `perMinute` requests in any rolling 60 seconds.
 *
 * Each request asks in one statement that locks the account's row; time is the database's alone, so hosts may disagree about it. What was granted
 * counts until it is a minute old, whether the process lives or not. Whoever finds nothing free sleeps until something can be, and asks again;
 * within a process first come, first served, refetches in a line of their own. The database's clock put forward frees at once what it should not;
 * put back, it costs a minute at most.
 */
export function createSharedRequestBudget(
  options: SharedRequestBudgetOptions,
): SharedRequestBudget {
  const { warehouse, account, sleep, clock, random = Math.random } = options
  const perMinute = Math.max(1, Math.floor(options.perMinute))
  const wanted = options.reservedForRefetches ?? RESERVED_FOR_REFETCHES
  const limits = {
    perWindow: perMinute,
    syncPerWindow: perMinute - Math.min(wanted, Math.floor(perMinute / 2)),
    windowMs: options.windowMs ?? WINDOW_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
  }
  const lines = { sync: createLine(), urgent: createLine() }

  async function waitOut({ waitMs, heardAt }: Hint, signal: AbortSignal | undefined) {
    // Limited to what was said, because our own clock may jump.
    const leftMs = Math.min(waitMs, waitMs - (clock().getTime() - heardAt))
    if (leftMs > 0) await sleep(leftMs + random() * JITTER_MS, signal)
  }

  async function takeTurn(purpose: BudgetPurpose, signal: AbortSignal | undefined): Promise<void> {
    const line = purpose === 'sync' ? lines.sync : lines.urgent
    for (;;) {
      await waitOut(line.hint, signal)
      const { isGranted, waitMs } = await askForRequest(warehouse, account, purpose, limits)
      line.hint = { waitMs, heardAt: clock().getTime() }
      if (isGranted) return
      signal?.throwIfAborted()
    }
  }

  return {
    acquire({ signal, purpose = 'sync' } = {}) {
      const { standInLine } = purpose === 'sync' ? lines.sync : lines.urgent
      return standInLine(() => takeTurn(purpose, signal), signal)
    },
    async pauseUntil(instant) {
      const ms = Math.min(instant.getTime() - clock().getTime(), LONGEST_PAUSE_MS)
      if (ms > 0) await pauseRequests(warehouse, account, ms, LONGEST_PAUSE_MS)
    },
  }
}

function createLine() {
  const hint: Hint = { waitMs: 0, heardAt: 0 }
  return { standInLine: createWaitingLine(), hint }
}
