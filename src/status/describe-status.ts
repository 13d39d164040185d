import type { OperationAlert } from './operation-alerts.js'
import { countOf, formatBytes, formatSeconds } from '../base/phrases.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import type { WarehouseStatus } from './read-status.js'
import { describeRefused, isSyncOverdue, type SyncSlots, type Vitals } from './read-vitals.js'
import { describeBehind, describeUnread, type ReplicationSlot } from './replication-slots.js'

/** A table with a heading. `status` prints it, `serve` shows it on its page. */
export interface StatusSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  /** Shown in place of a table without rows; an empty text: the section is left out. */
  readonly empty: string
  /** A sentence below the table. */
  readonly note?: string | undefined
}

/** Clocks that differ by less agree: stamps may be some ten seconds ahead, and answers travel. */
const MOST_AHEAD_SECONDS = 9
const MOST_BEHIND_SECONDS = 60

const QUEUE_WORDS = {
  refetch_queue: 'to be refetched',
  webhook_notifications: 'webhook notifications',
  alert_messages: 'messages about alerts',
} as const

/** Answers are as of now by the clock of the database, regardless of the service's clock. */
function describeClocks(aheadSeconds: number | null): string | undefined {
  const rule = "ages and answers go by the database's"
  if (aheadSeconds === null) return undefined
  if (aheadSeconds > MOST_AHEAD_SECONDS) {
    return `The service's clock is ahead, and ${rule}: what it dates later has not happened yet.`
  }
  if (aheadSeconds > -MOST_BEHIND_SECONDS) return undefined
  return `The service's clock is ${formatSeconds(-aheadSeconds)} behind, and ${rule}.`
}

export function describeStatus(status: WarehouseStatus, requestLimit: number): StatusSection[] {
  const { streams, runs, queues, quarantined, budgets, lease, webhooks, storedViews } = status
  const partial = streams.find((one) => one.lastWholeBeganAt !== one.lastCompleteBeganAt)
  const whole = toSecond(partial?.lastWholeBeganAt ?? null)
  const last =
    whole === null ? 'nothing was read completely yet' : `the last complete read began at ${whole}`
  const refused = describeRefused(streams)
  return [
    {
      title: 'Streams',
      columns: ['stream', 'rows', 'tombstoned', 'read at', 'age', 'last outcome'],
      rows: streams.map((stream) => [
        stream.stream,
        stream.rows,
        stream.tombstoned,
        toSecond(stream.lastCompleteBeganAt) ??
          (stream.stream === 'raw_events' ? 'on request' : 'never'),
        age(stream.ageSeconds),
        stream.lastOutcome,
      ]),
      empty: '',
      note:
        [
          partial && `The last reads covered what can still change; ${last}.`,
          streams.some(
            ({ stream, lastOutcome }) => stream === 'raw_events' && lastOutcome === null,
          ) && 'raw_events stays empty while TRACKING_RAW_EVENTS is off.',
          describeClocks(status.sourceAheadSeconds),
          refused && `${refused[0]?.toUpperCase() ?? ''}${refused.slice(1)}.`,
        ]
          .filter((sentence) => sentence !== undefined && sentence !== false)
          .join(' ') || undefined,
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
          state.replaceAll('_', ' '),
          entries,
          age(oldestSeconds),
        ]),
        ['quarantine', 'set aside', quarantined, null],
      ],
      empty: '',
      note: queues.some(({ queue }) => queue === 'alert_messages')
        ? '`tracking-sync alerts` shows which messages about alerts did not arrive.'
        : undefined,
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
      empty: status.isStandby ? lackOf('the request budget') : 'No requests in the last 60 s.',
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
      empty: status.isStandby ? lackOf('the stored views') : '',
    },
    describeSlots(status.replicationSlots),
  ]
}

function lackOf(what: string): string {
  return `This is a standby, which cannot read ${what}; ask the primary server.`
}

function describeSlots(slots: readonly ReplicationSlot[]): StatusSection {
  const size = (bytes: number | null): string | null => (bytes === null ? null : formatBytes(bytes))
  return {
    title: 'Replication slots',
    columns: ['replication slot', 'for', 'read from', 'behind', 'log kept', 'may grow by', 'state'],
    rows: slots.map(({ name, plugin, isActive, idleSeconds, ...slot }) => [
      name,
      plugin ?? 'a standby',
      isActive ? 'yes' : idleSeconds === null ? 'NO' : `NO, for ${formatSeconds(idleSeconds)}`,
      size(slot.lagBytes),
      size(slot.keptBytes),
      slot.mostBytes === null ? 'no limit' : size(slot.safeBytes),
      slot.walStatus,
    ]),
    empty: '',
  }
}

