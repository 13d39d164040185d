import { sql } from 'kysely'
import type { Clock, Sleep } from '../../base/retry.js'
import { createWaitingLine, type WaitingLine } from '../../base/waiting-line.js'
import type { Warehouse } from '../connection/warehouse.js'
import { relationRef, tableRef } from '../connection/typed-database.js'

/** The purpose of a request. `sync` leaves a share to the others. */
export type BudgetPurpose = 'sync' | 'refetch' | 'control'

export interface SharedRequestBudget {
  /**
   * Resolves when one request may be sent, and counts it. Rejects with the signal's reason, or if
   * the database does not answer.
   */
  acquire(options?: {
    readonly signal?: AbortSignal | undefined
    readonly purpose?: BudgetPurpose | undefined
  }): Promise<void>
  /**
   * Holds back all requests of every process until this instant of our clock, at most 300 s from
   * now. Never shortens an earlier pause.
   */
  pauseUntil(instant: Date): Promise<void>
}

export interface SharedRequestBudgetOptions {
  readonly warehouse: Warehouse
  /** The account of the budget; see `accountKey`. */
  readonly account: string
  readonly perMinute: number
  /**
   * The share that `sync` leaves to others if a refetch was requested within the last ten windows;
   * 20 by default, at most half of the budget.
   */
  readonly reservedForRefetches?: number
  readonly sleep: Sleep
  readonly clock: Clock
  /** 60,000 unless given. */
  readonly windowMs?: number
}

const RESERVED_FOR_REFETCHES = 20

/** After this many windows without a refetch, `sync` may use the whole budget. */
const RESERVE_KEPT_WINDOWS = 10

/** Requests within this part of a window are stored as one, which keeps the row small. */
const GRAIN = 1 / 600

/** A mistaken Retry-After must not silence every process for a day. */
const LONGEST_PAUSE_MS = 300_000

/** Spreads processes that wait for the same instant. */
const JITTER_MS = 25

/** The time in which asking again is pointless, and its beginning. */
interface Hint {
  readonly waitMs: number
  readonly heardAt: number
}

/**
 * One budget for all processes of an account, stored in the warehouse: at most `perMinute` requests
 * in any rolling 60 seconds.
 *
 * Callers that wait at the same time ask in one statement, which locks the account's row and uses
 * the database's clock. A granted request counts for a minute, even if the process dies. Within a
 * process requests are served in order, `sync` in a line of its own. A database clock that is put
 * forward frees requests too early; put back, it costs a minute at most.
 */
export function createSharedRequestBudget(
  options: SharedRequestBudgetOptions,
): SharedRequestBudget {
  const { warehouse, account, sleep, clock, windowMs = 60_000 } = options
  const perMinute = Math.max(1, Math.floor(options.perMinute))
  const wanted = options.reservedForRefetches ?? RESERVED_FOR_REFETCHES
  const perMinuteOfSync = perMinute - Math.min(wanted, Math.floor(perMinute / 2))
  const lines = { sync: createLine(), urgent: createLine() }
  const lineOf = (purpose: BudgetPurpose) => (purpose === 'sync' ? lines.sync : lines.urgent)

  /** A refusal writes nothing, except the note that a refetch was requested. */
  async function ask(
    purpose: BudgetPurpose,
    wanted: number,
  ): Promise<{ granted: number; waitMs: number }> {
    const [answer] = await warehouse.query(
      'ask the shared request budget',
      sql<{ granted: number; wait_ms: number }>`select granted, wait_ms
from ${relationRef('sync.ask_for_request')}(
    ${account}, ${purpose}, ${wanted}, ${perMinute}, ${perMinuteOfSync},
    ${windowMs}::float8 * interval '1 millisecond',
    ${windowMs * GRAIN}::float8 * interval '1 millisecond',
    ${windowMs * RESERVE_KEPT_WINDOWS}::float8 * interval '1 millisecond',
    ${LONGEST_PAUSE_MS}::float8 * interval '1 millisecond'
)`,
    )
    return { granted: answer?.granted ?? 0, waitMs: answer?.wait_ms ?? 0 }
  }

  async function waitOut({ waitMs, heardAt }: Hint, signal: AbortSignal | undefined) {
    // At most the time that the database named, for our own clock may jump.
    const leftMs = Math.min(waitMs, waitMs - (clock().getTime() - heardAt))
    if (leftMs > 0) await sleep(leftMs + Math.random() * JITTER_MS, signal)
  }

  async function takeTurn(purpose: BudgetPurpose, signal: AbortSignal | undefined): Promise<void> {
    const line = lineOf(purpose)
    while (line.granted === 0) {
      await waitOut(line.hint, signal)
      // Callers of the same moment join the line first, so that one statement asks for all of them.
      await new Promise((resolve) => setImmediate(resolve))
      const { granted, waitMs } = await ask(purpose, line.waiting)
      line.granted = granted
      line.hint = { waitMs, heardAt: clock().getTime() }
      if (granted === 0) signal?.throwIfAborted()
    }
    line.granted -= 1
  }

  return {
    async acquire({ signal, purpose = 'sync' } = {}) {
      const line = lineOf(purpose)
      // Grants of callers that gave up have expired by now. They are dropped here and not when the
      // callers leave: the answer may come later.
      if (line.waiting === 0) line.granted = 0
      line.waiting += 1
      try {
        await line.standInLine(() => takeTurn(purpose, signal), signal)
      } finally {
        line.waiting -= 1
      }
    },
    async pauseUntil(instant) {
      const ms = Math.min(instant.getTime() - clock().getTime(), LONGEST_PAUSE_MS)
      if (ms > 0) await pauseRequests(warehouse, account, ms)
    },
  }
}

/** Callers that want to send. The first asks for all of them in one statement. */
interface Line {
  readonly standInLine: WaitingLine
  waiting: number
  /** Granted and not used yet. */
  granted: number
  hint: Hint
}

function createLine(): Line {
  const hint = { waitMs: 0, heardAt: 0 }
  return { standInLine: createWaitingLine(), waiting: 0, granted: 0, hint }
}

/**
 * Holds back all requests for this long, unless a longer pause is set. A stored pause that ends
 * later than the longest possible one is older than a correction of the database's clock, and is
 * ignored.
 */
export async function pauseRequests(
  warehouse: Warehouse,
  account: string,
  pauseMs: number,
): Promise<void> {
  await warehouse.query(
    'pause the shared request budget',
    sql`insert into ${tableRef('sync.request_budget')} as stored (
    account,
    paused_until
)
values (${account}, clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond')
on conflict (account) do update
set paused_until = greatest(
    excluded.paused_until,
    case
        when stored.paused_until <= excluded.paused_until + ${LONGEST_PAUSE_MS - pauseMs}::float8 * interval '1 millisecond'
            then stored.paused_until
    end
)`,
  )
}
