import type { WarehouseStatus } from './read-status.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import type { SyncFreshness } from './sync-freshness.js'

/** What alerts need to know beside the status of the warehouse. */
export interface AlertFacts {
  readonly freshness: SyncFreshness
  /** Undefined: no schedule says when a sync is due. */
  readonly isSyncOverdue: boolean | undefined
  readonly syncCron: string
  /** Of this process; undefined where it processes no webhooks. */
  readonly processor?: ProcessorState | undefined
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

/**
 * What somebody should look at, a sentence each, the same for the page of `serve` and for `status`;
 * empty when all is well.
 */
export function findAlerts(
  { webhooks, queues, runs }: WarehouseStatus,
  { isSyncOverdue, freshness, syncCron, processor }: AlertFacts,
): string[] {
  const alerts = new Map<AlertName, string[]>(ALERTS.map((name) => [name, []]))
  const alert = (name: AlertName, text: string): void => {
    alerts.get(name)?.push(text)
  }
  for (const webhook of webhooks) {
    for (const text of webhook.alert?.split('\n') ?? []) alert('TrackingSyncWebhook', text)
  }
  if (isSyncOverdue === true) {
    alert(
      'TrackingSyncOverdue',
      freshness.beganAt === null
        ? 'no sync has completed yet'
        : `the last complete sync began ${freshness.beganAt}: more than two slots of SYNC_CRON (${syncCron}) ago`,
    )
  }
  const dead = queues.find(
    ({ queue, state }) => queue === 'webhook_notifications' && state === 'dead',
  )
  if (dead !== undefined) {
    alert(
      'TrackingSyncNotificationsDead',
      `${dead.entries} notifications could not be applied; look at error in webhook_notifications, then run \`tracking-sync replay --state dead\``,
    )
  }
  const lastError = processor?.lastError ?? null
  if (lastError !== null) {
    alert('TrackingSyncProcessorFailing', `the processor cannot work: ${lastError}`)
  }
  const [last] = runs
  const problem = last?.problem ?? null
  if (last !== undefined && problem !== null) {
    const run = `${last.command} ${last.syncRunId}`
    alert('TrackingSyncLastRunFailed', `the last run (${run}): ${firstLine(problem)}`)
  }
  return [...alerts.values()].flat()
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
