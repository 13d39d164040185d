import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ServingStatus } from '../../extension.js'
import {
  isSyncOverdue,
  type QueueStatus,
  type SyncSlots,
  type Vitals,
} from '../../status/read-vitals.js'
import { describeBehind, type ReplicationSlot } from '../../status/replication-slots.js'
import type { ProcessorState } from '../../webhooks/process/run-processor.js'
import type { ReceiverCounts } from '../../webhooks/receive/outcomes.js'

/** Prefix of our own metrics; those of Node.js have their usual names. */
export const PREFIX = 'tracking_sync_'

/** One metric. Its name, without the prefix, is the name of its member. */
export interface DescribedMetric<Facts> {
  /** Default: a gauge. */
  readonly type?: 'counter'
  readonly help: string
  /** Neither `job` nor `instance`: Prometheus sets these itself, and would rename ours. */
  readonly labelNames?: readonly string[]
  readonly read: (facts: Facts) => Values
}

export type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

/** Each metric is read again from the facts whenever the registry is printed. */
export function addMetrics<Facts>(
  registry: Registry,
  metrics: Readonly<Record<string, DescribedMetric<Facts>>>,
  facts: () => Facts,
): void {
  for (const [name, { type, help, labelNames = [], read }] of Object.entries(metrics)) {
    const Metric = type === 'counter' ? Counter : Gauge
    new Metric({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        // The library gives a metric without labels a zero to begin with.
        if (labelNames.length === 0) this.remove()
        for (const [labels, value] of read(facts())) this.inc(labels, value)
      },
    })
  }
}

/** Facts that this process knows by itself. Undefined: it does not run that part. */
export type ProcessFacts = ServingStatus & { readonly isWarehouseUp: boolean }

/** The work of this process since its start; also while the database is down. */
export const PROCESS_METRICS: Readonly<Record<string, DescribedMetric<ProcessFacts>>> = {
  info: {
    help: 'Version of the program.',
    labelNames: ['version'],
    read: ({ programVersion }) => [[{ version: programVersion }, 1]],
  },
  warehouse_up: {
    help: '1 when the database answered within five seconds.',
    read: ({ isWarehouseUp }) => [[{}, isWarehouseUp ? 1 : 0]],
  },
  webhook_deliveries_total: {
    type: 'counter',
    help: 'Deliveries answered, by result.',
    labelNames: ['result'],
    read: ({ receiver }) => deliveryValues(receiver),
  },
  notifications_handled_total: {
    type: 'counter',
    help: 'Notifications this process handled, by result; failed counts attempts.',
    labelNames: ['result'],
    read: ({ processor }) => handledValues(processor),
  },
  notification_lag_seconds_total: {
    type: 'counter',
    help:
      'Time from receipt to outcome, added up over the notifications this process handled, ' +
      'except failed attempts.',
    read: ({ processor }) => [[{}, processor?.lagSeconds ?? 0]],
  },
  refetches_total: {
    type: 'counter',
    help: 'Records this process refetched by id.',
    read: ({ processor }) => [[{}, processor?.refetched ?? 0]],
  },
  processor_failing: {
    help: '1 while the processor of this process cannot work; the log says why.',
    read: ({ processor }) => [[{}, (processor?.lastError ?? null) === null ? 0 : 1]],
  },
  api_requests_total: {
    type: 'counter',
    help: 'Requests this process made to the service, every attempt counted.',
    read: ({ api }) => [[{}, api.requests]],
  },
  api_retries_total: {
    type: 'counter',
    help: 'Requests this process tried again.',
    read: ({ api }) => [[{}, api.retries]],
  },
  api_rate_limited_total: {
    type: 'counter',
    help: 'Requests the service answered 429.',
    read: ({ api }) => [[{}, api.rateLimited]],
  },
  job_failures_total: {
    type: 'counter',
    help: 'Scheduled jobs that failed or did not end complete.',
    labelNames: ['name'],
    read: ({ jobs }) => jobs.map(({ name, failures }) => [{ name }, failures]),
  },
  job_running: {
    help: '1 while a scheduled job runs here.',
    labelNames: ['name'],
    read: ({ jobs }) => jobs.map(({ name, isRunning }) => [{ name }, isRunning ? 1 : 0]),
  },
  job_last_success_timestamp_seconds: {
    help: 'End of the last scheduled job that succeeded in this process.',
    labelNames: ['name'],
    read: ({ jobs }) =>
      jobs.flatMap(({ name, lastSuccessAt }) =>
        lastSuccessAt === undefined ? [] : [[{ name }, lastSuccessAt.getTime() / 1000]],
      ),
  },
}

