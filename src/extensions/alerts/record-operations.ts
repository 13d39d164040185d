import { sql } from 'kysely'
import type { OperationAlert } from '../../status/operation-alerts.js'
import type { Alert } from '../../status/describe-status.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import type { OperationRow } from './message.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

/** Alerts that are normal for a while: they are reported only after this many minutes. */
const LASTS_MINUTES: Readonly<Partial<Record<OperationAlert, number>>> = {
  TrackingSyncProcessorFailing: 2,
  TrackingSyncBudgetExhausted: 15,
  TrackingSyncSlotUnread: 15,
}

/**
 * An alert has ended when no process saw it for this long: some come and go, or are seen by one
 * process of several.
 */
const LINGERS_MINUTES = 5

/** Alerts that one look opened and closed. */
export interface OperationChanges {
  readonly opened: readonly OperationRow[]
  readonly closed: readonly OperationRow[]
}

const COLUMNS = sql`alert_id as "alertId", name, sentence, opened_at as "openedAt",
    closed_at as "closedAt"`

/**
 * Compares the present problems with the open alerts. `at`: the instant of the look; null for the
 * database's now. Runs in a transaction with the messages about the changes.
 */
export async function recordOperations(
  session: Session,
  found: readonly Alert[],
  at: string | null,
): Promise<OperationChanges> {
  const table = tableRef('sync.alerts')
  const keys = found.map(({ key }) => key)
  const minutes = found.map(({ name }) => LASTS_MINUTES[name] ?? 0)
  await session.query(
    'store what needs attention',
    sql`insert into ${table} as kept (kind, alert_key, name, sentence, first_seen_at, seen_at)
select 'operations', found.alert_key, found.name, found.sentence, moment.at, moment.at
from unnest(${keys}::text[], ${found.map(({ name }) => name)}::text[],
    ${found.map(({ sentence }) => sentence)}::text[]) as found (alert_key, name, sentence)
cross join (select coalesce(${at}::timestamptz, now()) as at) as moment
order by found.alert_key
on conflict (kind, alert_key) where closed_at is null do update set
    sentence = excluded.sentence,
    seen_at = excluded.seen_at,
    -- The problem went away in between, so it has not lasted.
    first_seen_at = case
        when kept.seen_at < excluded.seen_at - make_interval(mins => ${LINGERS_MINUTES}) and kept.opened_at is null
            then excluded.seen_at
        else kept.first_seen_at
    end`,
  )
  const opened = await session.query(
    'open alerts',
    sql<OperationRow>`update ${table} as kept
set opened_at = coalesce(${at}::timestamptz, now())
from unnest(${keys}::text[], ${minutes}::int[]) as found (alert_key, minutes)
where kept.kind = 'operations'
    and kept.alert_key = found.alert_key
    and kept.closed_at is null
    and kept.opened_at is null
    and kept.first_seen_at
        <= coalesce(${at}::timestamptz, now()) - make_interval(mins => found.minutes)
returning ${COLUMNS}`,
  )
  const closed = await session.query(
    'close alerts',
    sql<OperationRow>`update ${table}
set closed_at = coalesce(${at}::timestamptz, now())
where kind = 'operations'
    and closed_at is null
    and opened_at is not null
    and alert_key != all(${keys})
    and seen_at <= coalesce(${at}::timestamptz, now())
        - case when name = any(${Object.keys(LASTS_MINUTES)}) then make_interval(mins => ${LINGERS_MINUTES}) else interval '0' end
returning ${COLUMNS}`,
  )
  await session.query(
    'forget what did not last',
    sql`delete from ${table}
where kind = 'operations'
    and closed_at is null
    and opened_at is null
    and alert_key != all(${keys})
    and seen_at <= coalesce(${at}::timestamptz, now()) - make_interval(mins => ${LINGERS_MINUTES})`,
  )
  return { opened, closed }
}
