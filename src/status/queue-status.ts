import type { Warehouse } from '../warehouse/connection/warehouse.js'

export interface QueueStatus {
  readonly queue: 'refetch_queue' | 'webhook_notifications'
  /** `due`, `later` or `being read` for the refetch queue; for notifications their own state. */
  readonly state: string
  readonly entries: number
  /** Age of the oldest entry; null where entries are done with. */
  readonly oldestSeconds: number | null
}

/** The queues by state, in order of name. Counts every notification that is kept. */
export async function readQueueStatus(warehouse: Warehouse): Promise<QueueStatus[]> {
  const rows = await warehouse.query<{
    queue: QueueStatus['queue']
    state: string
    entries: number
    oldest_seconds: number | null
  }>(
    'read the queues',
    `select 'refetch_queue' as queue, state, count(*) as entries,
    round(extract(epoch from now() - min(requested_at)))::float8 as oldest_seconds
from (
    select
        requested_at,
        case
            when claimed_until > now() then 'being read'
            when not_before > now() then 'later'
            else 'due'
        end as state
    from ${warehouse.names.table('refetch_queue')}
) as entry
group by state
union all
select 'webhook_notifications', state, count(*),
    round(extract(epoch from now() - min(received_at) filter (
        where state in ('received', 'unresolved', 'dead')
    )))::float8
from ${warehouse.names.table('webhook_notifications')}
group by state
order by queue, state`,
  )
  return rows.map(({ queue, state, entries, oldest_seconds }) => ({
    queue,
    state,
    entries,
    oldestSeconds: oldest_seconds,
  }))
}
