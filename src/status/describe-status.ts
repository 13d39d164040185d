import { formatSeconds } from '../base/phrases.js'
import type { WarehouseStatus } from './read-status.js'

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

export function describeStatus(status: WarehouseStatus, requestLimit: number): StatusSection[] {
  return [
    describeStreams(status),
    describeRuns(status),
    describeQueues(status),
    describeBudgets(status, requestLimit),
    describeWriter(status),
    describeWebhooks(status),
    describeStoredViews(status),
  ]
}

function describeStreams({ streams }: WarehouseStatus): StatusSection {
  const partial = streams.find((one) => one.lastWholeBeganAt !== one.lastCompleteBeganAt)
  return {
    title: 'Streams',
    columns: ['stream', 'rows', 'tombstoned', 'read at', 'age', 'last outcome'],
    rows: streams.map((stream) => [
      stream.stream,
      stream.rows,
      stream.tombstoned,
      stream.lastCompleteBeganAt ?? 'never',
      age(stream.ageSeconds),
      stream.lastOutcome,
    ]),
    empty: '',
    note:
      partial &&
      'These reads covered what can still change. ' +
        `The last complete read was at ${partial.lastWholeBeganAt ?? 'no time'}.`,
  }
}

function describeRuns({ runs }: WarehouseStatus): StatusSection {
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
      run.problem?.split('\n')[0] ?? null,
    ]),
    empty: 'No run yet: start with `tracking-sync backfill`.',
  }
}

const QUEUE_WORDS = {
  refetch_queue: 'to be refetched',
  webhook_notifications: 'webhook notifications',
} as const

function describeQueues({ queues, quarantined }: WarehouseStatus): StatusSection {
  return {
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
    note: quarantined > 0 ? '`tracking-sync quarantine list` shows what is set aside.' : undefined,
  }
}

function describeBudgets({ budgets }: WarehouseStatus, requestLimit: number): StatusSection {
  return {
    title: 'Request budget',
    columns: ['account', 'requests in 60 s', 'allowed', 'service asked to pause until'],
    rows: budgets.map(({ account, requestsLastMinute, pausedUntil }) => [
      account,
      requestsLastMinute,
      requestLimit,
      pausedUntil,
    ]),
    empty: 'No requests in the last 60 s.',
  }
}

function describeWriter({ lease }: WarehouseStatus): StatusSection {
  return {
    title: 'Who writes',
    columns: ['run under way', 'since', 'last sign of life'],
    rows:
      lease === null
        ? []
        : [[lease.holder, lease.acquiredAt, `${formatSeconds(lease.silentSeconds)} ago`]],
    empty: 'No run is under way.',
  }
}

function describeWebhooks({ webhooks }: WarehouseStatus): StatusSection {
  return {
    title: 'Our webhooks',
    columns: ['webhook', 'url', 'active', 'events', 'last delivery', 'last checked'],
    rows: webhooks.map((webhook) => [
      webhook.webhookId,
      webhook.url,
      webhook.isActive === null ? 'unknown' : webhook.isActive ? 'yes' : 'NO',
      webhook.events,
      webhook.lastReceivedAt ?? 'never',
      webhook.checkedAt,
    ]),
    empty: 'No webhook of ours is known.',
  }
}

function describeStoredViews({ storedViews }: WarehouseStatus): StatusSection {
  return {
    title: 'Stored views',
    columns: ['stored view', 'rows', 'age', 'took'],
    rows: storedViews.map(({ name, rows, secondsSinceStored, tookSeconds }) => [
      name,
      rows,
      age(secondsSinceStored),
      formatSeconds(tookSeconds),
    ]),
    empty: '',
  }
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}
