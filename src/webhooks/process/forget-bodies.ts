import type { Warehouse } from '../../warehouse/connection/warehouse.js'

export interface ForgetOptions {
  /** TRACKING_WEBHOOK_RETENTION_DAYS. */
  readonly retentionDays: number
  /** Rows in one statement; each is short, so that receiving never waits. */
  readonly batch?: number
  readonly signal?: AbortSignal
}

/**
 * Deletes the bodies of notifications received before the retention time that are processed,
 * ignored or foreign. What is dead or unresolved keeps its body, to be replayed. Ids stay for ever,
 * so that a late delivery is still known. Idempotent; returns how many bodies went.
 */
export async function forgetBodies(
  warehouse: Warehouse,
  { retentionDays, batch = 1_000, signal }: ForgetOptions,
): Promise<number> {
  const inbox = warehouse.names.table('webhook_notifications')
  let forgotten = 0
  for (;;) {
    signal?.throwIfAborted()
    const rows = await warehouse.query(
      'delete the bodies of old notifications',
      `with old as (
    select notification_id
    from ${inbox}
    where body is not null
        and state in ('processed', 'ignored', 'foreign')
        and received_at < now() - make_interval(days => $1::integer)
    limit $2::integer
    for update skip locked
)
update ${inbox} as stored
set body = null
from old
where stored.notification_id = old.notification_id
returning stored.notification_id`,
      [retentionDays, batch],
    )
    forgotten += rows.length
    if (rows.length < batch) return forgotten
  }
}
