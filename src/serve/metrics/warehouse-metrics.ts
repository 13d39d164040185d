import type { QueueStatus, Vitals } from '../../status/read-vitals.js'
import { isSyncOverdue, type SyncSlots } from '../../status/sync-freshness.js'
import type { DescribedMetric } from './add-metrics.js'

/** Of all processes that share the warehouse. */
export interface WarehouseFacts extends Vitals {
  readonly requestLimit: number
  readonly slots: SyncSlots
}

const OPEN_STATES = ['received', 'unresolved', 'dead']

export const WAREHOUSE_METRICS: Readonly<Record<string, DescribedMetric<WarehouseFacts>>> = {
  notifications: {
    help: 'Unfinished notifications in the inbox, by state.',
    labelNames: ['state'],
    read: (facts) =>
      OPEN_STATES.map((state) => [{ state }, sum(waiting(facts, 'webhook_notifications', state))]),
  },
  oldest_unprocessed_notification_age_seconds: {
    help: 'Age of the oldest notification that waits to be applied; 0 when none does.',
    read: (facts) => [[{}, oldest(waiting(facts, 'webhook_notifications', 'received'))]],
  },
  refetch_queue: {
    help: 'Records queued to be refetched by id.',
    read: (facts) => [[{}, sum(waiting(facts, 'refetch_queue'))]],
  },
  oldest_refetch_age_seconds: {
    help: 'Age of the oldest record that is due to be refetched; 0 when none is.',
    read: (facts) => [[{}, oldest(waiting(facts, 'refetch_queue', 'due', 'being read'))]],
  },
  quarantined_records: {
    help: 'Records set aside.',
    read: ({ quarantined }) => [[{}, quarantined]],
  },
  request_budget_used: {
    help: 'Requests of all processes in the last 60 seconds.',
    read: ({ budgets }) => [
      [{}, budgets.reduce((total, one) => total + one.requestsLastMinute, 0)],
    ],
  },
  request_budget_limit: {
    help: 'Requests allowed in any 60 seconds (TRACKING_RATE_LIMIT_PER_MINUTE).',
    read: ({ requestLimit }) => [[{}, requestLimit]],
  },
  request_pause_seconds: {
    help: 'Time until the end of a pause that the service asked for; 0 when there is none.',
    read: ({ budgets }) => [[{}, Math.max(0, ...budgets.map((one) => one.pauseSeconds))]],
  },
  stream_age_seconds: {
    help: 'Time since the last complete pass over the stream began.',
    labelNames: ['stream'],
    read: ({ streams }) =>
      streams.flatMap(({ stream, ageSeconds }) =>
        ageSeconds === null ? [] : [[{ stream }, ageSeconds]],
      ),
  },
  last_complete_sync_age_seconds: {
    help: 'Time since the last complete sync or backfill began; absent when there was none.',
    read: ({ freshness: { ageSeconds } }) => (ageSeconds === null ? [] : [[{}, ageSeconds]]),
  },
  sync_overdue: {
    help:
      '1 when the last complete sync began more than two slots of SYNC_CRON ago, ' +
      'or there was none; absent where SYNC_CRON is off.',
    read: ({ freshness, slots }) => {
      const isOverdue = isSyncOverdue(freshness, slots)
      return isOverdue === undefined ? [] : [[{}, isOverdue ? 1 : 0]]
    },
  },
  last_run_duration_seconds: {
    help: 'Duration of the last run that has ended, by command and outcome.',
    labelNames: ['command', 'outcome'],
    read: ({ lastRun }) =>
      lastRun === null
        ? []
        : [[{ command: lastRun.command, outcome: lastRun.outcome }, lastRun.seconds]],
  },
  last_run_failed: {
    help: '1 when the last run that has ended had a problem; see the status.',
    read: ({ lastRun }) => (lastRun === null ? [] : [[{}, lastRun.hasProblem ? 1 : 0]]),
  },
  last_run_rows: {
    help:
      'Rows of the last run that has ended, by stream and change; ' +
      'coerced: records with a value that could not be stored as sent.',
    labelNames: ['stream', 'change'],
    read: ({ lastRun }) =>
      Object.entries(lastRun?.rows ?? {}).flatMap(([stream, changes]) =>
        Object.entries(changes).map(([change, rows]) => [{ stream, change }, rows] as const),
      ),
  },
  webhook_active: {
    help: '1 when the service says that our webhook is active, as of the last check.',
    labelNames: ['webhook_id'],
    read: ({ webhooks }) =>
      webhooks.flatMap(({ webhookId, isActive }) =>
        isActive === null ? [] : [[{ webhook_id: webhookId }, isActive ? 1 : 0] as const],
      ),
  },
  webhook_alerts: {
    help: 'Webhooks of ours that do not send us what we need, or are gone; see the status.',
    read: ({ webhooks }) => [[{}, webhooks.filter(({ alert }) => alert !== null).length]],
  },
}

function waiting(
  { queues }: Vitals,
  queue: QueueStatus['queue'],
  ...states: readonly string[]
): QueueStatus[] {
  return queues.filter(
    (one) => one.queue === queue && (states.length === 0 || states.includes(one.state)),
  )
}

function sum(queues: readonly QueueStatus[]): number {
  return queues.reduce((total, { entries }) => total + entries, 0)
}

function oldest(queues: readonly QueueStatus[]): number {
  return Math.max(0, ...queues.map(({ oldestSeconds }) => oldestSeconds ?? 0))
}
