import { sql } from 'kysely'
import { resources } from '../source/records/index.js'
import type { RunOutcome } from '../warehouse/connection/tables.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import {
  readPasses,
  readVitals,
  type QueueStatus,
  type StreamPasses,
  type Vitals,
  type WebhookStatus,
} from './read-vitals.js'
import { tableRef } from '../warehouse/connection/typed-database.js'

/** The vitals and the counts. `status --json` prints them. */
export interface WarehouseStatus extends Vitals {
  readonly streams: readonly StreamStatus[]
  /** The last five, the latest first. */
  readonly runs: readonly RunStatus[]
  /** All entries of the refetch queue. */
  readonly refetchQueue: number
  /** The run that may write now; null if none is under way. */
  readonly lease: LeaseStatus | null
  readonly webhooks: readonly SeenWebhook[]
  readonly storedViews: readonly StoredViewStatus[]
  /**
   * How far the service's clock was ahead of the database's when the last list was read completely;
   * behind it where negative. Stamps are bounded, so that it is never more than some ten seconds.
   */
  readonly sourceAheadSeconds: number | null
}

export interface StreamStatus extends StreamPasses {
  /** Live rows. */
  readonly rows: number
  readonly tombstoned: number
}

export interface RunStatus {
  readonly syncRunId: number
  readonly command: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly outcome: RunOutcome
  readonly requests: number
  readonly problem: string | null
}

export interface LeaseStatus {
  /** Command, process and host. */
  readonly holder: string
  readonly acquiredAt: string
  /** Since its last sign of life; after 60 another run takes the lease over. */
  readonly silentSeconds: number
}

export interface SeenWebhook extends WebhookStatus {
  /** When it last delivered something to us; null: never. */
  readonly lastReceivedAt: string | null
}

export interface StoredViewStatus {
  readonly name: string
  readonly rows: number
  readonly secondsSinceStored: number
  readonly tookSeconds: number
}

/** Counts every row: seconds on an account of millions. Reads only, and asks no service. */
export async function readStatus(warehouse: Warehouse): Promise<WarehouseStatus> {
  const vitals = await readVitals(warehouse)
  const received = await readLastDeliveries(warehouse)
  const queues = [...vitals.queues, ...(await countFinished(warehouse))].sort(byQueueAndState)
  return {
    ...vitals,
    streams: await readStreams(warehouse),
    runs: await readRuns(warehouse),
    queues,
    refetchQueue: queues
      .filter(({ queue }) => queue === 'refetch_queue')
      .reduce((sum, { entries }) => sum + entries, 0),
    lease: await readLease(warehouse),
    webhooks: vitals.webhooks.map((webhook) => ({
      ...webhook,
      lastReceivedAt: received.get(webhook.webhookId) ?? null,
    })),
    storedViews: vitals.isStandby ? [] : await readStoredViews(warehouse),
    sourceAheadSeconds: await readSourceAhead(warehouse),
  }
}

function byQueueAndState(one: QueueStatus, other: QueueStatus): number {
  return `${one.queue} ${one.state}` < `${other.queue} ${other.state}` ? -1 : 1
}

async function readStreams(warehouse: Warehouse): Promise<StreamStatus[]> {
  const counts = resources.map(
    ({ stream }) => sql<{ stream: string; rows: number; tombstoned: number }>`select
    ${sql.lit(stream)} as stream,
    count(*) filter (where _deleted_at is null) as rows,
    count(*) filter (where _deleted_at is not null) as tombstoned
from ${tableRef(`data.${stream}`)}`,
  )
  const counted = await warehouse.query(
    'count rows',
    sql<{
      stream: string
      rows: number
      tombstoned: number
    }>`${sql.join(counts, sql` union all `)}`,
  )
  const passes = await readPasses(warehouse, Number.MAX_SAFE_INTEGER)
  return counted.map((row) => ({
    ...NEVER_READ,
    ...passes.find(({ stream }) => stream === row.stream),
    ...row,
  }))
}

async function readSourceAhead(warehouse: Warehouse): Promise<number | null> {
  const [row] = await warehouse.query(
    'compare the clocks',
    sql<{
      seconds: number
    }>`select extract(epoch from completed_pass_started_at - completed_pass_began_at)::float8 as seconds
from ${tableRef('sync.checkpoints')}
where completed_pass_began_at is not null
order by completed_pass_began_at desc
limit 1`,
  )
  return row?.seconds ?? null
}

const NEVER_READ = {
  lastCompleteBeganAt: null,
  ageSeconds: null,
  lastWholeBeganAt: null,
  lastOutcome: null,
}

/** Notifications that are finished: applied, ignored or of other webhooks. */
function countFinished(warehouse: Warehouse): Promise<QueueStatus[]> {
  return warehouse.query(
    'count the finished notifications',
    sql<QueueStatus>`select 'webhook_notifications' as queue, state, count(*) as entries, null as "oldestSeconds"
from ${tableRef('sync.webhook_notifications')}
where state not in ('received', 'unresolved', 'dead')
group by state`,
  )
}

function readRuns(warehouse: Warehouse): Promise<RunStatus[]> {
  return warehouse.query(
    'read the last runs',
    warehouse.db
      .selectFrom('sync.sync_runs')
      .select([
        'sync_run_id as syncRunId',
        'command',
        'started_at as startedAt',
        'finished_at as finishedAt',
        'outcome',
        'requests',
        'error_message as problem',
      ])
      .orderBy('sync_run_id', 'desc')
      .limit(5),
  )
}

async function readLease(warehouse: Warehouse): Promise<LeaseStatus | null> {
  const [row] = await warehouse.query(
    'read the lease',
    sql<LeaseStatus>`select
    holder,
    acquired_at as "acquiredAt",
    greatest(0, round(extract(epoch from now() - heartbeat_at)))::float8 as "silentSeconds"
from ${tableRef('sync.lease')}
where holder is not null
order by lease_name
limit 1`,
  )
  return row ?? null
}

/**
 * Leaves out notifications that `reconcile` fetched: they are inserted and processed in the same
 * instant. Their headers would tell too, but readers may not see headers.
 */
async function readLastDeliveries(warehouse: Warehouse): Promise<Map<string, string>> {
  const rows = await warehouse.query(
    'read the last deliveries',
    sql<{ webhook: string; at: string }>`select webhook_id as webhook, max(received_at) as at
from ${tableRef('sync.webhook_notifications')}
where processed_at is distinct from received_at
group by webhook_id`,
  )
  return new Map(rows.map(({ webhook, at }) => [webhook, at]))
}

function readStoredViews(warehouse: Warehouse): Promise<StoredViewStatus[]> {
  return warehouse.query(
    'read the ages of the stored views',
    sql<StoredViewStatus>`select
    view_name as name,
    rows,
    round(extract(epoch from now() - stored_at))::float8 as "secondsSinceStored",
    round(took_ms / 1000.0)::float8 as "tookSeconds"
from ${tableRef('sync.stored_views')}
order by view_name`,
  )
}
