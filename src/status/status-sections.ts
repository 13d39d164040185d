import type { JobState } from '../base/schedule.js'
import type { WarehouseStatus } from './read-status.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import { findAlerts, type AlertFacts } from './alerts.js'
import type { StatusSection } from './status-page.js'

/** What the page tells beside the status of the warehouse. */
export interface ServingStatus extends AlertFacts {
  readonly programVersion: string
  readonly startedAt: Date
  /** `receiver`, `processor`, `scheduler`: what runs in this process. */
  readonly parts: readonly string[]
  readonly requestLimit: number
  readonly jobs: readonly JobState[]
  readonly processor: ProcessorState | undefined
}

/** Everything of the page, what needs somebody first. */
export function statusSections(status: WarehouseStatus, serving: ServingStatus): StatusSection[] {
  const alerts = findAlerts(status, serving)
  return [
    { title: 'Alerts', columns: ['what needs somebody'], rows: alerts.map((alert) => [alert]) },
    streamsOf(status),
    runsOf(status),
    queuesOf(status),
    webhooksOf(status),
    budgetOf(status, serving),
    quarantineOf(status),
    writerOf(status),
    processOf(serving),
    jobsOf(serving),
  ]
}

function streamsOf({ streams }: WarehouseStatus): StatusSection {
  return {
    title: 'Streams',
    columns: [
      'stream',
      'rows',
      'tombstoned',
      'read at',
      'age in s',
      'whole read at',
      'last outcome',
    ],
    rows: streams.map((stream) => [
      stream.stream,
      stream.rows,
      stream.tombstoned,
      stream.lastCompleteBeganAt ?? 'never',
      stream.ageSeconds,
      stream.lastWholeBeganAt ?? 'never',
      stream.lastOutcome,
    ]),
  }
}

function runsOf({ runs }: WarehouseStatus): StatusSection {
  return {
    title: 'Last runs',
    columns: ['run', 'command', 'started', 'finished', 'outcome', 'requests', 'problem'],
    rows: runs.map((run) => [
      run.syncRunId,
      run.command,
      run.startedAt,
      run.finishedAt ?? 'not finished',
      run.outcome,
      run.requests,
      run.problem,
    ]),
  }
}

function queuesOf({ queues }: WarehouseStatus): StatusSection {
  return {
    title: 'Queues',
    columns: ['queue', 'state', 'entries', 'oldest in s'],
    rows: queues.map(({ queue, state, entries, oldestSeconds }) => [
      queue,
      state,
      entries,
      oldestSeconds,
    ]),
  }
}

function webhooksOf({ webhooks }: WarehouseStatus): StatusSection {
  return {
    title: 'Webhooks of ours',
    columns: ['webhook', 'url', 'active', 'events', 'last delivery', 'last checked', 'alert'],
    rows: webhooks.map((webhook) => [
      webhook.webhookId,
      webhook.url,
      webhook.isActive === null ? 'not said' : webhook.isActive ? 'yes' : 'NO',
      webhook.events,
      webhook.lastReceivedAt ?? 'never',
      webhook.checkedAt,
      webhook.alert,
    ]),
  }
}

function budgetOf({ budgets }: WarehouseStatus, { requestLimit }: ServingStatus): StatusSection {
  return {
    title: 'Request budget',
    columns: ['account', 'requests in 60 s', 'allowed', 'none before'],
    rows: budgets.map(({ account, requestsLastMinute, pausedUntil }) => [
      account,
      requestsLastMinute,
      requestLimit,
      pausedUntil,
    ]),
  }
}

function quarantineOf({ quarantined }: WarehouseStatus): StatusSection {
  return {
    title: 'Quarantine',
    columns: ['records set aside', 'look with'],
    rows: quarantined === 0 ? [] : [[quarantined, 'tracking-sync quarantine list']],
  }
}

function writerOf({ lease }: WarehouseStatus): StatusSection {
  return {
    title: 'Who writes',
    columns: ['holder of the lease', 'since', 'last sign of life, s ago'],
    rows: lease === null ? [] : [[lease.holder, lease.acquiredAt, lease.silentSeconds]],
  }
}

function processOf(serving: ServingStatus): StatusSection {
  const { programVersion, startedAt, parts, freshness } = serving
  return {
    title: 'This process',
    columns: ['version', 'since', 'runs', 'last complete sync began'],
    rows: [
      [programVersion, startedAt.toISOString(), parts.join(', '), freshness.beganAt ?? 'never'],
    ],
  }
}

function jobsOf({ jobs }: ServingStatus): StatusSection {
  return {
    title: 'Jobs of this process',
    columns: ['job', 'runs now', 'last success', 'last failure', 'failures'],
    rows: jobs.map(({ name, isRunning, lastSuccessAt, lastFailureAt, failures }) => [
      name,
      isRunning ? 'yes' : 'no',
      lastSuccessAt?.toISOString() ?? 'none yet',
      lastFailureAt?.toISOString(),
      failures,
    ]),
  }
}
