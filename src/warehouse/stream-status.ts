import { resources } from '../resources/index.js'
import { quoteIdentifier } from './schema-names.js'
import type { Warehouse } from './warehouse.js'

export interface StreamStatus {
  readonly stream: string
  /** Live rows. */
  readonly rows: number
  readonly tombstoned: number
  /** End of the last run in which the stream was complete; null when there was none. */
  readonly lastCompleteAt: string | null
  readonly secondsSinceComplete: number | null
  readonly lastOutcome: string | null
}

/** Live and tombstoned rows of every stream, and when it was last complete. Counts every row: seconds on an account of millions. */
export async function readStreamStatus(warehouse: Warehouse): Promise<StreamStatus[]> {
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
    secondsSinceComplete: outcomes.get(stream)?.seconds_since ?? null,
    lastOutcome: outcomes.get(stream)?.last_outcome ?? null,
  }))
}

interface OutcomeRow {
  readonly stream: string
  readonly last_complete_at: string | null
  readonly seconds_since: number | null
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
    round(extract(epoch from now() - max(sync_run_streams.finished_at) filter (
        where sync_run_streams.outcome = 'complete'
    )))::float8 as seconds_since,
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
