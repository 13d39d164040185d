import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { RunOutcome, StreamOutcome } from './tables.js'
import type { Session } from './warehouse.js'

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
 * Closes the rows of runs that were killed and could not do it themselves. To be called by the holder of the lease: nobody else can be running.
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

export interface StreamState {
  readonly stream: string
  readonly counts: StreamCounts
  readonly outcome: StreamOutcome
  readonly detail: string | null
}

/** Writes the counts of streams as they now stand, in one statement; called in the transaction of the rows they count. */
export async function saveStreamStates(
  session: Session,
  runId: number,
  states: readonly StreamState[],
): Promise<void> {
  if (states.length === 0) return
  const rows = states.map(({ stream, counts, outcome, detail }) => ({
    sync_run_id: runId,
    stream,
    ...counts,
    outcome,
    detail,
    finished_at: outcome === 'running' ? null : sql<string>`now()`,
  }))
  await session.sync
    .insertInto('sync_run_streams')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['sync_run_id', 'stream']).doUpdateSet((row) => ({
        pages: row.ref('excluded.pages'),
        requests: row.ref('excluded.requests'),
        fetched: row.ref('excluded.fetched'),
        inserted: row.ref('excluded.inserted'),
        updated: row.ref('excluded.updated'),
        unchanged: row.ref('excluded.unchanged'),
        stale: row.ref('excluded.stale'),
        duplicate: row.ref('excluded.duplicate'),
        quarantined: row.ref('excluded.quarantined'),
        tombstoned: row.ref('excluded.tombstoned'),
        outcome: row.ref('excluded.outcome'),
        detail: row.ref('excluded.detail'),
        finished_at: row.ref('excluded.finished_at'),
      })),
    )
    .execute()
}
