import type { TrackingService } from '../../source/client/endpoints.js'
import { isAboutOneRecord, toError } from '../../base/errors.js'
import { showText } from '../../base/phrases.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { readNeededEvents, type EventChoice } from './needed-events.js'
import {
  isOurs,
  listWebhookRecords,
  loadKnownWebhooks,
  recordWebhooks,
  sendsTo,
  type OwnWebhookSettings,
  type WebhookAlert,
  type WebhookRecord,
} from './own-webhooks.js'

export interface WatchSettings extends OwnWebhookSettings, EventChoice {}

export interface WatchDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks' | 'getWebhookEvents'>
  /** Absent: stores nothing, and cannot name a webhook that is gone. */
  readonly warehouse?: Warehouse | undefined
  readonly signal: AbortSignal
  readonly settings: WatchSettings
}

export interface WebhookReport {
  /** False without TRACKING_WEBHOOK_URL and TRACKING_WEBHOOK_IDS: nothing to watch. */
  readonly isConfigured: boolean
  /** Our webhooks at the service after the check. */
  readonly webhooks: readonly WebhookRecord[]
  /** Ids of our webhooks, also of deleted ones. */
  readonly ownIds: readonly string[]
  readonly alerts: readonly WebhookAlert[]
  /** Comparisons that were not possible. */
  readonly notes: readonly string[]
}

/**
 * Checks that the service still sends us what we need: our webhook exists, is active, sends to our
 * URL, is signed, and subscribes to every event that we need. Two requests. Stores the alerts for
 * `status`.
 */
export async function checkWebhook(dependencies: WatchDependencies): Promise<WebhookReport> {
  const { service, warehouse, signal, settings } = dependencies
  if (settings.url === undefined && settings.ids.length === 0) {
    return { isConfigured: false, webhooks: [], ownIds: [], alerts: [], notes: [] }
  }
  const known = warehouse === undefined ? [] : await loadKnownWebhooks(warehouse)
  const listed = await listWebhookRecords(service, signal)
  const own = listed.filter((webhook) => isOurs(webhook, settings))
  let catalogue = 'the service does not publish its catalogue of events'
  const needed = await readNeededEvents({ ...settings, service, signal }).catch(
    (thrown: unknown) => {
      // A fault of the catalogue must not stop the catch-up with missed notifications.
      if (signal.aborted || !isAboutOneRecord(thrown)) throw thrown
      catalogue = toError(thrown).message
      return undefined
    },
  )
  const alerts = [
    ...(settings.ids.length > 0
      ? missingIds(settings.ids, own)
      : missingUrl(settings.url ?? '', listed, own, known)),
    ...own.flatMap((webhook) => checkOne(webhook, settings)),
    ...missingEvents(own, needed),
  ]
  if (warehouse !== undefined) await recordWebhooks(warehouse, listed, settings, alerts)
  const ownIds = [...own, ...alerts].flatMap(({ webhookId }) => webhookId ?? [])
  return {
    isConfigured: true,
    webhooks: own,
    ownIds: [...new Set(ownIds)],
    alerts,
    notes: notCompared(settings, own, needed ?? catalogue),
  }
}

const CREATE_ONE = 'create one with `tracking-sync webhooks create`'

function missingIds(ids: readonly string[], own: readonly WebhookRecord[]): WebhookAlert[] {
  const gone = ids.filter((id) => !own.some(({ webhookId }) => webhookId === id))
  return gone.map((webhookId) => {
    const sentence =
      `the service has no webhook ${webhookId} (any more), so it sends us nothing for it; ` +
      `${CREATE_ONE} and name it in TRACKING_WEBHOOK_IDS`
    return { webhookId, kind: 'missing', sentence }
  })
}

/** `known`: ids of our webhooks at the last check. */
function missingUrl(
  url: string,
  listed: readonly WebhookRecord[],
  own: readonly WebhookRecord[],
  known: readonly string[],
): WebhookAlert[] {
  if (own.length > 0) return []
  const moved = listed.filter(({ webhookId }) => known.includes(webhookId))
  if (moved.length > 0) return moved.map((webhook) => sendsElsewhere(webhook, url))
  const end = `so no notification reaches us; ${CREATE_ONE}`
  if (known.length === 0) {
    const sentence = `no webhook of the account sends to ${url}, ${end}`
    return [{ webhookId: null, kind: 'missing', sentence }]
  }
  return known.map((webhookId) => {
    const gone = `webhook ${webhookId} is gone at the service and no other sends to ${url}`
    return { webhookId, kind: 'missing', sentence: `${gone}, ${end}` }
  })
}

