import { sql } from 'kysely'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

export interface OpenOperation {
  readonly name: string
  readonly openedAt: string
  readonly ageSeconds: number
  readonly sentence: string
}

export interface OpenExceptions {
  readonly name: string
  readonly severity: string
  readonly open: number
  /** Exceptions in no digest yet. */
  readonly untold: number
}

export interface MessageRow {
  readonly messageId: string
  readonly channel: string
  readonly event: string
  /** Title of the message. */
  readonly title: string
  readonly state: string
  readonly attempts: number
  readonly ageSeconds: number
  readonly error: string | null
}

export interface AlertsAnswer {
  readonly operations: readonly OpenOperation[]
  readonly exceptions: readonly OpenExceptions[]
  /** All undelivered ones, then the latest of the others. */
  readonly messages: readonly MessageRow[]
}

const MESSAGES_SHOWN = 20

/** The open alerts, and the fate of their messages. */
export async function readAlerts(warehouse: Warehouse): Promise<AlertsAnswer> {
  const alerts = tableRef('sync.alerts')
  return {
    operations: await warehouse.query(
      'read the open alerts',
      sql<OpenOperation>`select name, opened_at as "openedAt", sentence,
    round(extract(epoch from now() - opened_at))::float8 as "ageSeconds"
from ${alerts}
where kind = 'operations' and closed_at is null and opened_at is not null
order by opened_at, alert_id`,
    ),
    exceptions: await warehouse.query(
      'count the open exceptions',
      sql<OpenExceptions>`select name, severity, count(*) as open,
    count(*) filter (where opening_digest_on is null) as untold
from ${alerts}
where kind = 'exceptions' and closed_at is null
group by name, severity
order by array_position(array['high', 'medium', 'low'], severity), name`,
    ),
    messages: await warehouse.query(
      'read the messages about alerts',
      sql<MessageRow>`select message_id as "messageId", channel, event, content ->> 'title' as title, state,
    attempts, error, round(extract(epoch from now() - created_at))::float8 as "ageSeconds"
from ${tableRef('sync.alert_messages')}
order by state = 'sent', created_at desc, channel
limit ${MESSAGES_SHOWN}`,
    ),
  }
}

/**
 * Has messages sent again that are in doubt or were given up. Returns their ids; the others have
 * another state or do not exist.
 */
export async function resendMessages(
  warehouse: Warehouse,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await warehouse.query(
    'have messages sent again',
    sql<{ id: string }>`update ${tableRef('sync.alert_messages')}
set state = 'waiting', attempts = 0, next_attempt_at = now(), error = null
where message_id::text = any(${ids.map((id) => id.toLowerCase())}) and state in ('in_doubt', 'given_up')
returning message_id as id`,
  )
  return rows.map(({ id }) => id)
}

const KEPT_DAYS = 90

/**
 * Deletes alerts that ended more than three months ago, with their messages. Returns the number of
 * alerts.
 */
export async function forgetAlerts(warehouse: Warehouse): Promise<number> {
  await warehouse.query(
    'delete old digests of alerts',
    sql`delete from ${tableRef('sync.alert_digests')}
where made_at < now() - make_interval(days => ${KEPT_DAYS})`,
  )
  const [row] = await warehouse.query(
    'delete old alerts',
    sql<{ deleted: number }>`with deleted as (
    delete from ${tableRef('sync.alerts')}
    where closed_at < now() - make_interval(days => ${KEPT_DAYS})
    returning alert_id
)
select count(*) as deleted from deleted`,
  )
  return row?.deleted ?? 0
}
