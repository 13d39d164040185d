import { sql } from 'kysely'
import { compareKeys, tableRef } from '../../warehouse/connection/typed-database.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { stateAfter } from './notification-states.js'
import { NO_ENVELOPE, type Delivery } from './delivery.js'

/**
 * Stores deliveries in one statement: when it returns, all of them are committed. The first
 * delivery of a notification becomes its row; later ones change nothing. Safe to repeat. Returns
 * the ids of new notifications.
 *
 * No processor can delay an answer: the statement skips existing rows; inserting one again would
 * wait for the lock of a processor that is changing it.
 */
export async function storeDeliveries(
  session: Session,
  deliveries: readonly Delivery[],
): Promise<Set<string>> {
  const inbox = tableRef('sync.webhook_notifications')
  const firsts = firstOfEach(deliveries)
  const stored = await session.query(
    'store webhook deliveries',
    // The bodies are one value: array elements would be sent as text, twice as long.
    sql<{ notification_id: string }>`insert into ${inbox} (
    notification_id, event, webhook_id, created_at, observed_at, reference_type, reference_id,
    headers, body, state, error
)
select
    given.notification_id, given.event, given.webhook_id, given.created_at,
    -- A clock may be ahead a little; see STAMP_TOLERANCE_MS.
    least(
        coalesce(given.observed_at, given.created_at, now()), now() + interval '10 seconds'
    ),
    given.reference_type, given.reference_id, given.headers,
    substr(${Buffer.concat(firsts.map(({ body }) => body))}::bytea, given.body_start, given.body_bytes), given.state, given.error
from jsonb_to_recordset(${JSON.stringify(toRows(firsts))}::jsonb) as given (
    notification_id text, event text, webhook_id text, created_at timestamptz,
    observed_at timestamptz, reference_type text, reference_id text, headers jsonb, state text, error text,
    body_start integer, body_bytes integer
)
where not exists (
    select from ${inbox} as stored where stored.notification_id = given.notification_id
)
order by given.notification_id
on conflict (notification_id) do nothing
returning notification_id`,
  )
  return new Set(stored.map((row) => row.notification_id))
}

/**
 * The first delivery of each notification. Ordered by id, so that two receivers do not deadlock.
 */
function firstOfEach(deliveries: readonly Delivery[]): Delivery[] {
  const firsts = new Map<string, Delivery>()
  for (const delivery of deliveries) {
    const { notificationId } = delivery.envelope
    if (!firsts.has(notificationId)) firsts.set(notificationId, delivery)
  }
  return [...firsts.values()].sort((one, two) =>
    compareKeys(one.envelope.notificationId, two.envelope.notificationId),
  )
}

/** All columns except the body, and where the body begins in the joined bodies, from 1. */
function toRows(deliveries: readonly Delivery[]): object[] {
  let end = 1
  return deliveries.map(({ envelope, headers, body, deadReason, observedAt }) => ({
    notification_id: envelope.notificationId,
    event: envelope.event,
    webhook_id: envelope.webhookId,
    created_at: envelope.createdAt,
    observed_at: observedAt,
    reference_type: envelope.reference?.type,
    reference_id: envelope.reference?.id,
    headers,
    state: stateAfter(deadReason === null ? 'delivered' : 'unreadable'),
    error: deadReason,
    body_start: (end += body.length) - body.length,
    body_bytes: body.length,
  }))
}

/** Written and rolled back: no other session sees it. */
const TRIAL: Delivery = {
  envelope: { ...NO_ENVELOPE, notificationId: 'sha256:a trial' },
  headers: {},
  body: Buffer.alloc(8_192),
  deadReason: null,
}

/** Whether the database would accept a delivery: with a full disk it still answers queries. */
export async function canStoreDeliveries(warehouse: Warehouse): Promise<boolean> {
  let isTaken = false
  await warehouse
    .transaction('try the inbox', async (session) => {
      await storeDeliveries(session, [TRIAL])
      isTaken = true
      throw new Error('to be taken back')
    })
    .catch(() => undefined)
  return isTaken
}

/** `webhooks replay` can apply a notification again for this long. */
const RETENTION_DAYS = 30

/**
 * Deletes the bodies of notifications that were received before the retention time and are
 * processed, ignored or foreign. Dead and unresolved ones keep their body for a replay. Ids stay
 * for ever, so that a late delivery is recognized. Statements are short (`batch` rows), so that
 * receiving never waits. Idempotent; returns how many bodies were deleted.
 */
export async function forgetBodies(
  warehouse: Warehouse,
  { batch = 1_000, signal }: { readonly batch?: number; readonly signal?: AbortSignal } = {},
): Promise<number> {
  const inbox = tableRef('sync.webhook_notifications')
  let forgotten = 0
  for (;;) {
    signal?.throwIfAborted()
    const rows = await warehouse.query(
      'delete the bodies of old notifications',
      sql`with old as (
    select notification_id
    from ${inbox}
    where body is not null
        and state in ('processed', 'ignored', 'foreign')
        and received_at < now() - make_interval(days => ${RETENTION_DAYS}::integer)
    limit ${batch}::integer
    for update skip locked
)
update ${inbox} as stored
set body = null
from old
where stored.notification_id = old.notification_id
returning stored.notification_id`,
    )
    forgotten += rows.length
    if (rows.length < batch) return forgotten
  }
}

/**
 * Counts deliveries refused for a reason, so that `check` can report them after the log is gone.
 */
export async function noteRefusal(session: Session, reason: string, count: number): Promise<void> {
  const refusals = tableRef('sync.delivery_refusals')
  await session.query(
    'note refused deliveries',
    sql`insert into ${refusals} as noted (reason, refused) values (${reason}, ${count})
on conflict (reason) do update
set refused = noted.refused + excluded.refused, last_at = excluded.last_at`,
  )
}