/** `2026-11-23 16:01:03Z`, so that a line of a table fits a terminal. */
function toSecond(instant: string | null): string | null {
  return instant === null ? null : instant.replace(/(?:\.\d+)?\+00$/, 'Z')
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}

/** Facts for alerts beside the status of the warehouse. */
export interface AlertFacts {
  readonly slots: SyncSlots
  /** State of this process's processor; undefined if it does not process webhooks. */
  readonly processor?: ProcessorState | undefined
  /** In `serve`: it begins a sync by itself. */
  readonly isServing: boolean
  /** Uptime of `serve`; by default that of this process. */
  readonly servingSeconds?: number
  /** Free space on the disk of the embedded database; undefined with another database. */
  readonly freeDiskBytes?: number | undefined
}

/** One thing that needs attention. */
export interface Alert {
  readonly name: OperationAlert
  /**
   * Its name, with the webhook or the slot if there may be several: constant while the alert is
   * open.
   */
  readonly key: string
  /** The problem and its fix, one sentence a line. */
  readonly sentence: string
}

/** With less, the next runs may fill the disk of the embedded database. */
const LEAST_FREE_BYTES = 1024 ** 3

/** Open alerts, the most urgent first; empty when all is well. */
export function findAlerts(vitals: Vitals, facts: AlertFacts): Alert[] {
  const { webhooks, queues, lastRun, quarantined } = vitals
  const dead = queues.find(
    ({ queue, state }) => queue === 'webhook_notifications' && state === 'dead',
  )
  const failure = facts.processor?.lastError ?? undefined
  const [problem] = lastRun?.problem?.split('\n') ?? []
  return [
    ...webhooks.flatMap(({ webhookId, alert }) =>
      alertOf('TrackingSyncWebhook', alert, `:${webhookId}`),
    ),
    ...vitals.replicationSlots.flatMap((slot) => [
      ...alertOf('TrackingSyncSlotBehind', describeBehind(slot), `:${slot.name}`),
      ...alertOf('TrackingSyncSlotUnread', describeUnread(slot), `:${slot.name}`),
    ]),
    ...vitals.silences.flatMap(({ table, column, now, usual }) =>
      alertOf(
        'TrackingSyncSilence',
        column === ''
          ? `the last complete pass showed ${now} of some ${usual} ${table}; ask the service`
          : `${table}.${column} stopped coming: ${now} values where ${usual} are usual; ask the service`,
        `:${table}.${column}`,
      ),
    ),
    ...alertOf('TrackingSyncOverdue', describeOverdue(vitals, facts)),
    ...alertOf('TrackingSyncDiskFull', describeDisk(facts.freeDiskBytes)),
    ...alertOf(
      'TrackingSyncNotificationsDead',
      dead &&
        `${countOf(dead.entries, 'notification')} could not be applied; look at error in ` +
          'webhook_notifications, then run `tracking-sync webhooks replay --state dead`',
    ),
    ...alertOf('TrackingSyncProcessorFailing', failure && `the processor cannot work: ${failure}`),
    ...alertOf(
      'TrackingSyncLastRunFailed',
      lastRun && problem && `the last run (${lastRun.command} ${lastRun.syncRunId}): ${problem}`,
    ),
    ...alertOf(
      'TrackingSyncQuarantine',
      quarantined > 0
        ? `${countOf(quarantined, 'record')} could not be stored and ` +
            `${quarantined === 1 ? 'is' : 'are'} set aside; ` +
            'see `tracking-sync quarantine list`'
        : undefined,
    ),
  ]
}

/** `of`: the one of several that it is about. */
function alertOf(name: OperationAlert, sentence: string | null | undefined, of = ''): Alert[] {
  return sentence ? [{ name, key: `${name}${of}`, sentence }] : []
}

/** One sentence each. */
export function sentencesOf(alerts: readonly Alert[]): string[] {
  return alerts.flatMap(({ sentence }) => sentence.split('\n'))
}

function describeDisk(freeBytes: number | undefined): string | undefined {
  if (freeBytes === undefined || freeBytes >= LEAST_FREE_BYTES) return undefined
  return `only ${formatBytes(freeBytes)} are free on the disk of the embedded database (TRACKING_HOME); make room`
}

function describeOverdue(vitals: Vitals, facts: AlertFacts): string | undefined {
  const { slots, isServing, servingSeconds = process.uptime() } = facts
  if (isSyncOverdue(vitals, slots, isServing ? servingSeconds : 0) !== true) return undefined
  const { beganAt } = vitals.freshness
  if (beganAt === null) return 'no sync has completed yet'
  return (
    `the last complete sync began ${beganAt.slice(0, 16)} UTC, ` +
    `and two more were due since (SYNC_CRON is ${slots.cron})`
  )
}
