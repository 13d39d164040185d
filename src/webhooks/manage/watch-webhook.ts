import type { TrackingService } from '../../api/endpoints.js'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { checkWebhooks, type WebhookFindings } from './check-webhooks.js'
import { readNeededEvents } from './needed-events.js'
import {
  loadKnownWebhooks,
  recordWebhooks,
  refreshOwnWebhooks,
  saveWebhookAlerts,
  type OwnWebhookSettings,
} from './own-webhooks.js'
import { listWebhookRecords, type WebhookAlert, type WebhookRecord } from './webhook-record.js'

export interface WatchSettings extends OwnWebhookSettings {
  /** TRACKING_WEBHOOK_EVENTS; see `neededEvents`. */
  readonly events: string
  /** TRACKING_WEBHOOK_REACTIVATE: switch our webhook on again where it is not active. */
  readonly isReactivating: boolean
}

export interface WatchDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks' | 'getWebhookEvents' | 'updateWebhook'>
  /** Absent: nothing is stored, and a webhook that is gone cannot be named. */
  readonly warehouse?: Warehouse | undefined
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings: WatchSettings
}

export interface WebhookReport {
  /** False: neither TRACKING_WEBHOOK_URL nor TRACKING_WEBHOOK_IDS is set: nothing to watch. */
  readonly isConfigured: boolean
  /** Our webhooks at the service, as they are after the check. */
  readonly webhooks: readonly WebhookRecord[]
  /** Ids of ours, also of those that are gone. */
  readonly ownIds: readonly string[]
  readonly alerts: readonly WebhookAlert[]
  /** What was done, and what could not be compared. */
  readonly notes: readonly string[]
}

/**
 * Checks that the service still sends us what we need: our webhook is there, active, sends to our
 * URL, is signed, and subscribes to every event we need. Two requests. With `isReactivating`, an
 * inactive one is switched on: one request more, said in the notes. The alerts are stored for
 * `status`.
 */
export async function checkWebhook(dependencies: WatchDependencies): Promise<WebhookReport> {
  const { service, warehouse, signal, settings } = dependencies
  if (settings.url === undefined && settings.ids.length === 0) {
    return { isConfigured: false, webhooks: [], ownIds: [], alerts: [], notes: [] }
  }
  // Before the list is recorded: afterwards one that was pointed elsewhere is not ours any more.
  const known = warehouse === undefined ? [] : await loadKnownWebhooks(warehouse)
  const listed =
    warehouse === undefined
      ? await listWebhookRecords(service, signal)
      : await refreshOwnWebhooks({ service, warehouse, settings, signal })
  const needed = await readNeededEvents({ service, signal, events: settings.events })
  const check = (webhooks: readonly WebhookRecord[]): WebhookFindings =>
    checkWebhooks({ settings, listed: webhooks, known, needed })
  let findings = check(listed)
  const done: string[] = []
  if (settings.isReactivating) {
    const active = await reactivate(findings.own, dependencies, done)
    findings = check(
      listed.map((webhook) => (active.has(webhook) ? { ...webhook, isActive: true } : webhook)),
    )
  }
  const { own, alerts, notes } = findings
  if (warehouse !== undefined) {
    await recordWebhooks(warehouse, own, settings)
    await saveWebhookAlerts(warehouse, alerts, settings.url)
  }
  const ownIds = [...own, ...alerts].flatMap(({ webhookId }) => webhookId ?? [])
  return {
    isConfigured: true,
    webhooks: own,
    ownIds: [...new Set(ownIds)],
    alerts,
    notes: [...done, ...notes],
  }
}

/** Returns the webhooks that were switched on. */
async function reactivate(
  own: readonly WebhookRecord[],
  { service, logger, signal }: WatchDependencies,
  done: string[],
): Promise<Set<WebhookRecord>> {
  const reactivated = new Set<WebhookRecord>()
  for (const webhook of own.filter(({ isActive }) => isActive === false)) {
    const { webhookId } = webhook
    try {
      await service.updateWebhook(webhookId, { active: true }, { signal })
      reactivated.add(webhook)
      done.push(`webhook ${webhookId} was not active and was switched on again`)
      logger.warn('a webhook of ours was not active and was switched on again', { webhookId })
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      done.push(`webhook ${webhookId} could not be switched on again: ${thrown.message}`)
    }
  }
  return reactivated
}