function deliveryValues(counts: ReceiverCounts | undefined): Values {
  const results = Object.entries(counts ?? {}).filter(([result]) => result !== 'received')
  return results.map(([result, count]) => [{ result }, count])
}

function handledValues(state: ProcessorState | undefined): Values {
  if (state === undefined) return []
  const { processed, ignored, foreign, unresolved, failed } = state
  return Object.entries({ processed, ignored, foreign, unresolved, failed }).map(
    ([result, count]) => [{ result }, count],
  )
}

export const RECEIVER_METRICS = {
  webhook_ack_seconds: {
    type: 'histogram',
    help: 'From the headers of an accepted delivery to its answer.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
} as const

/** Each receiver has its own histogram: it counts before the first request to `/metrics`. */
export function createAckSeconds(): Histogram {
  const { help, buckets } = RECEIVER_METRICS.webhook_ack_seconds
  const name = `${PREFIX}webhook_ack_seconds`
  return new Histogram({ name, help, buckets: [...buckets], registers: [] })
}

/** Facts of all processes that share the warehouse. */
export interface WarehouseFacts extends Vitals {
  readonly requestLimit: number
  readonly slots: SyncSlots
  readonly freeDiskBytes: number | undefined
}

const UNSENT_STATES = ['waiting', 'sending', 'in_doubt', 'given_up']
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
  silent_columns: {
    help: 'Columns and tables that stopped coming with the last complete pass.',
    read: ({ silences }) => [[{}, silences.length]],
  },
  alert_messages: {
    help: 'Messages about alerts that did not arrive yet or not at all, by state.',
    labelNames: ['state'],
    read: (facts) =>
      UNSENT_STATES.map((state) => [{ state }, sum(waiting(facts, 'alert_messages', state))]),
  },
  disk_free_bytes: {
    help: 'Free bytes on the disk of the embedded database; absent where another one is used.',
    read: ({ freeDiskBytes }) => (freeDiskBytes === undefined ? [] : [[{}, freeDiskBytes]]),
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
      '1 when the last complete sync began more than two slots of SYNC_CRON ago, or the first ' +
      'run had its chance and did not complete; absent where SYNC_CRON is off.',
    read: (facts) => {
      const isOverdue = isSyncOverdue(facts, facts.slots, process.uptime())
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
    read: ({ lastRun }) => (lastRun === null ? [] : [[{}, lastRun.problem === null ? 0 : 1]]),
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
  replication_slot_kept_bytes: {
    help: 'Log (WAL) that the server keeps for a replication slot.',
    labelNames: ['slot'],
    read: ({ replicationSlots }) => slotValues(replicationSlots, ({ keptBytes }) => keptBytes),
  },
  replication_slot_lag_bytes: {
    help: 'Log that the reader of a replication slot has not confirmed; none for a standby.',
    labelNames: ['slot'],
    read: ({ replicationSlots }) => slotValues(replicationSlots, ({ lagBytes }) => lagBytes),
  },
  replication_slot_safe_bytes: {
    help:
      'Log that may still be written before a replication slot is lost; absent where ' +
      'max_slot_wal_keep_size sets no limit.',
    labelNames: ['slot'],
    read: ({ replicationSlots }) => slotValues(replicationSlots, ({ safeBytes }) => safeBytes),
  },
  replication_slot_active: {
    help: '1 while somebody reads from a replication slot.',
    labelNames: ['slot'],
    read: ({ replicationSlots }) =>
      slotValues(replicationSlots, ({ isActive }) => (isActive ? 1 : 0)),
  },
  replication_slot_behind: {
    help: '1 when a replication slot is lost, soon will be, or fills the disk; see the status.',
    labelNames: ['slot'],
    read: ({ replicationSlots }) =>
      slotValues(replicationSlots, (slot) => (describeBehind(slot) === undefined ? 0 : 1)),
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

function slotValues(
  slots: readonly ReplicationSlot[],
  valueOf: (slot: ReplicationSlot) => number | null,
): Values {
  return slots.flatMap((slot) => {
    const value = valueOf(slot)
    return value === null ? [] : [[{ slot: slot.name }, value] as const]
  })
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
