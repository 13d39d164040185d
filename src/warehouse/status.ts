import { resources } from '../resources/index.js'
import { quoteIdentifier } from './schema-names.js'
import type { RunOutcome } from './tables.js'
import type { Warehouse } from './warehouse.js'

export interface RunSummary {
  readonly syncRunId: number
  readonly command: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly outcome: RunOutcome
  readonly requests: number
  readonly problem: string | null
}

export interface StreamSummary {
  readonly stream: string
  /** Live rows. */
  readonly rows: number
  readonly tombstoned: number
  /** End of the last run in which the stream was complete; null when there was none. */
  readonly lastCompleteAt: string | null
  readonly lastOutcome: string | null
}

export interface WarehouseStatus {
  readonly streams: readonly StreamSummary[]
  /** The last runs, the latest first. */
  readonly runs: readonly RunSummary[]
  readonly quarantined: number
  readonly refetchQueue: number
}

const RUNS_SHOWN = 5

/** How the warehouse stands. Counts every row: seconds on an account of millions. */
export async function readStatus(warehouse: Warehouse): Promise<WarehouseStatus> {
  return {
    streams: await readStreams(warehouse),
    runs: await readRuns(warehouse),
    quarantined: await countRows(warehouse, 'quarantine'),
    refetchQueue: await countRows(warehouse, 'refetch_queue'),
  }
}

async function readStreams(warehouse: Warehouse): Promise<StreamSummary[]> {
  const data = quoteIdentifier(warehouse.names.data)
  const counts = resources.map(
    ({ stream }) => `select '${stream}' as stream,
    count(*) filter (where _deleted_at is null) as live,
    count(*) filter (where _deleted_at is not null) as tombstoned
from ${data}.${quoteIdentifier(stream)}`,
  )
  const rows = await warehouse.query<{ stream: string; live: number; tombstoned: number }>(
    'count rows',
    counts.join('\nunion all\n'),
  )
  const outcomes = await readOutcomes(warehouse)
  return rows.map(({ stream, live, tombstoned }) => ({
    stream,
    rows: live,
    tombstoned,
    lastCompleteAt: outcomes.get(stream)?.last_complete_at ?? null,
    lastOutcome: outcomes.get(stream)?.last_outcome ?? null,
  }))
}

interface OutcomeRow {
  readonly stream: string
  readonly last_complete_at: string | null
  readonly last_outcome: string | null
}

async function readOutcomes(warehouse: Warehouse): Promise<Map<string, OutcomeRow>> {
  const sync = quoteIdentifier(warehouse.names.sync)
  const rows = await warehouse.query<OutcomeRow>(
    'read the outcomes of streams',
    `select stream,
    max(sync_run_streams.finished_at) filter (
        where sync_run_streams.outcome = 'complete'
    ) as last_complete_at,
    (array_agg(sync_run_streams.outcome order by sync_run_id desc))[1] as last_outcome
from ${sync}.sync_run_streams
inner join ${sync}.sync_runs using (sync_run_id)
-- Some records of a stream, read by id, say nothing about the rest of it.
where sync_runs.command != 'quarantine retry'
    and coalesce(sync_runs.options #> '{narrowing,shipmentIds}', '[]') = '[]'
    and coalesce(sync_runs.options #> '{narrowing,containerIds}', '[]') = '[]'
group by stream`,
  )
  return new Map(rows.map((row) => [row.stream, row]))
}

async function readRuns(warehouse: Warehouse): Promise<RunSummary[]> {
  const rows = await warehouse.sync
    .selectFrom('sync_runs')
    .select(['sync_run_id', 'command', 'started_at', 'finished_at', 'outcome', 'requests'])
    .select('error_message')
    .orderBy('sync_run_id', 'desc')
    .limit(RUNS_SHOWN)
    .execute()
  return rows.map((row) => ({
    syncRunId: row.sync_run_id,
    command: row.command,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    requests: row.requests,
    problem: row.error_message,
  }))
}

async function countRows(
  warehouse: Warehouse,
  table: 'quarantine' | 'refetch_queue',
): Promise<number> {
  const { count } = await warehouse.sync
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
