import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { queueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { stateAfter } from '../notification-states.js'
import type { Envelope } from '../receive/envelope.js'

/** A notification that never reached us, and what to refetch for it. */
export interface RecoveredNotification extends Envelope {
  readonly refetches: readonly ResourceIdentifier[]
}

const RECOVERED = 'recovered: refetched after failed deliveries'
const LOST =
  'its deliveries failed and it does not say what to refetch: the next complete sync brings it'

/** Which of the ids the inbox has, in whatever state. */
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
 * Records notifications in the inbox, without a body, and queues their refetches: one transaction,
 * so that none is recorded and forgotten. One that a delivery brought meanwhile stays as it is.
 * Idempotent.
 */
export async function recordRecovered(
  warehouse: Warehouse,
  notifications: readonly RecoveredNotification[],
): Promise<void> {
  if (notifications.length === 0) return
  const refetches = notifications.flatMap((notification) => notification.refetches)
  const rows = notifications.map(({ refetches: { length }, reference, ...envelope }) => ({
    notification_id: envelope.notificationId,
    event: envelope.event,
    webhook_id: envelope.webhookId,
    created_at: envelope.createdAt,
    reference_type: reference?.type,
    reference_id: reference?.id,
    state: stateAfter(length > 0 ? 'recovered' : 'lost'),
    error: length > 0 ? RECOVERED : LOST,
  }))
  await warehouse.transaction('record recovered notifications', async (session) => {
    await queueRefetches(session, refetches, 'a notification could not be delivered')
    await session.query(
      'record recovered notifications',
      `insert into ${warehouse.names.table('webhook_notifications')} (
    notification_id, event, webhook_id, created_at, observed_at, reference_type, reference_id,
    state, processed_at, error
)
select
    given.notification_id, given.event, given.webhook_id, given.created_at,
    least(coalesce(given.created_at, now()), now() + interval '10 seconds'),
    given.reference_type, given.reference_id, given.state, now(), given.error
from jsonb_to_recordset($1::jsonb) as given (
    notification_id text, event text, webhook_id text, created_at timestamptz,
    reference_type text, reference_id text, state text, error text
)
order by given.notification_id
on conflict (notification_id) do nothing`,
      [JSON.stringify(rows)],
    )
  })
}
