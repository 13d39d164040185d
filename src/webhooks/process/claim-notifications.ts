import { sql, type RawBuilder } from 'kysely'
import { backoffMs } from '../../base/retry.js'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { completeSyncBegan, loadConfirmedPasses } from '../../warehouse/bookkeeping/checkpoints.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import {
  ALLOWED_OUTCOMES,
  canBe,
  stateAfter,
  type Outcome,
} from '../receive/notification-states.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

/** A notification of the inbox, locked by the transaction that claimed it. */
export interface ClaimedNotification {
  readonly notificationId: string
  /**
   * The earliest instant at which the source can have known the content; see the inbox's column.
   */
  readonly observedAt: Date
  /** The notification claims a later instant. */
  readonly isClamped: boolean
  /** On the database's clock. */
  readonly receivedAt: Date
  /** Null if it names none. */
  readonly webhookId: string | null
  /** Its subject. */
  readonly reference: ResourceIdentifier | null
  /** Null after the retention time, or if no delivery ever came. */
  readonly body: Buffer | null
}

const IS_WAITING = canBe('failed')
const IS_UNRESOLVED = canBe('synced')

/**
 * Locks notifications that wait for processing, the first made first, or only the one with this id;
 * skips notifications that another processor holds. They stay as they are if the transaction ends
 * without an outcome.
 */
export async function claimNotifications(
  session: Session,
  limit: number,
  onlyId: string | null = null,
): Promise<ClaimedNotification[]> {
  return lock(
    session,
    sql`${IS_WAITING} and (next_attempt_at is null or next_attempt_at <= now())
    and (${onlyId}::text is null or notification_id = ${onlyId})
order by observed_at, notification_id
limit ${limit}
for update skip locked`,
  )
}

/** Locks an unresolved notification, after its present holder; undefined if it no longer waits. */
export async function lockUnresolved(
  session: Session,
  notificationId: string,
): Promise<ClaimedNotification | undefined> {
  const [locked] = await lock(
    session,
    sql`${IS_UNRESOLVED} and notification_id = ${notificationId} for update`,
  )
  return locked
}

interface LockedRow extends Omit<ClaimedNotification, 'observedAt' | 'receivedAt'> {
  readonly observedMs: number
  readonly receivedMs: number
}

async function lock(
  session: Session,
  condition: RawBuilder<unknown>,
): Promise<ClaimedNotification[]> {
  const rows = await session.query(
    'claim notifications',
    sql<LockedRow>`select notification_id as "notificationId", webhook_id as "webhookId", body,
    case when reference_type is not null and reference_id is not null then
        jsonb_build_object('type', reference_type, 'id', reference_id)
    end as reference,
    coalesce(created_at > observed_at, false) as "isClamped",
    floor(extract(epoch from observed_at) * 1000)::bigint as "observedMs",
    ceil(extract(epoch from received_at) * 1000)::bigint as "receivedMs"
from ${tableRef('sync.webhook_notifications')} as stored
where ${condition}`,
  )
  return rows.map(({ observedMs, receivedMs, ...row }) => ({
    ...row,
    observedAt: new Date(observedMs),
    receivedAt: new Date(receivedMs),
  }))
}

/**
 * Records the outcomes of notifications; called in the transaction that applied them. Returns the
 * sum of the seconds since their receipt, by the database's clock.
 */
export async function recordOutcomes(
  session: Session,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<number> {
  if (outcomes.size === 0) return 0
  const [row] = await session.query(
    'record what became of notifications',
    sql<{ seconds: number | null }>`with recorded as (
    update ${tableRef('sync.webhook_notifications')} as stored
    set
        state = given.outcome,
        processed_at = clock_timestamp(),
        next_attempt_at = null,
        error = null
    from unnest(${[...outcomes.keys()]}::text[],
        ${[...outcomes.values()]}::text[]) as given (notification_id, outcome)
    where stored.notification_id = given.notification_id
        and (stored.state, given.outcome) in (${ALLOWED_OUTCOMES})
    returning greatest(extract(epoch from processed_at - received_at), 0) as seconds
)

select sum(seconds)::float8 as seconds
from recorded`,
  )
  return row?.seconds ?? 0
}

/** Defers notifications until their webhook is known, without counting an attempt. */
export async function deferNotifications(
  session: Session,
  ids: readonly string[],
  waitMs: number,
): Promise<void> {
  if (ids.length === 0) return
  await session.query(
    'defer notifications',
    sql`update ${tableRef('sync.webhook_notifications')} as stored
set
    next_attempt_at = now() + make_interval(secs => ${waitMs / 1000}::double precision),
    error = 'could not find out yet whether its webhook is ours'
where notification_id = any(${ids}::text[]) and ${IS_WAITING}`,
  )
}

/** Makes deferred notifications due that were received until this instant. */
export async function releaseDeferred(warehouse: Warehouse, receivedUntil: Date): Promise<void> {
  await warehouse.query(
    'release deferred notifications',
    sql`update ${tableRef('sync.webhook_notifications')} as stored
set next_attempt_at = null, error = null
where ${IS_WAITING} and attempts = 0 and next_attempt_at > now() and received_at <= ${receivedUntil.toISOString()}`,
  )
}

/** After this many failures a notification is dead: only `webhooks replay` tries it again. */
const MOST_ATTEMPTS = 10
const IS_LAST = sql`attempts + 1 >= ${sql.lit(MOST_ATTEMPTS)}`
const DEAD = stateAfter('gave_up')
const WAITING = stateAfter('failed')

const FIRST_WAIT_MS = 30_000
const LONGEST_WAIT_MS = 6 * 3_600_000

/** The wait after the nth failed attempt: half a minute, doubled each time, six hours at most. */
export function waitAfterFailure(attempts: number): number {
  return backoffMs(attempts, FIRST_WAIT_MS, LONGEST_WAIT_MS)
}

/**
 * Records a failed attempt; the tenth makes the notification dead. Returns the number of attempts,
 * or undefined if the notification no longer waits.
 */
export async function recordFailure(
  session: Session,
  notificationId: string,
  error: string,
): Promise<number | undefined> {
  const waits = Array.from({ length: MOST_ATTEMPTS }, (_, at) => waitAfterFailure(at + 1) / 1000)
  const [row] = await session.query(
    'record a failed attempt',
    sql<{ attempts: number }>`update ${tableRef('sync.webhook_notifications')} as stored
set
    attempts = attempts + 1,
    error = ${error},
    state = case when ${IS_LAST} then ${DEAD} else ${WAITING} end,
    next_attempt_at = case
        when ${IS_LAST} then null
        else now() + make_interval(secs => (${waits}::double precision[])[attempts + 1])
    end
where notification_id = ${notificationId} and ${IS_WAITING}
returning attempts`,
  )
  return row?.attempts
}

const CLOSED = stateAfter('synced')

/**
 * Closes unresolved notifications made before the last complete sync began: that sync has read
 * their subjects. Returns how many; idempotent.
 */
export async function closeUnresolved(warehouse: Warehouse): Promise<number> {
  const beganAt = completeSyncBegan(await loadConfirmedPasses(warehouse, 'whole'))
  if (beganAt === undefined) return 0
  const rows = await warehouse.query(
    'close unresolved notifications',
    sql`update ${tableRef('sync.webhook_notifications')} as stored
set
    state = ${CLOSED},
    processed_at = clock_timestamp(),
    error = 'covered by a complete sync'
where ${IS_UNRESOLVED} and observed_at < ${beganAt.toISOString()}::timestamptz
returning notification_id`,
  )
  return rows.length
}
