import { Gauge, type Registry } from 'prom-client'
import type { Measurements } from '../../status/measure.js'
import { METRIC_PREFIX } from './metric-prefix.js'

/** What is told of the warehouse: of all processes together. */
export interface WarehouseMeasurements extends Measurements {
  /** TRACKING_RATE_LIMIT_PER_MINUTE. */
  readonly requestLimit: number
  /** Null: there was none. */
  readonly lastSyncAgeSeconds: number | null
  /** Undefined: no schedule says when a sync is due. */
  readonly isSyncOverdue: boolean | undefined
}

type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]

interface Described {
  readonly help: string
  readonly labelNames?: readonly string[]
  readonly read: (measured: WarehouseMeasurements) => Values
}

const OPEN_STATES = ['received', 'unresolved', 'dead']

const DESCRIBED: Readonly<Record<string, Described>> = {
  notifications: {
    help: 'Notifications in the inbox that are not done with, by state.',
    labelNames: ['state'],
    read: ({ notifications }) =>
      OPEN_STATES.map((state) => [{ state }, notifications[state] ?? 0] as const),
  },
  oldest_unprocessed_notification_age_seconds: {
    help: 'Age of the oldest notification that waits to be applied; 0 when none does.',
    read: ({ oldestNotificationSeconds }) => [[{}, oldestNotificationSeconds]],
  },
  refetch_queue: {
    help: 'Records queued to be refetched by id.',
    read: ({ refetches }) => [[{}, refetches]],
  },
  oldest_refetch_age_seconds: {
    help: 'Age of the oldest record that is due to be refetched; 0 when none is.',
    read: ({ oldestRefetchSeconds }) => [[{}, oldestRefetchSeconds]],
  },
  quarantined_records: {
    help: 'Records set aside.',
    read: ({ quarantined }) => [[{}, quarantined]],
  },
  request_budget_used: {
    help: 'Requests of all processes in the last 60 seconds.',
    read: ({ requestsInLastMinute }) => [[{}, requestsInLastMinute]],
  },
  request_budget_limit: {
    help: 'Requests allowed in any 60 seconds (TRACKING_RATE_LIMIT_PER_MINUTE).',
    read: ({ requestLimit }) => [[{}, requestLimit]],
  },
  request_pause_seconds: {
    help: 'Time until requests may go on after a Retry-After of the service; 0 when nothing holds them up.',
    read: ({ requestPauseSeconds }) => [[{}, requestPauseSeconds]],
  },
  stream_age_seconds: {
    help: 'Time since just before the first request of the last complete pass that showed the stream.',
    labelNames: ['stream'],
    read: ({ streamAgeSeconds }) =>
      Object.entries(streamAgeSeconds).map(([stream, seconds]) => [{ stream }, seconds] as const),
  },
  last_complete_sync_age_seconds: {
    help: 'Time since the last complete sync or backfill began; absent when there was none.',
    read: ({ lastSyncAgeSeconds }) =>
      lastSyncAgeSeconds === null ? [] : [[{}, lastSyncAgeSeconds]],
  },
  sync_overdue: {
    help: '1 when the last complete sync began longer ago than twice the time between slots of SYNC_CRON, or there was none; absent where that is off.',
    read: ({ isSyncOverdue }) => (isSyncOverdue === undefined ? [] : [[{}, isSyncOverdue ? 1 : 0]]),
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
    help: 'Rows of the last run that has ended, by stream and by what became of them; coerced: records with a value that could not be stored as sent.',
    labelNames: ['stream', 'change'],
    read: ({ lastRun }) =>
      Object.entries(lastRun?.rows ?? {}).flatMap(([stream, changes]) =>
        Object.entries(changes).map(([change, rows]) => [{ stream, change }, rows] as const),
      ),
  },
  webhook_active: {
    help: '1 when the service says that it sends to this webhook of ours, as it was looked at last.',
    labelNames: ['webhook_id'],
    read: ({ webhooks }) =>
      webhooks.flatMap(({ webhookId, isActive }) =>
        isActive === null ? [] : [[{ webhook_id: webhookId }, isActive ? 1 : 0] as const],
      ),
  },
  webhook_alerts: {
    help: 'Webhooks of ours that something keeps from sending us what we need, one that is not there included; see the status.',
    read: ({ webhooks }) => [[{}, webhooks.filter(({ hasAlert }) => hasAlert).length]],
  },
}

/** Registers them; returns what takes new measurements in. */
export function addWarehouseMetrics(registry: Registry): (measured: WarehouseMeasurements) => void {
  const gauges = Object.entries(DESCRIBED).map(([name, { help, labelNames = [], read }]) => ({
    gauge: new Gauge({ name: `${METRIC_PREFIX}${name}`, help, labelNames, registers: [registry] }),
    isPlain: labelNames.length === 0,
    read,
  }))
  return (measured) => {
    for (const { gauge, isPlain, read } of gauges) {
      gauge.reset()
      // The library gives a gauge without labels a zero to begin with.
      if (isPlain) gauge.remove()
      for (const [labels, value] of read(measured)) gauge.set(labels, value)
    }
  }
}
