import { sql, type RawBuilder } from 'kysely'
import { EXCEPTION_ALERTS } from './alert-names.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import type { AlertSettings } from './alert-channels.js'
import type { Digest, DigestRow } from './message.js'
import { relationRef, tableRef } from '../../warehouse/connection/typed-database.js'

/**
 * Stores the open exceptions. The view is slow: in the schema `stored` its rows are as old as
 * `stored_views` says. Reads first and compares then: nodes refuse a statement that does both.
 */
export async function recordExceptions(
  session: Session,
  { names }: Pick<AlertSettings, 'names'>,
  schema: 'stored' | 'analytics',
  at: string | null,
): Promise<void> {
  const table = tableRef('sync.alerts')
  // Keep one row for each container and exception: two holds are one thing to report.
  const [open] = await session.query(
    'look for exceptions',
    sql<{ found: string }>`select coalesce(jsonb_agg(found), '[]')::text as found
from (
    select distinct on (shown.exception, shown.container_id)
        shown.exception || ':' || shown.container_id as alert_key,
        shown.exception as name,
        shown.severity,
        shown.sentence,
        jsonb_build_object(
            'container_id', shown.container_id,
            'container_number', shown.container_number,
            'bill_of_lading_number', shown.bill_of_lading_number,
            'shipping_line_scac', shown.shipping_line_scac,
            'since_at', shown.since_at,
            'cost_amount', shown.cost_amount,
            'cost_currency_code', shown.cost_currency_code
        ) as details
    from ${relationRef(`${schema}.attention`)} as shown
    where shown.exception = any(${EXCEPTION_ALERTS.filter((name) => names.has(name))})
    order by shown.exception, shown.container_id, shown.since_at
) as found`,
  )
  await session.query(
    'store the exceptions',
    sql`with found as materialized (
    select found.alert_key, found.name, found.severity, found.sentence, found.details
    from jsonb_to_recordset(${open?.found ?? '[]'}::jsonb)
        as found (alert_key text, name text, severity text, sentence text, details jsonb)
),

closed as (
    update ${table} as kept
    set closed_at = coalesce(${at}::timestamptz, now())
    where kept.kind = 'exceptions'
        and kept.closed_at is null
        and not exists (select from found where found.alert_key = kept.alert_key)
)

insert into ${table}
    (kind, alert_key, name, severity, sentence, details, first_seen_at, seen_at, opened_at)
select 'exceptions', found.alert_key, found.name, found.severity, found.sentence, found.details,
    moment.at, moment.at, moment.at
from found
cross join (select coalesce(${at}::timestamptz, now()) as at) as moment
order by found.alert_key
on conflict (kind, alert_key) where closed_at is null do nothing`,
  )
}

/** The local day with a due digest that is not made yet; else undefined. */
export async function findDueDigest(
  session: Session,
  { names, digestHour, timeZone }: AlertSettings,
  at: string | null,
): Promise<string | undefined> {
  if (!EXCEPTION_ALERTS.some((name) => names.has(name))) return undefined
  const [row] = await session.query(
    'look whether a digest is due',
    sql<{ day: string }>`select local.at::date as day
from (select coalesce(${at}::timestamptz, now()) at time zone ${timeZone} as at) as local
where extract(hour from local.at) >= ${digestHour}
    and not exists (
        select from ${tableRef('sync.alert_digests')} as made
        where made.digest_on >= local.at::date
    )`,
  )
  return row?.day
}

const MOST_ROWS = 300

const GRAVEST_FIRST = sql`array_position(array['high', 'medium', 'low'], severity), name, alert_key`

/**
 * Makes the digest and marks its exceptions as reported. Undefined if another process made it
 * first.
 */
export async function makeDigest(
  session: Session,
  day: string,
  at: string | null,
): Promise<Digest | undefined> {
  const table = tableRef('sync.alerts')
  const digests = tableRef('sync.alert_digests')
  const [made] = await session.query(
    'make the digest',
    sql<{
      opened: number
      closed: number
      open: number
    }>`insert into ${digests} (digest_on, made_at, opened, closed, open)
select
    ${day},
    coalesce(${at}::timestamptz, now()),
    count(*) filter (where opening_digest_on is null),
    count(*) filter (where closed_at is not null and closing_digest_on is null),
    count(*) filter (where closed_at is null)
from ${table}
where kind = 'exceptions'
on conflict do nothing
returning opened, closed, open`,
  )
  if (made === undefined) return undefined
  const openedRows = await tell(
    session,
    'new',
    sql`update ${table} set opening_digest_on = ${day}
    where kind = 'exceptions' and opening_digest_on is null`,
  )
  const closedRows = await tell(
    session,
    'closed',
    sql`update ${table} set closing_digest_on = ${day}
    where kind = 'exceptions' and closed_at is not null and closing_digest_on is null`,
  )
  return { day, ...made, openedRows, closedRows }

  /** Marks exceptions as reported, and returns the gravest. */
  function tell(
    session: Session,
    event: string,
    marking: RawBuilder<unknown>,
  ): Promise<DigestRow[]> {
    return session.query(
      `tell of the ${event} exceptions`,
      sql<DigestRow>`with told as (
    ${marking}
    returning name, severity, sentence, details, opened_at, closed_at, alert_key
)
select name, severity, sentence, details, opened_at as "openedAt", closed_at as "closedAt"
from told
order by ${GRAVEST_FIRST}
limit ${MOST_ROWS}`,
    )
  }
}
