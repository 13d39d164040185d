import { readQueueStatus, type QueueStatus } from './queue-status.js'
import { readStreamStatus, type StreamStatus } from './stream-status.js'
import type { RunOutcome } from '../warehouse/connection/tables.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { readWebhookHealth, type WebhookHealth } from './webhook-health.js'
import {
  readBudgetStatus,
  readLeaseStatus,
  type BudgetStatus,
  type LeaseStatus,
} from './writer-status.js'

export interface RunStatus {
  readonly syncRunId: number
  readonly command: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly outcome: RunOutcome
  readonly requests: number
  readonly problem: string | null
}

export interface WarehouseStatus {
  readonly streams: readonly StreamStatus[]
  /** The last runs, the latest first. */
  readonly runs: readonly RunStatus[]
  readonly quarantined: number
  /** All entries of the refetch queue; `queues` tells them apart. */
  readonly refetchQueue: number
  /** What waits, by queue and state; a queue with nothing in it is not listed. */
  readonly queues: readonly QueueStatus[]
  /** Of each account that made requests through this warehouse. */
  readonly budgets: readonly BudgetStatus[]
  /** Who may write now; null when nobody runs. */
  readonly lease: LeaseStatus | null
  readonly webhooks: readonly WebhookHealth[]
  /** Views whose rows are stored now, in order of name. */
  readonly storedViews: readonly StoredViewStatus[]
}

export interface StoredViewStatus {
  readonly name: string
  readonly rows: number
  readonly secondsSinceStored: number
  readonly tookSeconds: number
}

const RUNS_SHOWN = 5

/** How the warehouse stands. Counts every row: seconds on an account of millions. Reads only. */
export async function readStatus(warehouse: Warehouse): Promise<WarehouseStatus> {
  const queues = await readQueueStatus(warehouse)
  return {
    streams: await readStreamStatus(warehouse),
    runs: await readRuns(warehouse),
    quarantined: await countQuarantined(warehouse),
    refetchQueue: queues
      .filter(({ queue }) => queue === 'refetch_queue')
      .reduce((sum, { entries }) => sum + entries, 0),
    queues,
    budgets: await readBudgetStatus(warehouse),
    lease: await readLeaseStatus(warehouse),
    webhooks: await readWebhookHealth(warehouse),
    storedViews: await readStoredViews(warehouse),
  }
}

async function readStoredViews(warehouse: Warehouse): Promise<StoredViewStatus[]> {
  return warehouse.query<StoredViewStatus>(
    'read the ages of the stored views',
    `select
        view_name as name,
        rows,
        round(extract(epoch from now() - stored_at))::float8 as "secondsSinceStored",
        round(took_ms / 1000.0)::float8 as "tookSeconds"
    from ${warehouse.names.table('stored_views')}
    order by view_name`,
  )
}

async function readRuns(warehouse: Warehouse): Promise<RunStatus[]> {
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

async function countQuarantined(warehouse: Warehouse): Promise<number> {
  const { count } = await warehouse.sync
    .selectFrom('quarantine')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
