import type { TrackingService } from '../../api/endpoints.js'
import { compareKeys } from '../../warehouse/rows/sighting.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { isSameUrl, listWebhookRecords, type WebhookRecord } from './webhook-record.js'

/** Which webhooks are ours: those of the ids, else those that send to the URL. */
export interface OwnWebhookSettings {
  /** TRACKING_WEBHOOK_URL. */
  readonly url: string | undefined
  /** TRACKING_WEBHOOK_IDS. */
  readonly ids: readonly string[]
  /** Deliveries signed with one of these are accepted. Undefined: secrets are not compared. */
  readonly secrets?: readonly string[]
}

type Reader = Session & Pick<Warehouse, 'names'>

/** Ids of the webhooks whose notifications are applied. The settings decide alone where they name ids; else what the service listed. One query. */
export async function loadOwnWebhooks(
  warehouse: Reader,
  settings: OwnWebhookSettings,
): Promise<ReadonlySet<string>> {
  if (settings.ids.length > 0) return new Set(settings.ids)
  const rows = await warehouse.query<{ webhook_id: string }>(
    'look up our webhooks',
    `select webhook_id from ${warehouse.names.table('webhooks')} where is_ours`,
  )
  return new Set(rows.map(({ webhook_id }) => webhook_id))
}

/** Ours: named by the settings, else sending to their URL, else, where they name none, any webhook of the account. */
export function isOurs(
  { webhookId, url }: Pick<WebhookRecord, 'webhookId' | 'url'>,
  settings: OwnWebhookSettings,
): boolean {
  if (settings.ids.length > 0) return settings.ids.includes(webhookId)
  if (settings.url === undefined) return true
  return url !== null && isSameUrl(url, settings.url)
}

export interface RefreshOptions {
  readonly service: Pick<TrackingService, 'listWebhooks'>
  readonly warehouse: Reader
  readonly settings: OwnWebhookSettings
  readonly signal?: AbortSignal
}

/**
 * Asks the service for its webhooks, usually one request, and notes them. What is no longer listed becomes inactive and stays ours: what it sent may still
 * be on its way. Returns what was listed; throws what the list throws, and then nothing is changed. Secrets are not kept.
 */
export async function refreshOwnWebhooks(options: RefreshOptions): Promise<WebhookRecord[]> {
  const { service, warehouse, settings, signal } = options
  const listed = await listWebhookRecords(service, signal)
  await noteWebhooks(warehouse, listed, settings)
  await warehouse.query(
    'note which webhooks are gone',
    `update ${warehouse.names.table('webhooks')}
set is_active = false
where is_active is distinct from false and not (webhook_id = any($1::text[]))`,
    [listed.map(({ webhookId }) => webhookId)],
  )
  return listed
}

/** Notes webhooks as they are now, for example one that was just created: its first delivery may come before the next list. Alerts stay. Idempotent. */
export async function noteWebhooks(
  warehouse: Reader,
  webhooks: readonly WebhookRecord[],
  settings: OwnWebhookSettings,
): Promise<void> {
  const unique = new Map(webhooks.map((webhook) => [webhook.webhookId, webhook]))
  const rows = [...unique.values()].sort((one, two) => compareKeys(one.webhookId, two.webhookId))
  if (rows.length === 0) return
  await warehouse.query(
    'note webhooks',
    `insert into ${warehouse.names.table('webhooks')} as stored (
    webhook_id, url, is_active, events, is_ours, checked_at
)
select listed.webhook_id, listed.url, listed.is_active, listed.events::text[], listed.is_ours, clock_timestamp()
from unnest($1::text[], $2::text[], $3::boolean[], $4::text[], $5::boolean[])
    as listed (webhook_id, url, is_active, events, is_ours)
order by listed.webhook_id
on conflict (webhook_id) do update
set
    url = excluded.url,
    is_active = excluded.is_active,
    events = excluded.events,
    is_ours = excluded.is_ours,
    checked_at = excluded.checked_at`,
    [
      rows.map(({ webhookId }) => webhookId),
      rows.map(({ url }) => url),
      rows.map(({ isActive }) => isActive),
      rows.map(({ events }) => (events === null ? null : arrayLiteral(events))),
      rows.map((webhook) => isOurs(webhook, settings)),
    ],
  )
}

/** A PostgreSQL array as text: a list of lists of different lengths cannot be bound as one array. */
function arrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
