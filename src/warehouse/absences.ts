import { sql } from 'kysely'
import type { Resource } from '../resources/resource.js'
import { quoteIdentifier } from './schema-names.js'
import type { Session, Warehouse } from './warehouse.js'

/** How many keys are compared at a time; the whole list of an account need not be in memory. */
const KEYS_PER_READ = 20_000

export interface UnseenRows {
  /** Keys of live rows that the pass did not show, in order. */
  readonly keys: readonly string[]
  /** Live rows in all. */
  readonly live: number
}

/**
 * The live rows that a complete pass did not show. Rows that something else saw after the pass began are alive and not among them. Reads
 * keys only; a few hundred kilobytes for 60,000 rows.
 */
export async function findUnseenRows(
  warehouse: Warehouse,
  resource: Resource,
  passStartedAt: Date,
  isSeen: (key: string) => boolean,
): Promise<UnseenRows> {
  const key = quoteIdentifier(resource.idColumn)
  const table = `${quoteIdentifier(warehouse.names.data)}.${quoteIdentifier(resource.stream)}`
  const keys: string[] = []
  let live = 0
  let after = ''
  for (;;) {
    const rows = await warehouse.query<{ key: string; is_settled: boolean }>(
      `look for unseen ${resource.stream}`,
      `select ${key} as key, _observed_at <= $2::timestamptz as is_settled
from ${table}
where ${key} > $1 and _deleted_at is null
order by ${key}
limit ${KEYS_PER_READ}`,
      [after, passStartedAt.toISOString()],
    )
    live += rows.length
    for (const row of rows) if (row.is_settled && !isSeen(row.key)) keys.push(row.key)
    if (rows.length < KEYS_PER_READ) return { keys, live }
    after = rows.at(-1)?.key ?? ''
  }
}

/**
 * Containers of which only transport events stand, because their own record was never of use: nothing but a pass can find out that they are gone. What was seen
 * after the pass began is left out. One anti-join of the two keys: a fifth of a second for 700,000 transport events.
 */
export async function findContainersWithoutRow(
  warehouse: Warehouse,
  passStartedAt: Date,
): Promise<string[]> {
  const data = quoteIdentifier(warehouse.names.data)
  const rows = await warehouse.query<{ key: string }>(
    'look for transport events without a container',
    `select report.container_id as key
from ${data}.transport_events as report
where report._deleted_at is null
    and not exists (
        select from ${data}.containers as owner where owner.container_id = report.container_id
    )
group by report.container_id
having max(report._observed_at) <= $1::timestamptz
order by report.container_id`,
    [passStartedAt.toISOString()],
  )
  return rows.map(({ key }) => key)
}

/**
 * Those of the given containers that have a transport event which the row of a live container names: an event may stand in the list of
 * another container than the one it points to, and is there as long as that one says so. Reads the lists of all containers once, a
 * tenth of a second for 60,000, so it is for the few containers that `findContainersWithoutRow` finds.
 */
export async function findContainersOfNamedEvents(
  warehouse: Warehouse,
  containerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const data = quoteIdentifier(warehouse.names.data)
  const rows = await warehouse.query<{ key: string }>(
    'look for transport events that other containers name',
    `select distinct report.container_id as key
from ${data}.containers as other
cross join unnest(other.transport_event_ids) as named (id)
inner join ${data}.transport_events as report on named.id = report.transport_event_id
where other._deleted_at is null
    and report.container_id = any($1::text[])
    and report._deleted_at is null`,
    [containerIds],
  )
  return new Set(rows.map(({ key }) => key))
}

/**
 * Counts one more missed pass for the given rows and forgets all others of the stream: they were seen. Returns the rows that have now
 * missed two passes or more. Writes nothing when nothing is missing and nothing was.
 */
export async function countAbsences(
  session: Session,
  stream: string,
  keys: readonly string[],
  syncRunId: number,
): Promise<string[]> {
  await forgetAbsencesExcept(session, stream, keys)
  if (keys.length === 0) return []
  const rows = await session.sync
    .insertInto('absences')
    .values(keys.map((row_key) => ({ stream, row_key, missed_passes: 1, sync_run_id: syncRunId })))
    .onConflict((conflict) =>
      conflict.columns(['stream', 'row_key']).doUpdateSet((set) => ({
        // Once for each run: doing this again, because nobody knows whether it was committed, changes nothing.
        missed_passes: sql`absences.missed_passes + (absences.sync_run_id is distinct from ${syncRunId})::integer`,
        last_missed_at: set.ref('excluded.last_missed_at'),
        sync_run_id: syncRunId,
      })),
    )
    .returning(['row_key', 'missed_passes'])
    .execute()
  return rows.filter((row) => row.missed_passes >= 2).map((row) => row.row_key)
}

async function forgetAbsencesExcept(
  session: Session,
  stream: string,
  keys: readonly string[],
): Promise<void> {
  await session.sync
    .deleteFrom('absences')
    .where('stream', '=', stream)
    .$if(keys.length > 0, (query) => query.where('row_key', 'not in', [...keys]))
    .execute()
}

/** Whether rows of a stream were missed by an earlier pass. */
export async function hasAbsences(session: Session, stream: string): Promise<boolean> {
  const row = await session.sync
    .selectFrom('absences')
    .select('stream')
    .where('stream', '=', stream)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Forgets rows whose case is decided. */
export async function forgetAbsences(
  session: Session,
  stream: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await session.sync
    .deleteFrom('absences')
    .where('stream', '=', stream)
    .where('row_key', 'in', [...keys])
    .execute()
}
