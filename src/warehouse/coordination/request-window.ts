import type { Warehouse } from '../connection/warehouse.js'

export interface WindowLimits {
  /** Requests in any window. */
  readonly perWindow: number
  /** Of these for `sync`, while refetches are asked for. */
  readonly syncPerWindow: number
  readonly windowMs: number
  readonly longestPauseMs: number
}

export interface WindowAnswer {
  /** A request was granted and counted. */
  readonly isGranted: boolean
  /** Milliseconds until the next one can be granted, as far as is known now; 0 when there is room. */
  readonly waitMs: number
}

/** Requests closer together than this part of the window are kept as one, so that the row stays small whatever the limit is. */
const GRAIN = 1 / 600

/** Windows without a wish for a refetch, after which `sync` may use all. */
const RESERVE_KEPT_WINDOWS = 10

/**
 * Asks for one request: one statement, which locks the row of the account and reads the database's clock. A no writes nothing, except that a
 * refetch was wished for.
 */
export async function askForRequest(
  warehouse: Warehouse,
  account: string,
  purpose: 'sync' | 'refetch' | 'control',
  limits: WindowLimits,
): Promise<WindowAnswer> {
  const { perWindow, syncPerWindow, windowMs, longestPauseMs } = limits
  const [answer] = await warehouse.query<{ is_granted: boolean; wait_ms: number }>(
    'ask the shared request budget',
    `select is_granted, wait_ms
from ${warehouse.names.in('sync', 'ask_for_request')}(
    $1, $2, $3, $4,
    $5::float8 * interval '1 millisecond',
    $6::float8 * interval '1 millisecond',
    $7::float8 * interval '1 millisecond',
    $8::float8 * interval '1 millisecond'
)`,
    [
      account,
      purpose,
      perWindow,
      syncPerWindow,
      windowMs,
      windowMs * GRAIN,
      windowMs * RESERVE_KEPT_WINDOWS,
      longestPauseMs,
    ],
  )
  return { isGranted: answer?.is_granted === true, waitMs: answer?.wait_ms ?? 0 }
}

/**
 * Nobody is let through for this long from now, unless a longer pause stands already. One that ends later than the longest would is from before
 * the database's clock was put back, and does not count.
 */
export async function pauseRequests(
  warehouse: Warehouse,
  account: string,
  pauseMs: number,
  longestPauseMs: number,
): Promise<void> {
  await warehouse.query(
    'pause the shared request budget',
    `insert into ${warehouse.names.table('request_budget')} as stored (
    account,
    paused_until
)
values ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
on conflict (account) do update
set paused_until = greatest(
    excluded.paused_until,
    case
        when stored.paused_until <= excluded.paused_until + $3::float8 * interval '1 millisecond'
            then stored.paused_until
    end
)`,
    [account, pauseMs, longestPauseMs - pauseMs],
  )
}
