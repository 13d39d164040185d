import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { queueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { NotificationRecord } from '../process/notification-record.js'

/**
 * A notification that never reached us, and what to read again for it; nothing where that cannot be
 * told.
 */
export interface RecoveredNotification extends NotificationRecord {
  readonly refetches: readonly ResourceIdentifier[]
}

const RECOVERED = 'recovered: refetched after failed deliveries'
const UNRESOLVED =
  'its deliveries failed and it does not tell what to read again: the next complete sync settles it'

/** Those of the ids that the inbox has, in whatever state. */
export async function findKnownNotifications(
  warehouse: Warehouse,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await warehouse.query<{ id: string }>(
    'look for notifications in the inbox',
    `select notification_id as id
from ${warehouse.names.table('webhook_notifications')}
where notification_id = any($1::text[])`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Notes notifications in the inbox, without a body and with no delivery, and queues their records
 * to be read again: one transaction, so that none is noted and forgotten. One that a delivery
 * brought meanwhile stays as it is. Idempotent.
 */
export async function recordRecovered(
  warehouse: Warehouse,
  notifications: readonly RecoveredNotification[],
): Promise<void> {
  if (notifications.length === 0) return
  await warehouse.transaction('note recovered notifications', async (session) => {
    const refetches = new Map<string, ResourceIdentifier>()
    for (const refetch of notifications.flatMap((notification) => notification.refetches)) {
      refetches.set(`${refetch.type} ${refetch.id}`, refetch)
    }
    await queueRefetches(session, [...refetches.values()], 'a notification could not be delivered')
    const column = <Value>(read: (notification: RecoveredNotification) => Value): Value[] =>
      notifications.map(read)
    await session.query(
      'note recovered notifications',
      `insert into ${warehouse.names.table('webhook_notifications')} (
    notification_id, event, webhook_id, created_at, observed_at, deliveries, state, processed_at, error,
    reference_type, reference_id
)
select
    noted.id, noted.event, noted.webhook_id, noted.created_at,
    least(coalesce(noted.created_at, now()), now() + interval '10 seconds'), 0,
    noted.state, now(), noted.note, noted.reference_type, noted.reference_id
from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[])
    as noted (id, event, webhook_id, created_at, state, note, reference_type, reference_id)
order by noted.id
on conflict (notification_id) do nothing`,
      [
        column(({ notificationId }) => notificationId),
        column(({ event }) => event),
        column(({ webhookId }) => webhookId),
        column(({ createdAt }) => createdAt),
        column(({ refetches: { length } }) => (length > 0 ? 'processed' : 'unresolved')),
        column(({ refetches: { length } }) => (length > 0 ? RECOVERED : UNRESOLVED)),
        column(({ reference }) => reference?.type ?? null),
        column(({ reference }) => reference?.id ?? null),
      ],
    )
  })
}
