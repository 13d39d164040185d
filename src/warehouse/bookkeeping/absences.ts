import { sql } from 'kysely'
import type { Resource } from '../../source/records/resource.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { anyOf, tableRef } from '../connection/typed-database.js'

/**
 * Keys that are compared at a time: the list of a large account must not be in memory as a whole.
 */
const KEYS_PER_READ = 20_000

export interface UnseenRows {
  /** Keys of live rows that the pass did not show, in order. */
  readonly keys: readonly string[]
  /** Live rows in all. */
  readonly live: number
}

/**
 * The live rows that a complete pass did not show and no other reader saw since it began. Reads
 * keys only, a few megabytes for 60,000 rows.
 */
export async function findUnseenRows(
  warehouse: Warehouse,
  resource: Resource,
  passStartedAt: Date,
  isSeen: (key: string) => boolean,
): Promise<UnseenRows> {
  const key = sql.id(resource.idColumn)
  const table = tableRef(`data.${resource.stream}`)
  const keys: string[] = []
  let live = 0
  let after = ''
  for (;;) {
    const rows = await warehouse.query(
      `look for unseen ${resource.stream}`,
      sql<{
        key: string
        is_settled: boolean
      }>`select ${key} as key, _observed_at <= ${passStartedAt.toISOString()}::timestamptz as is_settled
from ${table}
where ${key} > ${after} and _deleted_at is null
order by ${key}
limit ${KEYS_PER_READ}`,
    )
    live += rows.length
    for (const row of rows) if (row.is_settled && !isSeen(row.key)) keys.push(row.key)
    if (rows.length < KEYS_PER_READ) return { keys, live }
    after = rows.at(-1)?.key ?? ''
  }
}

/**
 * Containers without a row whose live transport events were not seen since the pass began: only a
 * pass can find out that they are gone. Until then such a container stays in doubt: see
 * `settleListsInDoubt`.
 */
export async function findContainersWithoutRow(
  warehouse: Warehouse,
  passStartedAt: Date,
): Promise<string[]> {
  const rows = await warehouse.query(
    'look for transport events without a container',
    sql<{ key: string }>`select doubted.container_id as key
from ${tableRef('sync.event_lists_in_doubt')} as doubted
cross join lateral (
    select max(report._observed_at) as observed_at
    from ${tableRef('data.transport_events')} as report
    where report.container_id = doubted.container_id and report._deleted_at is null
) as last
where last.observed_at <= ${passStartedAt.toISOString()}::timestamptz
    and not exists (
        select from ${tableRef('data.containers')} as owner
        where owner.container_id = doubted.container_id
    )
order by doubted.container_id`,
  )
  return rows.map(({ key }) => key)
}

/**
 * The given containers with a transport event that the row of another live container names: such an
 * event exists as long as that row names it. Reads the lists of all containers, a tenth of a second
 * for 60,000: for the few that `findContainersWithoutRow` finds.
 */
export async function findContainersOfNamedEvents(
  warehouse: Warehouse,
  containerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await warehouse.query(
    'look for transport events that other containers name',
    sql<{ key: string }>`select distinct report.container_id as key
from ${tableRef('data.containers')} as other
cross join unnest(other.transport_event_ids) as named (id)
inner join ${tableRef('data.transport_events')} as report
    on named.id = report.transport_event_id
where other._deleted_at is null
    and report.container_id = any(${containerIds}::text[])
    and report._deleted_at is null`,
  )
  return new Set(rows.map(({ key }) => key))
}

/**
 * Counts one more missed pass for the given rows and forgets the absences of all other rows of the
 * stream, which the pass showed. Returns the rows that missed two passes or more. Leaves out rows
 * that were requested less than a day ago without a clear answer.
 */
export async function countAbsences(
  session: Session,
  stream: string,
  keys: readonly string[],
  syncRunId: number,
): Promise<string[]> {
  await session.query(
    'forget absences of rows that were seen',
    // An anti-join: before PostgreSQL 15 `<> all` looks through the whole array for every row.
    sql`delete from ${tableRef('sync.absences')} as known
where known.stream = ${stream}
    and not exists (
        select from unnest(${keys}::text[]) as missing (row_key) where missing.row_key = known.row_key
    )`,
  )
  if (keys.length === 0) return []
  const rows = await session.query(
    'count absences',
    // Counts once for each run: repeating it after a lost commit changes nothing.
    sql<{ row_key: string }>`with counted as (
    insert into ${tableRef('sync.absences')} as known
        (stream, row_key, missed_passes, sync_run_id)
    select ${stream}, missing.row_key, 1, ${syncRunId}
    from unnest(${keys}::text[]) as missing (row_key)
    on conflict (stream, row_key) do update
    set
        missed_passes = known.missed_passes + (known.sync_run_id is distinct from ${syncRunId})::integer,
        last_missed_at = excluded.last_missed_at,
        sync_run_id = excluded.sync_run_id
    returning known.row_key, known.missed_passes, known.not_before
)

select row_key
from counted
where missed_passes >= 2 and (not_before is null or not_before <= now())
order by not_before nulls first, row_key`,
  )
  return rows.map((row) => row.row_key)
}

/** Whether an earlier pass missed rows of a stream. */
export async function hasAbsences(session: Session, stream: string): Promise<boolean> {
  const row = await session.db
    .selectFrom('sync.absences')
    .select('stream')
    .where('stream', '=', stream)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Forgets rows that were found or marked. */
export async function forgetAbsences(
  session: Session,
  stream: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await session.db
    .deleteFrom('sync.absences')
    .where('stream', '=', stream)
    .where('row_key', '=', anyOf(keys))
    .execute()
}

/** A missing row that was requested; no answer said whether its record exists. */
export interface OpenAbsence {
  readonly key: string
  readonly why: string
}

/**
 * Records why no answer was clear, for another try in a day. Returns rows that had no such note.
 */
export async function postponeAbsences(
  session: Session,
  stream: string,
  open: readonly OpenAbsence[],
): Promise<OpenAbsence[]> {
  if (open.length === 0) return []
  const rows = await session.query(
    'postpone absences',
    sql<{ row_key: string }>`with asked as (
    select before.row_key, asked.why, before.error is null as is_new
    from unnest(${open.map(({ key }) => key)}::text[],
        ${open.map(({ why }) => why)}::text[]) as asked (row_key, why)
    inner join ${tableRef('sync.absences')} as before
        on before.stream = ${stream} and before.row_key = asked.row_key
),
postponed as (
    update ${tableRef('sync.absences')} as known
    set error = asked.why, not_before = now() + interval '1 day'
    from asked
    where known.stream = ${stream} and known.row_key = asked.row_key
)
select row_key from asked where is_new`,
  )
  const isNew = new Set(rows.map((row) => row.row_key))
  return open.filter(({ key }) => isNew.has(key))
}
