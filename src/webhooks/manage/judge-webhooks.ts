import { isOurs, type OwnWebhookSettings } from './own-webhooks.js'
import { isSameUrl, type WebhookRecord } from './webhook-record.js'

/** A webhook that was ours when it was last looked at. */
export interface KnownWebhook {
  readonly webhookId: string
  readonly url: string | null
}

export type WebhookAlertKind =
  'missing' | 'inactive' | 'other_url' | 'events_missing' | 'unsigned' | 'other_secret'

/** Something that keeps notifications from us, as a sentence that ends with what to do. */
export interface WebhookAlert {
  /** Null where no webhook is known that could be named. */
  readonly webhookId: string | null
  readonly kind: WebhookAlertKind
  readonly sentence: string
}

export interface WebhookJudgement {
  readonly own: readonly WebhookRecord[]
  readonly alerts: readonly WebhookAlert[]
  /** Worth a word, and nothing is wrong. */
  readonly notes: readonly string[]
}

export interface JudgedWebhooks {
  readonly settings: OwnWebhookSettings
  /** All of the account. */
  readonly listed: readonly WebhookRecord[]
  readonly known: readonly KnownWebhook[]
  /** Undefined when the service does not tell its catalogue. */
  readonly needed: readonly string[] | undefined
}

/**
 * Compares what the service lists with what must be there for news to reach us. Pure. Without a URL
 * and ids there is nothing to judge.
 */
export function judgeWebhooks(judged: JudgedWebhooks): WebhookJudgement {
  const { settings, listed, needed } = judged
  if (settings.url === undefined && settings.ids.length === 0) {
    return { own: [], alerts: [], notes: [] }
  }
  const own = listed.filter((webhook) => isOurs(webhook, settings))
  const alerts = [
    ...(settings.ids.length > 0 ? missingIds(settings, own) : missingUrl(judged, own)),
    ...own.flatMap((webhook) => judgeOne(webhook, settings)),
    ...missingEvents(own, needed),
  ]
  return { own, alerts, notes: tellUnjudged(settings, own, needed) }
}

function missingIds({ ids }: OwnWebhookSettings, own: readonly WebhookRecord[]): WebhookAlert[] {
  const gone = ids.filter((id) => !own.some(({ webhookId }) => webhookId === id))
  return gone.map((webhookId) => ({
    webhookId,
    kind: 'missing',
    sentence: `the service has no webhook ${webhookId} (any more), so it sends us nothing for it; create one with \`tracking-sync webhooks create\` and name it in TRACKING_WEBHOOK_IDS`,
  }))
}

function missingUrl(
  { settings: { url = '' }, listed, known }: JudgedWebhooks,
  own: readonly WebhookRecord[],
): WebhookAlert[] {
  if (own.length > 0) return []
  const moved = listed.filter(({ webhookId }) => known.some((row) => row.webhookId === webhookId))
  if (moved.length > 0) return moved.map((webhook) => sendsElsewhere(webhook, url))
  const fix = 'create one with `tracking-sync webhooks create`'
  if (known.length === 0) {
    const sentence = `no webhook of the account sends to ${url}, so no notification reaches us; ${fix}`
    return [{ webhookId: null, kind: 'missing', sentence }]
  }
  return known.map(({ webhookId }) => ({
    webhookId,
    kind: 'missing',
    sentence: `webhook ${webhookId} is gone at the service and no other sends to ${url}, so no notification reaches us; ${fix}`,
  }))
}

function judgeOne(webhook: WebhookRecord, settings: OwnWebhookSettings): WebhookAlert[] {
  const { webhookId, url, isActive } = webhook
  const alerts: WebhookAlert[] = []
  if (settings.url !== undefined && url !== null && !isSameUrl(url, settings.url)) {
    alerts.push(sendsElsewhere(webhook, settings.url))
  }
  if (isActive === false) {
    const sentence = `webhook ${webhookId} is not active: the service has stopped sending after failed deliveries, or somebody switched it off; see that our receiver can be reached, then run \`tracking-sync webhooks enable ${webhookId}\``
    alerts.push({ webhookId, kind: 'inactive', sentence })
  }
  return [...alerts, ...judgeSecret(webhook, settings.secrets)]
}

