import type { ProcessorState } from '../webhooks/process/run-processor.js'
import type { WarehouseStatus } from './read-status.js'
import { isSyncOverdue, type SyncSlots } from './sync-freshness.js'

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
  const alerts: Readonly<Record<AlertName, readonly string[]>> = {
    TrackingSyncWebhook: status.webhooks.flatMap(({ alert }) => alert?.split('\n') ?? []),
    TrackingSyncOverdue: describeOverdue(status, facts),
    TrackingSyncNotificationsDead: describeDead(status),
    TrackingSyncProcessorFailing: describeProcessor(facts),
    TrackingSyncLastRunFailed: describeLastRun(status),
  }
  return ALERTS.flatMap((name) => alerts[name])
}

function describeOverdue(
  { freshness, runs }: WarehouseStatus,
  { slots, isServing }: AlertFacts,
): string[] {
  const isStarted = isServing || runs.length > 0
  if (!isStarted || isSyncOverdue(freshness, slots) !== true) return []
  if (freshness.beganAt === null) return ['no sync has completed yet']
  return [
    `the last complete sync began ${freshness.beganAt}: ` +
      `more than two slots of SYNC_CRON (${slots.cron}) ago`,
  ]
}

function describeDead({ queues }: WarehouseStatus): string[] {
  const dead = queues.find(
    ({ queue, state }) => queue === 'webhook_notifications' && state === 'dead',
  )
  if (dead === undefined) return []
  return [
    `${dead.entries} notifications could not be applied; look at error in ` +
      'webhook_notifications, then run `tracking-sync replay --state dead`',
  ]
}

function describeProcessor({ processor }: AlertFacts): string[] {
  const error = processor?.lastError ?? null
  return error === null ? [] : [`the processor cannot work: ${error}`]
}

function describeLastRun({ runs: [last] }: WarehouseStatus): string[] {
  const [problem] = last?.problem?.split('\n') ?? []
  if (last === undefined || problem === undefined) return []
  return [`the last run (${last.command} ${last.syncRunId}): ${problem}`]
}
