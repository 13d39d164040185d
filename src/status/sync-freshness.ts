import { slotGaps } from '../base/schedule.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/** How old the last complete sync or backfill is, in any process; a narrowed one does not count. */
export interface SyncFreshness {
  /** Just before its first request, by the database's clock; null if there was none. */
  readonly beganAt: string | null
  readonly ageSeconds: number | null
}

/** A run that continued a pass of an earlier run is as old as that pass. One indexed query. */
export async function readSyncFreshness(warehouse: Warehouse): Promise<SyncFreshness> {
  const [row] = await warehouse.query<{ began_at: string; age: number }>(
    'look up the last complete sync',
    `select passes.began_at, extract(epoch from now() - passes.began_at)::float8 as age
from (
    select sync_run_id, started_at
    from ${warehouse.names.table('sync_runs')}
    where outcome = 'complete'
        and command in ('sync', 'backfill')
        and options -> 'narrowing' is null
    order by sync_run_id desc
    limit 1
) as run
cross join lateral (
    select coalesce(min(part.pass_began_at), run.started_at) as began_at
    from ${warehouse.names.table('sync_run_streams')} as part
    where part.sync_run_id = run.sync_run_id
) as passes`,
  )
  return { beganAt: row?.began_at ?? null, ageSeconds: row?.age ?? null }
}

/** When syncs are scheduled. */
export interface SyncSlots {
  /** A cron expression, or `off`. */
  readonly cron: string
  readonly timeZone: string
}

export function slotsOf(config: {
  readonly syncCron: string
  readonly cronTimeZone: string
}): SyncSlots {
  return { cron: config.syncCron, timeZone: config.cronTimeZone }
}

/** True when a slot was missed: the last complete sync began more than one slot ago. */
export function isSyncDue({ ageSeconds }: SyncFreshness, { cron, timeZone }: SyncSlots): boolean {
  if (cron === 'off') return false
  return ageSeconds === null || ageSeconds * 1000 > slotGaps(cron, timeZone).shortestMs
}

/** True when the last complete sync began more than two slots ago. Undefined without slots. */
export function isSyncOverdue(
  { ageSeconds }: SyncFreshness,
  { cron, timeZone }: SyncSlots,
): boolean | undefined {
  if (cron === 'off') return undefined
  return ageSeconds === null || ageSeconds * 1000 > 2 * slotGaps(cron, timeZone).longestMs
}
