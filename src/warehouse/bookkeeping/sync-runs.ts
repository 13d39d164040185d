import { hostname } from 'node:os'
import { sql } from 'kysely'
import { givenRows, type GivenColumns } from '../connection/given-rows.js'
import type { PassScope, RunOutcome, StreamOutcome } from '../connection/tables.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Counts of one stream in one run, which add up:
 * fetched = inserted + updated + unchanged + stale + duplicate + quarantined.
 */
export interface StreamCounts {
  pages: number
  requests: number
  fetched: number
  inserted: number
  updated: number
  unchanged: number
  stale: number
  duplicate: number
  quarantined: number
  tombstoned: number
  coerced: number
}

export function createStreamCounts(): StreamCounts {
  return {
    pages: 0,
    requests: 0,
    fetched: 0,
    inserted: 0,
    updated: 0,
    unchanged: 0,
    stale: 0,
    duplicate: 0,
    quarantined: 0,
    tombstoned: 0,
    coerced: 0,
  }
}

export interface RunStart {
  readonly command: string
  readonly options: Readonly<Record<string, unknown>>
  readonly programVersion: string
}

/** Opens a run and returns its number. */
export async function startRun(session: Session, start: RunStart): Promise<number> {
  const { sync_run_id } = await session.sync
    .insertInto('sync_runs')
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

/**
 * Closes the rows of runs that were killed and could not do it themselves. To be called by the
 * holder of the lease: nobody else can be running.
 */
export async function closeKilledRuns(session: Session): Promise<void> {
  await session.sync
    .updateTable('sync_runs')
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

/** Closes a run. A run without this row was killed; nothing it did counts as complete. */
export async function finishRun(session: Session, runId: number, end: RunEnd): Promise<void> {
  await session.sync
    .updateTable('sync_runs')
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
  /** Undefined: no pass of the run has. */
  readonly shownBy?: ShownBy | undefined
}

/**
 * Writes the counts of streams as they now stand, in one statement; called in the transaction of
 * the rows they count.
 */
export async function saveStreamStates(
  session: Session,
  runId: number,
  states: readonly StreamState[],
): Promise<void> {
  if (states.length === 0) return
  const columns = toColumns(states)
  const names = Object.keys(columns) as (keyof StreamRow)[]
  await session.sync
    .insertInto('sync_run_streams')
    .columns(['sync_run_id', 'finished_at', ...names])
    .expression((build) =>
      build
        .selectFrom(givenRows<StreamRow>(columns))
        .select([
          sql`${runId}::bigint`.as('sync_run_id'),
          sql`case when given.outcome != 'running' then now() end`.as('finished_at'),
          ...names.map((name) => `given.${name}` as const),
        ]),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['sync_run_id', 'stream'])
        .doUpdateSet((row) =>
          Object.fromEntries(
            ['finished_at' as const, ...names].map((name) => [name, row.ref(`excluded.${name}`)]),
          ),
        ),
    )
    .execute()
}

type StreamRow = StreamCounts &
  Record<'stream' | 'outcome', string> &
  Record<'detail' | 'pass_began_at' | 'pass_scope', string | null>

function toColumns(states: readonly StreamState[]): GivenColumns<StreamRow> {
  const count = (name: keyof StreamCounts) =>
    ['bigint', states.map(({ counts }) => counts[name])] as const
  return {
    stream: ['text', states.map(({ stream }) => stream)],
    outcome: ['text', states.map(({ outcome }) => outcome)],
    detail: ['text', states.map(({ detail }) => detail)],
    pass_began_at: ['timestamptz', states.map(({ shownBy }) => shownBy?.beganAt ?? null)],
    pass_scope: ['text', states.map(({ shownBy }) => shownBy?.scope ?? null)],
    pages: count('pages'),
    requests: count('requests'),
    fetched: count('fetched'),
    inserted: count('inserted'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    stale: count('stale'),
    duplicate: count('duplicate'),
    quarantined: count('quarantined'),
    tombstoned: count('tombstoned'),
    coerced: count('coerced'),
  }
}
