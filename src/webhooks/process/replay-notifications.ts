import { sql, type RawBuilder } from 'kysely'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { stateAfter, type NotificationState } from '../receive/notification-states.js'
import { allTrue, tableRef } from '../../warehouse/connection/typed-database.js'

/** States that a user can put a notification back from. */
export type ReplayableState = Exclude<NotificationState, 'received'>

/** All given members must hold; without any, the whole inbox is selected. */
export interface ReplaySelection {
  readonly ids?: readonly string[] | undefined
  readonly states?: readonly ReplayableState[] | undefined
  readonly event?: string | undefined
  /** Received at this instant or later. */
  readonly since?: Date | undefined
  /** Received before this instant. */
  readonly until?: Date | undefined
}

export interface ReplayReport {
  readonly isDryRun: boolean
  readonly selected: number
  /** Put back, or in a dry run to put back. */
  readonly replayed: number
  /** Left alone: they wait for their first attempt anyway. */
  readonly waiting: number
  /** Left alone: their body was deleted after the retention time, or never came. */
  readonly withoutBody: number
  /** Ids that are not in the inbox. */
  readonly unknownIds: readonly string[]
}

const REPLAYED = stateAfter('replayed')

function isSelected({ ids, states, event, since, until }: ReplaySelection): RawBuilder<boolean> {
  return allTrue([
    sql`true`,
    ...(ids === undefined ? [] : [sql`notification_id = any(${ids}::text[])`]),
    ...(states === undefined ? [] : [sql`state = any(${states}::text[])`]),
    ...(event === undefined ? [] : [sql`event = ${event}`]),
    ...(since === undefined ? [] : [sql`received_at >= ${since.toISOString()}::timestamptz`]),
    ...(until === undefined ? [] : [sql`received_at < ${until.toISOString()}::timestamptz`]),
  ])
}

/** It has a body and does not just wait for its first attempt. */
const IS_REPLAYABLE = sql`(body is not null and (state != ${REPLAYED} or attempts > 0))`

type Counts = Pick<ReplayReport, 'selected' | 'waiting' | 'withoutBody' | 'unknownIds'>

/**
 * Puts notifications of the inbox back for another application: no attempts, due now. Applying one
 * twice changes nothing, because a row never goes backwards. Idempotent; each notification is put
 * back once, even if it is applied meanwhile. A dry run writes nothing.
 */
export async function replayNotifications(
  warehouse: Warehouse,
  selection: ReplaySelection,
  { isDryRun = false }: { readonly isDryRun?: boolean } = {},
): Promise<ReplayReport> {
  const inbox = tableRef('sync.webhook_notifications')
  const [found] = await warehouse.query(
    'count the notifications to replay',
    sql<Counts & { readonly replayable: number }>`select
    count(*) as selected,
    count(*) filter (where ${IS_REPLAYABLE}) as replayable,
    count(*) filter (where body is not null and not ${IS_REPLAYABLE}) as waiting,
    count(*) filter (where body is null) as "withoutBody",
    array(
        select wanted.id
        from unnest(${selection.ids ?? null}::text[]) with ordinality as wanted (id, place)
        where not exists (select from ${inbox} as stored where stored.notification_id = wanted.id)
        order by wanted.place
    ) as "unknownIds"
from ${inbox}
where ${isSelected(selection)}`,
  )
  if (found === undefined) throw new Error('a count came without a row')
  const { replayable, ...counts } = found
  if (isDryRun) return { isDryRun, ...counts, replayed: replayable }
  return { isDryRun, ...counts, replayed: await putBack(warehouse, selection) }
}

/** Notifications per statement: a large inbox would take longer than a statement may. */
const BATCH = 5_000

/** By key, once through: notifications that are applied meanwhile would not end. */
async function putBack(warehouse: Warehouse, selection: ReplaySelection): Promise<number> {
  const inbox = tableRef('sync.webhook_notifications')
  let after = ''
  let replayed = 0
  for (;;) {
    const [batch] = await warehouse.query(
      'put notifications back',
      sql<{ readonly count: number; readonly last: string | null }>`with chosen as (
    select notification_id
    from ${inbox}
    where ${isSelected(selection)} and ${IS_REPLAYABLE} and notification_id > ${after}
    order by notification_id
    limit ${BATCH}
),
replayed as (
    update ${inbox} as stored
    set
        state = ${REPLAYED},
        attempts = 0,
        next_attempt_at = now(),
        processed_at = null,
        error = null
    from chosen
    where stored.notification_id = chosen.notification_id
    returning stored.notification_id
)
select count(*) as count, (select max(notification_id) from chosen) as last
from replayed`,
    )
    replayed += batch?.count ?? 0
    if (typeof batch?.last !== 'string') return replayed
    after = batch.last
  }
}
