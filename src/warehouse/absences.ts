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
        missed_passes: set.eb('absences.missed_passes', '+', 1),
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
