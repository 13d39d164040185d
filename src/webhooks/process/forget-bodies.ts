import type { Warehouse } from '../../warehouse/connection/warehouse.js'

export interface ForgetOptions {
  /** TRACKING_WEBHOOK_RETENTION_DAYS. */
  readonly retentionDays: number
  /** Rows in one statement; each is short, so that receiving never waits. */
  readonly batch?: number
  readonly signal?: AbortSignal
}

/**
 * Deletes the bodies of notifications that were received longer ago than the retention time and are settled: processed, ignored or foreign. What is dead or
 * unresolved keeps its body, because somebody may still want to replay it; ids stay for ever, so that a late delivery is still known as a duplicate.
 * Idempotent; returns how many bodies went.
 */
export async function forgetBodies(
  warehouse: Warehouse,
  { retentionDays, batch = 1_000, signal }: ForgetOptions,
): Promise<number> {
  const inbox = warehouse.names.table('webhook_notifications')
  let forgotten = 0
  for (;;) {
    signal?.throwIfAborted()
    const [row] = await warehouse.query<{ count: number }>(
      'delete the bodies of old notifications',
      `with old as (
    select notification_id
    from ${inbox}
    where body is not null
        and state in ('processed', 'ignored', 'foreign')
        and received_at < now() - make_interval(days => $1::integer)
    limit $2::integer
    for update skip locked
),
forgotten as (
    update ${inbox} as stored
    set body = null
    from old
    where stored.notification_id = old.notification_id
    returning 1
)
select count(*) as count
from forgotten`,
      [retentionDays, batch],
    )
    const count = row?.count ?? 0
    forgotten += count
    if (count < batch) return forgotten
  }
}
