import type { WarehouseStatus } from '../warehouse/status.js'
import type { ProcessorState } from '../webhooks/run-processor.js'
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

/** What somebody should look at, a sentence each, the same for the page of `serve` and for `status`; empty when all is well. */
export function findAlerts(
  { webhooks, queues, runs }: WarehouseStatus,
  { isSyncOverdue, freshness, syncCron, processor }: AlertFacts,
): string[] {
  const alerts = webhooks.flatMap(({ alert }) => alert?.split('\n') ?? [])
  if (isSyncOverdue === true) {
    alerts.push(
      freshness.beganAt === null
        ? 'no sync has completed yet'
        : `the last complete sync began ${freshness.beganAt}: more than two slots of SYNC_CRON (${syncCron}) ago`,
    )
  }
  const dead = queues.find(
    ({ queue, state }) => queue === 'webhook_notifications' && state === 'dead',
  )
  if (dead !== undefined) {
    alerts.push(
      `${dead.entries} notifications could not be applied; look at error in webhook_notifications, then run \`tracking-sync replay --state dead\``,
    )
  }
  const lastError = processor?.lastError ?? null
  if (lastError !== null) alerts.push(`the processor cannot work: ${lastError}`)
  const [last] = runs
  const problem = last?.problem ?? null
  if (last !== undefined && problem !== null) {
    alerts.push(`the last run (${last.command} ${last.syncRunId}): ${firstLine(problem)}`)
  }
  return alerts
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
