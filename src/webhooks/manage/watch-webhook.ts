import type { TrackingService } from '../../api/endpoints.js'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { judgeWebhooks, type WebhookAlert, type WebhookJudgement } from './judge-webhooks.js'
import { noteWebhooks, refreshOwnWebhooks, type OwnWebhookSettings } from './own-webhooks.js'
import { readNeededEvents } from './read-needed-events.js'
import { loadKnownWebhooks, saveWebhookAlerts } from './webhook-alerts.js'
import { listWebhookRecords, type WebhookRecord } from './webhook-record.js'

export interface WatchSettings extends OwnWebhookSettings {
  /** TRACKING_WEBHOOK_EVENTS; see `neededEvents`. */
  readonly events: string
  /** TRACKING_WEBHOOK_REACTIVATE: switch a webhook of ours on again where the service has switched it off. */
  readonly isReactivating: boolean
}

export interface WatchDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks' | 'getWebhookEvents' | 'updateWebhook'>
  /** Absent: nothing is remembered, so that a webhook that is gone or was pointed elsewhere cannot be named. */
  readonly warehouse?: Warehouse | undefined
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings: WatchSettings
}

export interface WebhookReport {
  /** False: neither TRACKING_WEBHOOK_URL nor TRACKING_WEBHOOK_IDS is set, so there is nothing to watch. */
  readonly isConfigured: boolean
  /** Our webhooks at the service, as they are after the check. */
  readonly webhooks: readonly WebhookRecord[]
  /** Ids of ours, those included that are gone. */
  readonly ownIds: readonly string[]
  readonly alerts: readonly WebhookAlert[]
  /** What was done, and what could not be looked at. */
  readonly notes: readonly string[]
}

/**
 * Looks whether the service still sends us what we need: our webhook is there, active, sends to our URL, is signed, and subscribes to every event we need.
 * Two requests. With `isReactivating`, one that is not active is switched on again: one request more, told in the notes. The finding is stored for `status`.
 */
export async function checkWebhook(dependencies: WatchDependencies): Promise<WebhookReport> {
  const { service, warehouse, signal, settings } = dependencies
  if (settings.url === undefined && settings.ids.length === 0) {
    return { isConfigured: false, webhooks: [], ownIds: [], alerts: [], notes: [] }
  }
  // Before the list is noted: afterwards one that was pointed elsewhere is ours no more.
  const known = warehouse === undefined ? [] : await loadKnownWebhooks(warehouse)
  const listed =
    warehouse === undefined
      ? await listWebhookRecords(service, signal)
      : await refreshOwnWebhooks({ service, warehouse, settings, signal })
  const needed = await readNeededEvents({ service, signal, events: settings.events })
  const judge = (webhooks: readonly WebhookRecord[]): WebhookJudgement =>
    judgeWebhooks({ settings, listed: webhooks, known, needed })
  const first = judge(listed)
  const { reactivated, failures } = settings.isReactivating
    ? await reactivate(first.own, dependencies)
    : { reactivated: [], failures: [] }
  const judgement = judge(listed.map((webhook) => asReactivated(webhook, reactivated)))
  const ownIds = new Set([
    ...judgement.own.map(({ webhookId }) => webhookId),
    ...judgement.alerts.flatMap(({ webhookId }) => webhookId ?? []),
  ])
  if (warehouse !== undefined) {
    await noteWebhooks(warehouse, judgement.own, settings)
    await saveWebhookAlerts(warehouse, judgement.alerts, settings.url)
  }
  return {
    isConfigured: true,
    webhooks: judgement.own,
    ownIds: [...ownIds],
    alerts: judgement.alerts,
    notes: [
      ...reactivated.map((id) => `webhook ${id} was not active and was switched on again`),
      ...failures,
      ...judgement.notes,
    ],
  }
}

async function reactivate(
  own: readonly WebhookRecord[],
  { service, logger, signal }: WatchDependencies,
): Promise<{ readonly reactivated: readonly string[]; readonly failures: readonly string[] }> {
  const reactivated: string[] = []
  const failures: string[] = []
  for (const { webhookId, isActive } of own) {
    if (isActive !== false) continue
    try {
      await service.updateWebhook(webhookId, { active: true }, { signal })
      reactivated.push(webhookId)
      logger.warn('a webhook of ours was not active and was switched on again', { webhookId })
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      failures.push(`webhook ${webhookId} could not be switched on again: ${thrown.message}`)
    }
  }
  return { reactivated, failures }
}

function asReactivated(webhook: WebhookRecord, reactivated: readonly string[]): WebhookRecord {
  return reactivated.includes(webhook.webhookId) ? { ...webhook, isActive: true } : webhook
}
