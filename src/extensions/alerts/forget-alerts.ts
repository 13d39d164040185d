import { sql } from 'kysely'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

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
