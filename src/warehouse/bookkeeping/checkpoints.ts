import { sql } from 'kysely'
import type { SchemaNames } from '../connection/schema-names.js'
import type { PassScope } from '../connection/tables.js'
import type { Session } from '../connection/warehouse.js'
import { readPassPosition, type PassPosition } from './pass-position.js'

/** What a pass walks. */
export interface PassList extends Pick<PassPosition, 'query'> {
  readonly stream: string
  readonly scope: PassScope
}

export interface Checkpoint {
  readonly stream: string
  readonly scope: PassScope
  /** On the source's clock. */
  readonly passStartedAt: Date
  readonly position: PassPosition
}

/** Writes where a pass stands; called in the transaction of the rows it speaks of. */
export async function saveCheckpoint(
  session: Session,
  syncRunId: number,
  { stream, scope, passStartedAt, position }: Checkpoint,
): Promise<void> {
  const values = {
    sync_run_id: syncRunId,
    position: JSON.stringify(position),
    pass_started_at: passStartedAt.toISOString(),
    completed_at: null,
    updated_at: sql<string>`now()`,
  }
  await session.sync
    .insertInto('checkpoints')
    .values({ stream, scope, ...values })
    .onConflict((conflict) => conflict.columns(['stream', 'scope']).doUpdateSet(values))
    .execute()
}

/**
 * Records that a pass is past a page that changed nothing: outside a transaction and in a table
 * without a log, because a quiet account's sync does little else. False, with nothing recorded,
 * when the checkpoint in the warehouse is not of this run and pass: then call `saveCheckpoint`.
 * A run whose lease was taken over gets false once its successor has written a checkpoint.
 */
export async function advancePass(
  session: Session,
  syncRunId: number,
  { stream, scope, passStartedAt, position }: Checkpoint,
): Promise<boolean> {
  const rows = await session.sync
    .insertInto('pass_positions')
    .columns(['stream', 'scope', 'sync_run_id', 'pass_started_at', 'position'])
    .expression((make) =>
      make
        .selectFrom('checkpoints')
        .select([
          'stream',
          'scope',
          sql<number>`sync_run_id`.as('sync_run_id'),
          sql<string>`pass_started_at`.as('pass_started_at'),
          sql<string>`${JSON.stringify(position)}::jsonb`.as('position'),
        ])
        .where('stream', '=', stream)
        .where('scope', '=', scope)
        .where('sync_run_id', '=', syncRunId)
        .where('pass_started_at', '=', passStartedAt.toISOString()),
    )
    .onConflict((conflict) =>
      conflict.columns(['stream', 'scope']).doUpdateSet((set) => ({
        sync_run_id: set.ref('excluded.sync_run_id'),
        pass_started_at: set.ref('excluded.pass_started_at'),
        position: set.ref('excluded.position'),
        updated_at: set.ref('excluded.updated_at'),
      })),
    )
    .returning('stream')
    .execute()
  return rows.length > 0
}

/** Records that a pass is complete: all its pages are in the warehouse. */
export async function completePass(
  session: Session,
  syncRunId: number,
  { stream, scope, passStartedAt, position }: Checkpoint,
): Promise<void> {
  const values = {
    sync_run_id: syncRunId,
    position: JSON.stringify(position),
    pass_started_at: null,
    completed_at: sql<string>`now()`,
    completed_pass_started_at: passStartedAt.toISOString(),
    completed_pass_began_at: position.beganAt,
    updated_at: sql<string>`now()`,
  }
  await session.sync
    .insertInto('checkpoints')
    .values({ stream, scope, ...values })
    .onConflict((conflict) => conflict.columns(['stream', 'scope']).doUpdateSet(values))
    .execute()
}

/** Forgets how far a pass came. When the last complete pass began is kept. */
export async function abandonPass(
  session: Session,
  { stream, scope }: Pick<PassList, 'stream' | 'scope'>,
): Promise<void> {
  await session.sync
    .updateTable('checkpoints')
    .set({ pass_started_at: null, completed_at: null, updated_at: sql<string>`now()` })
    .where('stream', '=', stream)
    .where('scope', '=', scope)
    .execute()
}

