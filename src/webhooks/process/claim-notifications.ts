import { backoffMs } from '../../base/retry.js'
import type { SchemaNames } from '../../warehouse/connection/schema-names.js'
import type { Session } from '../../warehouse/connection/warehouse.js'

/** A notification of the inbox, locked by the transaction that claimed it. */
export interface ClaimedNotification {
  readonly notificationId: string
  /** When the source can have known what it says; see the inbox's column. */
  readonly observedAt: Date
  /** It says it was made later than that. */
  readonly isClamped: boolean
  /** On the database's clock. */
  readonly receivedAt: Date
  /** Null after the retention time, or when it was only heard of. */
  readonly body: Buffer | null
}

/** What becomes of a notification. */
export type Settlement = 'processed' | 'ignored' | 'foreign' | 'unresolved'

const CLAIMED = `notification_id, body, coalesce(created_at > observed_at, false) as is_clamped,
    floor(extract(epoch from observed_at) * 1000)::bigint as observed_ms,
    ceil(extract(epoch from received_at) * 1000)::bigint as received_ms`

interface Row {
  readonly notification_id: string
  readonly observed_ms: number
  readonly is_clamped: boolean
  readonly received_ms: number
  readonly body: Buffer | null
}

/**
 * Locks notifications that wait to be applied, those first that the source made first; what another
 * processor holds is passed over. They stay as they are when the transaction ends without settling
 * them.
 */
export async function claimNotifications(
  session: Session,
  names: SchemaNames,
  limit: number,
): Promise<ClaimedNotification[]> {
  return claim(session, names, 'true', [limit])
}

/** Locks one notification, if it still waits and nobody holds it. */
export async function claimNotification(
  session: Session,
  names: SchemaNames,
  notificationId: string,
): Promise<ClaimedNotification | undefined> {
  const [claimed] = await claim(session, names, 'notification_id = $2', [1, notificationId])
  return claimed
}

/**
 * Locks a notification that could not be resolved, waiting for whoever holds it; undefined when it
 * was settled meanwhile.
 */
export async function lockUnresolved(
  session: Session,
  names: SchemaNames,
  notificationId: string,
): Promise<ClaimedNotification | undefined> {
  const [row] = await session.query<Row>(
    'lock a notification',
    `select ${CLAIMED}
from ${names.table('webhook_notifications')}
where notification_id = $1 and state = 'unresolved'
for update`,
    [notificationId],
  )
  return row === undefined ? undefined : toClaimed(row)
}

async function claim(
  session: Session,
  names: SchemaNames,
  condition: string,
  parameters: readonly unknown[],
): Promise<ClaimedNotification[]> {
  const rows = await session.query<Row>(
    'claim notifications',
    `select ${CLAIMED}
from ${names.table('webhook_notifications')}
where state = 'received'
    and (next_attempt_at is null or next_attempt_at <= now())
    and ${condition}
order by observed_at, notification_id
limit $1
for update skip locked`,
    parameters,
  )
  return rows.map(toClaimed)
}

function toClaimed(row: Row): ClaimedNotification {
  return {
    notificationId: row.notification_id,
    observedAt: new Date(row.observed_ms),
    isClamped: row.is_clamped,
    receivedAt: new Date(row.received_ms),
    body: row.body,
  }
}

/** Notes what became of notifications; called in the transaction that did it. */
export async function settleNotifications(
  session: Session,
  names: SchemaNames,
  settlements: ReadonlyMap<string, Settlement>,
): Promise<void> {
  if (settlements.size === 0) return
  await session.query(
    'settle notifications',
    `update ${names.table('webhook_notifications')} as stored
set state = settled.state, processed_at = clock_timestamp(), next_attempt_at = null, error = null
from unnest($1::text[], $2::text[]) as settled (notification_id, state)
where stored.notification_id = settled.notification_id`,
    [[...settlements.keys()], [...settlements.values()]],
  )
}

/** Lets notifications wait without counting an attempt, and notes why. */
export async function deferNotifications(
  session: Session,
  names: SchemaNames,
  ids: readonly string[],
  waitMs: number,
  why: string | null,
): Promise<void> {
  if (ids.length === 0) return
  await session.query(
    'defer notifications',
    `update ${names.table('webhook_notifications')}
set next_attempt_at = now() + make_interval(secs => $2::double precision), error = $3
where notification_id = any($1::text[]) and state = 'received'`,
    [ids, waitMs / 1000, why],
  )
}

/** A notification that fails this often is dead: only `replay` tries it again. */
const MOST_ATTEMPTS = 10
const FIRST_WAIT_MS = 30_000
const LONGEST_WAIT_MS = 6 * 3_600_000

/** After the nth failed attempt: half a minute, doubled each time, six hours at most. */
export function waitAfterFailure(attempts: number): number {
  return backoffMs(attempts, FIRST_WAIT_MS, LONGEST_WAIT_MS)
}

/**
 * Notes that a notification could not be applied; with the tenth time it is dead. Returns its
 * attempts, undefined when it was settled meanwhile.
 */
export async function noteFailedAttempt(
  session: Session,
  names: SchemaNames,
  notificationId: string,
  error: string,
): Promise<number | undefined> {
  const waits = Array.from({ length: MOST_ATTEMPTS }, (_, at) => waitAfterFailure(at + 1) / 1000)
  const [row] = await session.query<{ attempts: number }>(
    'note a failed attempt',
    `update ${names.table('webhook_notifications')}
set
    attempts = attempts + 1,
    error = $2,
    state = case when attempts + 1 >= ${MOST_ATTEMPTS} then 'dead' else state end,
    next_attempt_at = case
        when attempts + 1 >= ${MOST_ATTEMPTS} then null
        else now() + make_interval(secs => ($3::double precision[])[attempts + 1])
    end
where notification_id = $1 and state = 'received'
returning attempts`,
    [notificationId, error, waits],
  )
  return row?.attempts
}

/**
 * Settles what could not be resolved and was made before the last complete sync began: that sync
 * has seen whatever it was about. Returns how many; idempotent.
 */
export async function settleUnresolved(
  session: Session,
  names: SchemaNames,
  completeSyncBeganAt: Date | undefined,
): Promise<number> {
  if (completeSyncBeganAt === undefined) return 0
  const rows = await session.query(
    'settle unresolved notifications',
    `update ${names.table('webhook_notifications')}
set state = 'processed', processed_at = clock_timestamp(), error = 'settled by a complete sync'
where state = 'unresolved' and observed_at < $1::timestamptz
returning notification_id`,
    [completeSyncBeganAt.toISOString()],
  )
  return rows.length
}