function checkOne(webhook: WebhookRecord, settings: OwnWebhookSettings): WebhookAlert[] {
  const { webhookId, url, isActive } = webhook
  const alerts: WebhookAlert[] = []
  if (settings.url !== undefined && url !== null && !sendsTo(webhook, settings.url)) {
    alerts.push(sendsElsewhere(webhook, settings.url))
  }
  if (isActive === false) {
    const sentence =
      `webhook ${webhookId} is not active: the service stopped sending after failed deliveries, ` +
      'or someone switched it off; check that our receiver can be reached, then run ' +
      `\`tracking-sync webhooks enable ${webhookId}\``
    alerts.push({ webhookId, kind: 'inactive', sentence })
  }
  return [...alerts, ...checkSecret(webhook, settings.secrets)]
}

/**
 * Alerts if deliveries of this webhook will be refused: it lacks a secret or has another one than
 * ours. Says nothing if the service does not tell.
 */
export function checkSecret(
  { webhookId, hasSecret, secret }: WebhookRecord,
  ours: readonly string[] | undefined,
): WebhookAlert[] {
  if (hasSecret === false) {
    const sentence =
      `webhook ${webhookId} has no secret, so its deliveries are not signed and are refused; run ` +
      `\`tracking-sync webhooks enable ${webhookId} --sign\` to give it TRACKING_WEBHOOK_SECRET`
    return [{ webhookId, kind: 'unsigned', sentence }]
  }
  if (ours === undefined || secret === null || secret.isAmong(ours)) return []
  const state = ours.length === 0 ? 'which is not set' : 'which is another one'
  const sentence =
    `the service signs the deliveries of webhook ${webhookId} with a secret of its own and not ` +
    `with TRACKING_WEBHOOK_SECRET, ${state}, so they are refused; run \`tracking-sync webhooks ` +
    `enable ${webhookId} --secret-file <path>\` to get the secret, then set ` +
    'TRACKING_WEBHOOK_SECRET_FILE=<path>'
  return [{ webhookId, kind: 'other_secret', sentence }]
}

function sendsElsewhere({ webhookId, url }: WebhookRecord, wanted: string): WebhookAlert {
  const sentence =
    `webhook ${webhookId} sends to ${showText(url ?? 'an unknown address')} and not to ${wanted}; correct ` +
    'TRACKING_WEBHOOK_URL, or create one for it with `tracking-sync webhooks create`'
  return { webhookId, kind: 'other_url', sentence }
}

const EVENTS_SHOWN = 5

/** Our webhooks may share the events among them. */
function missingEvents(
  own: readonly WebhookRecord[],
  needed: readonly string[] | undefined,
): WebhookAlert[] {
  if (needed === undefined || own.some(({ events }) => events === null)) return []
  const active = own.filter(({ isActive }) => isActive !== false)
  const senders = active.length > 0 ? active : own
  const [first] = senders
  const subscribed = new Set(senders.flatMap(({ events }) => events ?? []))
  const missing = needed.filter((name) => !subscribed.has(name))
  if (first === undefined || missing.length === 0) return []
  const { webhookId } = first
  const shown = missing.slice(0, EVENTS_SHOWN).join(', ')
  const more = missing.length > EVENTS_SHOWN ? ` and ${missing.length - EVENTS_SHOWN} more` : ''
  const sentence =
    `webhook ${webhookId} does not subscribe to ${missing.length} of the ${needed.length} events ` +
    `we need: ${shown}${more}; run \`tracking-sync webhooks enable ${webhookId} --events\`, or ` +
    'leave them out in webhooks.events of a preset file of your own (TRACKING_SERVICE)'
  return [{ webhookId, kind: 'events_missing', sentence }]
}

function notCompared(
  { url }: OwnWebhookSettings,
  own: readonly WebhookRecord[],
  needed: readonly string[] | string,
): string[] {
  const notes: string[] = []
  if (url === undefined) {
    notes.push(
      'TRACKING_WEBHOOK_URL is not set, so a webhook that was pointed elsewhere goes unnoticed',
    )
  }
  if (typeof needed === 'string') notes.push(`${needed}, so subscriptions are not compared`)
  const silent = own.filter(({ events }) => events === null).map(({ webhookId }) => webhookId)
  if (silent.length > 0) {
    const ids = silent.join(', ')
    notes.push(`the service does not say the events of ${ids}, so they are not compared`)
  }
  return notes
}