/** What a run that was cut off left of a stream. */
export type PassRemains =
  | { readonly kind: 'none' }
  /** The pass got as far as this page. */
  | { readonly kind: 'unfinished'; readonly checkpoint: Checkpoint }
  /** The pass was complete before the run was cut off. */
  | { readonly kind: 'complete'; readonly position: PassPosition }

/**
 * After half an hour a list has other pages. Starting over costs list pages only: what is stored is
 * not written again.
 */
const TOO_OLD = sql`interval '30 minutes'`

/**
 * What earlier runs left of a stream. An unfinished pass is resumed, whatever ended its run. A
 * complete one counts only if its run was killed or stopped afterwards, before it had done the
 * rest; after a run that ended by itself a new pass is wanted. A pass that is too old, or had
 * another page size, counts as none.
 */
export async function loadPassRemains(
  session: Session,
  { stream, scope }: Pick<PassList, 'stream' | 'scope'>,
  pageSize: number,
): Promise<PassRemains> {
  const row = await session.sync
    .selectFrom('checkpoints as saved')
    .leftJoin('pass_positions as advanced', (join) =>
      join
        .onRef('advanced.stream', '=', 'saved.stream')
        .onRef('advanced.scope', '=', 'saved.scope')
        .onRef('advanced.sync_run_id', '=', 'saved.sync_run_id')
        .onRef('advanced.pass_started_at', '=', 'saved.pass_started_at'),
    )
    .select([
      'saved.position',
      'saved.pass_started_at',
      'saved.completed_at',
      'saved.sync_run_id',
      'advanced.position as advanced_position',
      lastRunThatEndedByItself(session).as('last_ended'),
    ])
    .where('saved.stream', '=', stream)
    .where('saved.scope', '=', scope)
    .where(sql<boolean>`greatest(saved.updated_at, advanced.updated_at) > now() - ${TOO_OLD}`)
    .executeTakeFirst()
  const saved = readPassPosition(row?.position)
  const advanced = readPassPosition(row?.advanced_position)
  // A page that wrote rows moves the checkpoint only, one that changed nothing the position only.
  const position = (advanced?.page ?? 0) > (saved?.page ?? 0) ? advanced : saved
  if (row === undefined || position?.pageSize !== pageSize) return { kind: 'none' }
  if (row.completed_at !== null) {
    const wasCutOff = (row.sync_run_id ?? 0) > (row.last_ended ?? 0)
    return wasCutOff ? { kind: 'complete', position } : { kind: 'none' }
  }
  if (row.pass_started_at === null) return { kind: 'none' }
  const passStartedAt = new Date(row.pass_started_at)
  return { kind: 'unfinished', checkpoint: { stream, scope, passStartedAt, position } }
}

/** What a new pass has to know of those before it. */
export interface PassHistory {
  /** On the database's clock: no request of the new pass is older. */
  readonly now: string
  /**
   * When the last complete pass over the whole list began, in hours before now; null when there was
   * none.
   */
  readonly wholeHoursAgo: number | null
  /** When the last complete pass of any scope began, on the source's clock. */
  readonly lastStartedAt: Date | null
}

/** When the complete passes over a stream began. */
export async function loadPassHistory(
  session: Session,
  names: SchemaNames,
  stream: string,
): Promise<PassHistory> {
  const [row] = await session.query<{
    now: string
    whole_hours_ago: number | null
    last_started_ms: number | null
  }>(
    'look up the last passes',
    `select
    to_json(now()) #>> '{}' as now,
    (extract(epoch from now() - max(completed_pass_began_at) filter (where scope = 'whole')) / 3600)::float8
        as whole_hours_ago,
    floor(extract(epoch from max(completed_pass_started_at)) * 1000)::bigint as last_started_ms
from ${names.table('checkpoints')}
where stream = $1`,
    [stream],
  )
  if (row === undefined) throw new Error('a query of aggregates has one row')
  return {
    now: row.now,
    wholeHoursAgo: row.whole_hours_ago,
    lastStartedAt: row.last_started_ms === null ? null : new Date(row.last_started_ms),
  }
}

function lastRunThatEndedByItself(session: Session) {
  return session.sync
    .selectFrom('sync_runs')
    .select(({ fn }) => fn.max('sync_run_id').as('last'))
    .where('command', 'in', ['backfill', 'sync'])
    .where('outcome', 'not in', ['running', 'aborted'])
}