/**
 * Whether deliveries of this webhook can be accepted: it has a secret, and the one the service told
 * is among ours. Nothing where the service does not say.
 */
export function judgeSecret(
  { webhookId, hasSecret, secret }: WebhookRecord,
  ours: readonly string[] | undefined,
): WebhookAlert[] {
  if (hasSecret === false) {
    const sentence = `webhook ${webhookId} has no secret, so its deliveries are not signed and are refused; run \`tracking-sync webhooks enable ${webhookId} --sign\` to give it TRACKING_WEBHOOK_SECRET`
    return [{ webhookId, kind: 'unsigned', sentence }]
  }
  if (ours === undefined || secret === null || secret.isAmong(ours)) return []
  const state = ours.length === 0 ? 'which is not set' : 'which is another one'
  const sentence = `the service signs the deliveries of webhook ${webhookId} with a secret of its own and not with TRACKING_WEBHOOK_SECRET, ${state}, so they are refused; run \`tracking-sync webhooks enable ${webhookId} --secret-file <path>\` to get the secret, then set TRACKING_WEBHOOK_SECRET_FILE=<path>`
  return [{ webhookId, kind: 'other_secret', sentence }]
}

function sendsElsewhere({ webhookId, url }: WebhookRecord, wanted: string): WebhookAlert {
  const sentence = `webhook ${webhookId} sends to ${url ?? 'an unknown address'} and not to ${wanted}; correct TRACKING_WEBHOOK_URL, or create one for it with \`tracking-sync webhooks create\``
  return { webhookId, kind: 'other_url', sentence }
}

const EVENTS_SHOWN = 5

/** Several webhooks of ours may share the events. */
function missingEvents(
  own: readonly WebhookRecord[],
  needed: readonly string[] | undefined,
): WebhookAlert[] {
  const [first] = own
  if (first === undefined || needed === undefined) return []
  if (own.some(({ events }) => events === null)) return []
  const active = own.filter(({ isActive }) => isActive !== false)
  const senders = active.length > 0 ? active : own
  const subscribed = new Set(senders.flatMap(({ events }) => events ?? []))
  const missing = needed.filter((name) => !subscribed.has(name))
  if (missing.length === 0) return []
  const { webhookId } = senders[0] ?? first
  const shown = missing.slice(0, EVENTS_SHOWN).join(', ')
  const more = missing.length > EVENTS_SHOWN ? ` and ${missing.length - EVENTS_SHOWN} more` : ''
  const sentence = `webhook ${webhookId} does not subscribe to ${missing.length} of the ${needed.length} events we need: ${shown}${more}; run \`tracking-sync webhooks enable ${webhookId} --events\`, or leave them out in TRACKING_WEBHOOK_EVENTS`
  return [{ webhookId, kind: 'events_missing', sentence }]
}

function tellUnjudged(
  settings: OwnWebhookSettings,
  own: readonly WebhookRecord[],
  needed: readonly string[] | undefined,
): string[] {
  const notes: string[] = []
  if (settings.url === undefined) {
    notes.push(
      'TRACKING_WEBHOOK_URL is not set, so a webhook that was pointed elsewhere goes unnoticed',
    )
  }
  if (needed === undefined) {
    notes.push(
      'the service does not tell its catalogue of events, so subscriptions are not compared',
    )
  }
  const silent = own.filter(({ events }) => events === null)
  if (silent.length > 0) {
    notes.push(
      `the service does not tell the events of ${silent.map(({ webhookId }) => webhookId).join(', ')}, so they are not compared`,
    )
  }
  return notes
}
