import type { Warehouse } from '../../warehouse/connection/warehouse.js'

const KEPT_DAYS = 90

/** Deletes what was over for three months, with the messages about it. Gives how many alerts. */
export async function forgetAlerts({ names, ...warehouse }: Warehouse): Promise<number> {
  await warehouse.query(
    'delete old digests of alerts',
    `delete from ${names.table('alert_digests')}
where made_at < now() - make_interval(days => $1)`,
    [KEPT_DAYS],
  )
  const [row] = await warehouse.query<{ deleted: number }>(
    'delete old alerts',
    `with deleted as (
    delete from ${names.table('alerts')}
    where closed_at < now() - make_interval(days => $1)
    returning alert_id
)
select count(*) as deleted from deleted`,
    [KEPT_DAYS],
  )
  return row?.deleted ?? 0
}
