import { sql } from 'kysely'
import type { SchemaNames } from '../connection/schema-names.js'
import { tableRef } from '../connection/typed-database.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Makes the table of zones equal to those of this server: a view would fail on a zone that the
 * server has dropped. A login that may only write rows leaves this to the next `migrate`.
 */
export async function fillTimeZones(session: Session, names: SchemaNames): Promise<void> {
  const zones = tableRef('analytics.time_zones')
  const table = names.table('time_zones')
  const [allowed] = await session.query(
    'look at the rights on the time zones',
    sql`select where has_table_privilege(${table}, 'insert') and has_table_privilege(${table}, 'delete')`,
  )
  if (allowed === undefined) return
  await session.query(
    'fill the time zones',
    sql`with known as materialized (
    select name from pg_timezone_names
),
forgotten as (
    delete from ${zones} as zone
    where zone.name not in (select known.name from known)
)
insert into ${zones} (name)
select known.name from known
on conflict do nothing`,
  )
}
