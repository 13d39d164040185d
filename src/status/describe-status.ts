import { countOf, formatSeconds } from '../base/phrases.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import type { WarehouseStatus } from './read-status.js'
import { isSyncOverdue, type SyncSlots } from './read-vitals.js'

/** A table with a heading. `status` prints it, `serve` shows it on its page. */
export interface StatusSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  /** Said in place of a table without rows; an empty text: the section is left out. */
  readonly empty: string
  /** A sentence below the table. */
  readonly note?: string | undefined
}

const QUEUE_WORDS = {
  refetch_queue: 'to be refetched',
  webhook_notifications: 'webhook notifications',
} as const

export function describeStatus(status: WarehouseStatus, requestLimit: number): StatusSection[] {
  const { streams, runs, queues, quarantined, budgets, lease, webhooks, storedViews } = status
  const partial = streams.find((one) => one.lastWholeBeganAt !== one.lastCompleteBeganAt)
  const whole = toSecond(partial?.lastWholeBeganAt ?? null)
  const last =
    whole === null ? 'nothing was read completely yet' : `the last complete read began at ${whole}`
  return [
    {
      title: 'Streams',
      columns: ['stream', 'rows', 'tombstoned', 'read at', 'age', 'last outcome'],
      rows: streams.map((stream) => [
        stream.stream,
        stream.rows,
        stream.tombstoned,
        toSecond(stream.lastCompleteBeganAt) ?? 'never',
        age(stream.ageSeconds),
        stream.lastOutcome,
      ]),
      empty: '',
      note: partial && `The last reads covered what can still change; ${last}.`,
    },
    {
      title: 'Last runs',
      columns: ['run', 'command', 'started', 'finished', 'outcome', 'requests', 'problem'],
      rows: runs.map((run) => [
        run.syncRunId,
        run.command,
        toSecond(run.startedAt),
        toSecond(run.finishedAt) ?? 'not finished',
        run.outcome,
        run.requests,
        run.problem?.split('\n')[0] ?? null,
      ]),
      empty: 'No run yet: start with `tracking-sync backfill`.',
    },
    {
      title: 'Queues',
      columns: ['queue', 'state', 'entries', 'oldest'],
      rows: [
        ...queues.map(({ queue, state, entries, oldestSeconds }) => [
          QUEUE_WORDS[queue],
          state,
          entries,
          age(oldestSeconds),
        ]),
        ['quarantine', 'set aside', quarantined, null],
      ],
      empty: '',
      note:
        quarantined > 0 ? '`tracking-sync quarantine list` shows what is set aside.' : undefined,
    },
    {
      title: 'Request budget',
      columns: ['account', 'requests in 60 s', 'allowed', 'service asked to pause until'],
      rows: budgets.map(({ account, requestsLastMinute, pausedUntil }) => [
        account,
        requestsLastMinute,
        requestLimit,
        toSecond(pausedUntil),
      ]),
      empty: 'No requests in the last 60 s.',
    },
    {
      title: 'Who writes',
      columns: ['run under way', 'since', 'last sign of life'],
      rows:
        lease === null
          ? []
          : [
              [
                lease.holder,
                toSecond(lease.acquiredAt),
                `${formatSeconds(lease.silentSeconds)} ago`,
              ],
            ],
      empty: 'No run is under way.',
    },
    {
      title: 'Our webhooks',
      columns: ['webhook', 'url', 'active', 'events', 'last delivery', 'last checked'],
      rows: webhooks.map((webhook) => [
        webhook.webhookId,
        webhook.url,
        webhook.isActive === null ? 'unknown' : webhook.isActive ? 'yes' : 'NO',
        webhook.events,
        toSecond(webhook.lastReceivedAt) ?? 'never',
        toSecond(webhook.checkedAt),
      ]),
      empty: 'No webhook of ours is known.',
    },
    {
      title: 'Stored views',
      columns: ['stored view', 'rows', 'age', 'took'],
      rows: storedViews.map(({ name, rows, secondsSinceStored, tookSeconds }) => [
        name,
        rows,
        age(secondsSinceStored),
        formatSeconds(tookSeconds),
      ]),
      empty: '',
    },
  ]
}

/** `2026-11-23 16:01:03Z`, so that a line of a table fits a terminal. */
function toSecond(instant: string | null): string | null {
  return instant === null ? null : instant.replace(/(?:\.\d+)?\+00$/, 'Z')
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}

/** What alerts depend on beside the status of the warehouse. */
export interface AlertFacts {
  readonly slots: SyncSlots
  /** Of this process; undefined where it processes no webhooks. */
  readonly processor?: ProcessorState | undefined
  /** In `serve` a sync should have completed; elsewhere perhaps nothing was started yet. */
  readonly isServing: boolean
}

/** Each has a metric, and a rule of the same name in config/prometheus-rules.yml. */
export const ALERTS = [
  'TrackingSyncWebhook',
  'TrackingSyncOverdue',
  'TrackingSyncNotificationsDead',
  'TrackingSyncProcessorFailing',
  'TrackingSyncLastRunFailed',
] as const

export type AlertName = (typeof ALERTS)[number]

/** What needs attention, one sentence each, in the order of ALERTS; empty when all is well. */
export function findAlerts(status: WarehouseStatus, facts: AlertFacts): string[] {
  const { webhooks, queues, runs } = status
  const dead = queues.find(
    ({ queue, state }) => queue === 'webhook_notifications' && state === 'dead',
  )
  const failure = facts.processor?.lastError ?? undefined
  const [last] = runs
  const [problem] = last?.problem?.split('\n') ?? []
  const alerts: Readonly<Record<AlertName, string | readonly string[] | undefined>> = {
    TrackingSyncWebhook: webhooks.flatMap(({ alert }) => alert?.split('\n') ?? []),
    TrackingSyncOverdue: describeOverdue(status, facts),
    TrackingSyncNotificationsDead:
      dead &&
      `${countOf(dead.entries, 'notification')} could not be applied; look at error in ` +
        'webhook_notifications, then run `tracking-sync replay --state dead`',
    TrackingSyncProcessorFailing: failure && `the processor cannot work: ${failure}`,
    TrackingSyncLastRunFailed:
      last && problem && `the last run (${last.command} ${last.syncRunId}): ${problem}`,
  }
  return ALERTS.flatMap((name) => alerts[name] ?? [])
}

function describeOverdue(
  { freshness, runs }: WarehouseStatus,
  { slots, isServing }: AlertFacts,
): string | undefined {
  const isStarted = isServing || runs.length > 0
  if (!isStarted || isSyncOverdue(freshness, slots) !== true) return undefined
  if (freshness.beganAt === null) return 'no sync has completed yet'
  return (
    `the last complete sync began ${freshness.beganAt}: ` +
    `more than two slots of SYNC_CRON (${slots.cron}) ago`
  )
}
