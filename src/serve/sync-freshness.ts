import { slotGaps } from '../schedule.js'
import { quoteIdentifier } from '../warehouse/schema-names.js'
import type { Warehouse } from '../warehouse/warehouse.js'

/** How old the last complete sync or backfill is, whoever made it; a narrowed one does not count. */
export interface SyncFreshness {
  /** When it began, on the database's clock; null when there was none. */
  readonly beganAt: string | null
  readonly ageSeconds: number | null
}

/** One query by the primary key. */
export async function readSyncFreshness(warehouse: Warehouse): Promise<SyncFreshness> {
  const [row] = await warehouse.query<{ began_at: string; age: number }>(
    'look up the last complete sync',
    `select started_at as began_at, extract(epoch from now() - started_at)::float8 as age
from ${quoteIdentifier(warehouse.names.sync)}.sync_runs
where outcome = 'complete'
    and command in ('sync', 'backfill')
    and options -> 'narrowing' is null
order by sync_run_id desc
limit 1`,
  )
  return { beganAt: row?.began_at ?? null, ageSeconds: row?.age ?? null }
}

/** The slots of the schedule that syncs are judged by. */
export interface SyncSlots {
  /** A cron expression, or `off`: then nothing is ever due. */
  readonly cron: string
  readonly timeZone: string
}

/** True when a slot was missed: the last complete sync began longer ago than two slots lie apart. */
export function isSyncDue({ ageSeconds }: SyncFreshness, { cron, timeZone }: SyncSlots): boolean {
  if (cron === 'off') return false
  return ageSeconds === null || ageSeconds * 1000 > slotGaps(cron, timeZone).shortestMs
}

/** True when the last complete sync began longer ago than twice the time between slots: somebody should look. Undefined without slots. */
export function isSyncOverdue(
  { ageSeconds }: SyncFreshness,
  { cron, timeZone }: SyncSlots,
): boolean | undefined {
  if (cron === 'off') return undefined
  return ageSeconds === null || ageSeconds * 1000 > 2 * slotGaps(cron, timeZone).longestMs
}
