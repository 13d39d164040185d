import type { Warehouse } from '../warehouse/connection/warehouse.js'

export interface BudgetStatus {
  /** A hash; see `accountKey`. */
  readonly account: string
  /** Requests of all processes in the last 60 seconds. */
  readonly requestsLastMinute: number
  /** Nobody asks before this instant: the service's Retry-After. Null when nothing holds requests up. */
  readonly pausedUntil: string | null
}

/** The request budget of every account that has used this warehouse. Empty after a crash of the database. */
export async function readBudgetStatus(warehouse: Warehouse): Promise<BudgetStatus[]> {
  const rows = await warehouse.query<{
    account: string
    requests: number
    paused_until: string | null
  }>(
    'read the request budget',
    `select
    budget.account,
    (
        select coalesce(sum(used.syncs + used.others), 0)
        from unnest(budget.requested_at, budget.sync_requests, budget.other_requests)
            as used (instant, syncs, others)
        where used.instant > now() - interval '60 seconds'
    ) as requests,
    case when budget.paused_until > now() then budget.paused_until end as paused_until
from ${warehouse.names.table('request_budget')} as budget
order by budget.account`,
  )
  return rows.map(({ account, requests, paused_until }) => ({
    account,
    requestsLastMinute: requests,
    pausedUntil: paused_until,
  }))
}

export interface LeaseStatus {
  /** Command, process and host. */
  readonly holder: string
  readonly acquiredAt: string
  /** Since its last sign of life; after 60 another run takes the lease over. */
  readonly silentSeconds: number
}

/** Who holds the right to write; null when nobody does. */
export async function readLeaseStatus(warehouse: Warehouse): Promise<LeaseStatus | null> {
  const [row] = await warehouse.query<{
    holder: string
    acquired_at: string
    silent_seconds: number
  }>(
    'read the lease',
    `select holder, acquired_at,
    greatest(0, round(extract(epoch from now() - heartbeat_at)))::float8 as silent_seconds
from ${warehouse.names.table('lease')}
where holder is not null
order by lease_name
limit 1`,
  )
  if (row === undefined) return null
  return {
    holder: row.holder,
    acquiredAt: row.acquired_at,
    silentSeconds: row.silent_seconds,
  }
}
