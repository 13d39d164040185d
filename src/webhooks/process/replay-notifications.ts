import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'

/** States of a notification that is settled one way or another, and can be put back. */
export const REPLAYABLE_STATES = ['dead', 'ignored', 'foreign', 'unresolved', 'processed'] as const

export type ReplayableState = (typeof REPLAYABLE_STATES)[number]

/** All that is given must hold; nothing given selects the whole inbox. */
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
  /** Put back; in a dry run, what would be. */
  readonly replayed: number
  /** Waiting for their first attempt anyway: left as they are. */
  readonly waiting: number
  /** Their body was deleted after the retention time, or never came: there is nothing to apply, and they are left as they are. */
  readonly withoutBody: number
  /** Ids that are not in the inbox. */
  readonly unknownIds: readonly string[]
}

/** So many are put back in one statement. */
const BATCH = 5_000

/**
 * Puts notifications of the inbox back, to be applied once more: state `received`, no attempts, due now. Applying one twice changes nothing, because a row never
 * goes backwards. Idempotent; each notification is put back once, even if it is applied again meanwhile. A dry run writes nothing.
 */
export async function replayNotifications(
  warehouse: Warehouse,
  selection: ReplaySelection,
  { isDryRun = false }: { readonly isDryRun?: boolean } = {},
): Promise<ReplayReport> {
  const where = toCondition(selection)
  const counts = await countSelected(warehouse, warehouse, where)
  const unknownIds = await findUnknownIds(warehouse, selection.ids ?? [])
  const replayed = isDryRun ? counts.replayable : await putBack(warehouse, where)
  const { selected, waiting, withoutBody } = counts
  return { isDryRun, selected, replayed, waiting, withoutBody, unknownIds }
}

interface Condition {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

function toCondition({ ids, states, event, since, until }: ReplaySelection): Condition {
  const parts: string[] = []
  const parameters: unknown[] = []
  const add = (comparison: string, value: unknown): void => {
    if (value === undefined) return
    parameters.push(value)
    parts.push(comparison.replace('?', `$${parameters.length}`))
  }
  add('notification_id = any(?::text[])', ids)
  add('state = any(?::text[])', states)
  add('event = ?', event)
  add('received_at >= ?::timestamptz', since?.toISOString())
  add('received_at < ?::timestamptz', until?.toISOString())
  return { sql: parts.length === 0 ? 'true' : parts.join(' and '), parameters }
}

/** Something to apply, and not just waiting for its first attempt. */
const IS_REPLAYABLE = `body is not null and (state != 'received' or attempts > 0)`

async function countSelected(
  session: Session,
  { names }: Warehouse,
  where: Condition,
): Promise<Record<'selected' | 'replayable' | 'waiting' | 'withoutBody', number>> {
  const [counts] = await session.query<{
    selected: number
    replayable: number
    without_body: number
  }>(
    'count the notifications to replay',
    `select
    count(*) as selected,
    count(*) filter (where ${IS_REPLAYABLE}) as replayable,
    count(*) filter (where body is null) as without_body
from ${names.table('webhook_notifications')}
where ${where.sql}`,
    where.parameters,
  )
  const { selected = 0, replayable = 0, without_body: withoutBody = 0 } = counts ?? {}
  return { selected, replayable, withoutBody, waiting: selected - replayable - withoutBody }
}

async function findUnknownIds(warehouse: Warehouse, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await warehouse.query<{ id: string }>(
    'look for the notifications to replay',
    `select wanted.id
from unnest($1::text[]) as wanted (id)
where not exists (
    select from ${warehouse.names.table('webhook_notifications')} as stored
    where stored.notification_id = wanted.id
)`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

async function putBack(warehouse: Warehouse, where: Condition): Promise<number> {
  const inbox = warehouse.names.table('webhook_notifications')
  const last = where.parameters.length + 1
  let after = ''
  let replayed = 0
  for (;;) {
    // By key, once through: what is applied again meanwhile would otherwise be selected for ever.
    const rows = await warehouse.query<{ id: string }>(
      'put notifications back',
      `with chosen as (
    select notification_id
    from ${inbox}
    where (${where.sql}) and ${IS_REPLAYABLE} and notification_id > $${last}
    order by notification_id
    limit ${BATCH}
),
replayed as (
    update ${inbox} as stored
    set state = 'received', attempts = 0, next_attempt_at = now(), processed_at = null, error = null
    from chosen
    where stored.notification_id = chosen.notification_id
    returning stored.notification_id
)
select notification_id as id
from replayed
order by notification_id`,
      [...where.parameters, after],
    )
    replayed += rows.length
    const end = rows.at(-1)?.id
    if (end === undefined || rows.length < BATCH) return replayed
    after = end
  }
}
