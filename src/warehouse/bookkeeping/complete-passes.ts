import { sql } from 'kysely'
import type { Session } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

/** A sync is complete when the pass over each of these lists is. */
const WALKED = ['shipments', 'containers', 'tracking_requests'] as const

/**
 * When the last complete pass over each stream began, on the source's clock: it saw every record
 * that it showed then or later, even if it wrote no row. A pass over the shipments also shows
 * included containers, and a pass that shows containers shows their transport events. Streams
 * without a complete pass are absent. Only a pass over the whole list sees every live row; with
 * `any`, other passes count as well.
 */
export async function loadConfirmedPasses(
  session: Session,
  scope: 'any' | 'whole' = 'any',
): Promise<ReadonlyMap<string, Date>> {
  const rows = await session.query(
    'look up the complete passes',
    sql<{
      stream: string
      started_ms: number
      has_containers: boolean
    }>`select stream,
    floor(extract(epoch from completed_pass_started_at) * 1000)::bigint as started_ms,
    coalesce((position #>> '{findings,areContainersIncluded}')::boolean, true) as has_containers
from ${tableRef('sync.checkpoints')}
where completed_pass_started_at is not null and (${scope} = 'any' or scope = ${scope})`,
  )
  const passes = new Map<string, Date>()
  const record = (stream: string, startedMs: number): void => {
    const known = passes.get(stream)?.getTime() ?? -Infinity
    passes.set(stream, new Date(Math.max(known, startedMs)))
  }
  for (const { stream, started_ms, has_containers } of rows) {
    record(stream, started_ms)
    if (stream === 'shipments' && has_containers) record('containers', started_ms)
  }
  const containers = passes.get('containers')
  if (containers !== undefined) record('transport_events', containers.getTime())
  return passes
}

/** When the last sync that completed every list began; undefined if there was none. */
export function completeSyncBegan(passes: ReadonlyMap<string, Date>): Date | undefined {
  const starts = WALKED.map((stream) => passes.get(stream)?.getTime())
  const isComplete = starts.every((start) => start !== undefined)
  return isComplete ? new Date(Math.min(...starts)) : undefined
}

/** The earlier passes, as far as a new pass needs them. */
export interface PassHistory {
  /** Now on the database's clock; every request of the new pass is later. */
  readonly now: string
  /** Hours since the last complete pass over the whole list began; null if there was none. */
  readonly wholeHoursAgo: number | null
  /** When the last complete pass of any scope began, on the source's clock. */
  readonly lastStartedAt: Date | null
}

/** When the complete passes over a stream began. */
export async function loadPassHistory(session: Session, stream: string): Promise<PassHistory> {
  const [row] = await session.query(
    'look up the last passes',
    sql<{
      now: string
      whole_hours_ago: number | null
      last_started_ms: number | null
    }>`select
    to_json(now()) #>> '{}' as now,
    extract(epoch from now() - max(completed_pass_began_at) filter (where scope = 'whole'))::float8
        / 3600 as whole_hours_ago,
    floor(extract(epoch from max(completed_pass_started_at)) * 1000)::bigint as last_started_ms
from ${tableRef('sync.checkpoints')}
where stream = ${stream}`,
  )
  if (row === undefined) throw new Error('a query of aggregates has one row')
  return {
    now: row.now,
    wholeHoursAgo: row.whole_hours_ago,
    lastStartedAt: row.last_started_ms === null ? null : new Date(row.last_started_ms),
  }
}
