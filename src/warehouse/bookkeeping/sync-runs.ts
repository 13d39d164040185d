import { sql } from 'kysely'
import { hostname } from 'node:os'
import type { PassScope, RunOutcome, StreamOutcome } from '../connection/tables.js'
import type { Session } from '../connection/warehouse.js'
import { columnList, setToExcluded, tableRef } from '../connection/typed-database.js'

const COUNTS = [
  'pages',
  'requests',
  'fetched',
  'inserted',
  'updated',
  'unchanged',
  'stale',
  'duplicate',
  'quarantined',
  'tombstoned',
  'coerced',
] as const

/**
 * Counts of one stream in one run, which add up:
 * fetched = inserted + updated + unchanged + stale + duplicate + quarantined.
 */
export type StreamCounts = Record<(typeof COUNTS)[number], number>

export function createStreamCounts(): StreamCounts {
  return Object.fromEntries(COUNTS.map((name) => [name, 0])) as StreamCounts
}

export interface RunStart {
  readonly command: string
  readonly options: Readonly<Record<string, unknown>>
  readonly programVersion: string
}

/** Opens a run and returns its number. */
export async function startRun(session: Session, start: RunStart): Promise<number> {
  const { sync_run_id } = await session.db
    .insertInto('sync.sync_runs')
    .values({
      command: start.command,
      options: JSON.stringify(start.options),
      host: hostname(),
      pid: process.pid,
      program_version: start.programVersion,
    })
    .returning('sync_run_id')
    .executeTakeFirstOrThrow()
  return sync_run_id
}

/** Closes the rows of killed runs. Call it with the lease, so that no other run is under way. */
export async function closeKilledRuns(session: Session): Promise<void> {
  await session.db
    .updateTable('sync.sync_runs')
    .set({
      outcome: 'aborted',
      finished_at: sql`now()`,
      error_code: 'killed',
      error_message:
        'the run was killed before it could end; the next one went on from its checkpoint',
    })
    .where('outcome', '=', 'running')
    .execute()
}

export interface RunEnd {
  readonly outcome: RunOutcome
  readonly exitCode: number
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly requests: number
}

/** Closes a run. */
export async function finishRun(session: Session, runId: number, end: RunEnd): Promise<void> {
  await session.db
    .updateTable('sync.sync_runs')
    .set({
      finished_at: sql`now()`,
      outcome: end.outcome,
      exit_code: end.exitCode,
      error_code: end.errorCode,
      error_message: end.errorMessage,
      requests: end.requests,
    })
    .where('sync_run_id', '=', runId)
    .execute()
}

/** The complete pass that showed a stream. */
export interface ShownBy {
  /** Just before its first request, on the database's clock. */
  readonly beganAt: string
  readonly scope: PassScope
}

export interface StreamState {
  readonly stream: string
  readonly counts: StreamCounts
  readonly outcome: StreamOutcome
  readonly detail: string | null
  /** Undefined without such a pass. */
  readonly shownBy?: ShownBy | undefined
}

const WRITTEN = ['outcome', 'detail', 'pass_began_at', 'pass_scope', ...COUNTS]

/** Writes the counts of streams; call it in the transaction of the rows they count. */
export async function saveStreamStates(
  session: Session,
  runId: number,
  states: readonly StreamState[],
): Promise<void> {
  if (states.length === 0) return
  await session.query(
    'save the counts of streams',
    sql`insert into ${tableRef('sync.sync_run_streams')}
    (sync_run_id, finished_at, stream, ${columnList(WRITTEN)})
select ${runId}::bigint, case when given.outcome != 'running' then now() end, given.*
from unnest(
    ${states.map(({ stream }) => stream)}::text[],
    ${states.map(({ outcome }) => outcome)}::text[],
    ${states.map(({ detail }) => detail)}::text[],
    ${states.map(({ shownBy }) => shownBy?.beganAt ?? null)}::timestamptz[],
    ${states.map(({ shownBy }) => shownBy?.scope ?? null)}::text[],
    ${sql.join(COUNTS.map((name) => sql`${states.map(({ counts }) => counts[name])}::bigint[]`))}
) as given (stream, ${columnList(WRITTEN)})
on conflict (sync_run_id, stream) do update
set ${setToExcluded(['finished_at', ...WRITTEN])}`,
  )
}

/** How a stream ended in the last earlier run that read it; undefined if none did. */
export async function loadOutcomeBefore(
  session: Session,
  stream: string,
  runId: number,
): Promise<string | undefined> {
  const [row] = await session.query(
    'look up how a stream ended before',
    session.db
      .selectFrom('sync.sync_run_streams')
      .select('outcome')
      .where('stream', '=', stream)
      .where('sync_run_id', '<', runId)
      .orderBy('sync_run_id', 'desc')
      .limit(1),
  )
  return row?.outcome
}
