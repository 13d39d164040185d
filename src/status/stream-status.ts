import { resources } from '../resources/index.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

export interface StreamStatus {
  readonly stream: string
  /** Live rows. */
  readonly rows: number
  readonly tombstoned: number
  /**
   * Just before the first request of the last complete pass: the rows are at least so new. Null
   * when there was none.
   */
  readonly lastCompleteBeganAt: string | null
  readonly ageSeconds: number | null
  /** The same of the last pass over the whole list and not only over what can still change. */
  readonly lastWholeBeganAt: string | null
  readonly lastOutcome: string | null
}

/**
 * Live and tombstoned rows of every stream, and when it was last complete. Counts every row:
 * seconds on an account of millions.
 */
export async function readStreamStatus(warehouse: Warehouse): Promise<StreamStatus[]> {
  const counts = resources.map(
    ({ stream }) => `select '${stream}' as stream,
    count(*) filter (where _deleted_at is null) as live,
    count(*) filter (where _deleted_at is not null) as tombstoned
from ${warehouse.names.table(stream)}`,
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
    lastCompleteBeganAt: outcomes.get(stream)?.last_complete_began_at ?? null,
    ageSeconds: outcomes.get(stream)?.age_seconds ?? null,
    lastWholeBeganAt: outcomes.get(stream)?.last_whole_began_at ?? null,
    lastOutcome: outcomes.get(stream)?.last_outcome ?? null,
  }))
}

interface OutcomeRow {
  readonly stream: string
  readonly last_complete_began_at: string | null
  readonly last_whole_began_at: string | null
  readonly age_seconds: number | null
  readonly last_outcome: string | null
}

async function readOutcomes(warehouse: Warehouse): Promise<Map<string, OutcomeRow>> {
  const rows = await warehouse.query<OutcomeRow>(
    'read the outcomes of streams',
    `with passes as (
    select part.stream, part.sync_run_id, part.outcome, part.pass_scope,
        case when part.outcome = 'complete' then coalesce(part.pass_began_at, run.started_at) end
            as began_at
    from ${warehouse.names.table('sync_run_streams')} as part
    inner join ${warehouse.names.table('sync_runs')} as run using (sync_run_id)
    -- Some records of a stream, read by id, say nothing about the rest of it.
    where run.command != 'quarantine retry'
        and coalesce(run.options #> '{narrowing,shipmentIds}', '[]') = '[]'
        and coalesce(run.options #> '{narrowing,containerIds}', '[]') = '[]'
)

select stream,
    max(began_at) as last_complete_began_at,
    max(began_at) filter (where pass_scope is distinct from 'changing') as last_whole_began_at,
    round(extract(epoch from now() - max(began_at)))::float8 as age_seconds,
    (array_agg(outcome order by sync_run_id desc))[1] as last_outcome
from passes
group by stream`,
  )
  return new Map(rows.map((row) => [row.stream, row]))
}
