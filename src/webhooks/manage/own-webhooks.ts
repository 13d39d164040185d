import type { TrackingService } from '../../api/endpoints.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import {
  listWebhookRecords,
  sendsTo,
  type KnownWebhook,
  type WebhookAlert,
  type WebhookRecord,
} from './webhook-record.js'

/** Which webhooks are ours: those of the ids, else those that send to the URL. */
export interface OwnWebhookSettings {
  /** TRACKING_WEBHOOK_URL. */
  readonly url: string | undefined
  /** TRACKING_WEBHOOK_IDS. */
  readonly ids: readonly string[]
  /** Deliveries signed with one of these are accepted. Undefined: secrets are not compared. */
  readonly secrets?: readonly string[]
}

/**
 * Ids of the webhooks whose notifications are applied: those of the settings, else what the service
 * listed. One query.
 */
export async function loadOwnWebhooks(
  warehouse: Session,
  settings: OwnWebhookSettings,
): Promise<ReadonlySet<string>> {
  if (settings.ids.length > 0) return new Set(settings.ids)
  const rows = await warehouse.query<{ webhook_id: string }>(
    'look up our webhooks',
    `select webhook_id from ${warehouse.names.table('webhooks')} where is_ours`,
  )
  return new Set(rows.map(({ webhook_id }) => webhook_id))
}

/** With neither ids nor a URL in the settings, any webhook of the account is ours. */
export function isOurs(
  webhook: Pick<WebhookRecord, 'webhookId' | 'url'>,
  { ids, url }: OwnWebhookSettings,
): boolean {
  if (ids.length > 0) return ids.includes(webhook.webhookId)
  return url === undefined || sendsTo(webhook, url)
}

export interface RefreshOptions {
  readonly service: Pick<TrackingService, 'listWebhooks'>
  readonly warehouse: Session
  readonly settings: OwnWebhookSettings
  readonly signal?: AbortSignal
}

/**
 * Asks the service for its webhooks, usually one request, and records them. One that is no longer
 * listed becomes inactive and stays ours: what it sent may still be on its way. When the request
 * fails, nothing is changed. Secrets are not kept.
 */
export async function refreshOwnWebhooks(options: RefreshOptions): Promise<WebhookRecord[]> {
  const { service, warehouse, settings, signal } = options
  const listed = await listWebhookRecords(service, signal)
  await recordWebhooks(warehouse, listed, settings)
  await warehouse.query(
    'record which webhooks are gone',
    `update ${warehouse.names.table('webhooks')}
set is_active = false
where is_active is distinct from false and not (webhook_id = any($1::text[]))`,
    [listed.map(({ webhookId }) => webhookId)],
  )
  return listed
}

/** Records webhooks as they are now. Alerts stay. Idempotent. */
export async function recordWebhooks(
  warehouse: Session,
  webhooks: readonly WebhookRecord[],
  settings: OwnWebhookSettings,
): Promise<void> {
  const rows = webhooks.map((webhook) => ({
    webhook_id: webhook.webhookId,
    url: webhook.url,
    is_active: webhook.isActive,
    events: webhook.events,
    is_ours: isOurs(webhook, settings),
  }))
  if (rows.length === 0) return
  await warehouse.query(
    'record webhooks',
    `insert into ${warehouse.names.table('webhooks')} (
    webhook_id, url, is_active, events, is_ours, checked_at
)
select distinct on (webhook_id) webhook_id, url, is_active, events, is_ours, clock_timestamp()
from jsonb_to_recordset($1::jsonb)
    as listed (webhook_id text, url text, is_active boolean, events text[], is_ours boolean)
order by webhook_id
on conflict (webhook_id) do update
set
    url = excluded.url,
    is_active = excluded.is_active,
    events = excluded.events,
    is_ours = excluded.is_ours,
    checked_at = excluded.checked_at`,
    [JSON.stringify(rows)],
  )
}

/** Webhooks that are ours, or were: one that was pointed elsewhere still has its alert. */
export async function loadKnownWebhooks(warehouse: Warehouse): Promise<KnownWebhook[]> {
  const rows = await warehouse.query<{ webhook_id: string; url: string | null }>(
    'look for the webhooks known as ours',
    `select webhook_id, url
from ${warehouse.names.table('webhooks')}
where (is_ours or alert is not null) and webhook_id is distinct from url
order by webhook_id`,
  )
  return rows.map((row) => ({ webhookId: row.webhook_id, url: row.url }))
}

/**
 * Stores the alerts of a check, one text for each webhook, and removes those that no longer hold. A
 * webhook that settings name and the service never had gets a row for its alert; where no webhook
 * ever sent to our URL, the URL stands for its id. Idempotent.
 */
export async function saveWebhookAlerts(
  warehouse: Warehouse,
  alerts: readonly WebhookAlert[],
  ourUrl: string | undefined,
): Promise<void> {
  const table = warehouse.names.table('webhooks')
  const texts = new Map<string, string>()
  for (const { webhookId, sentence } of alerts) {
    const key = webhookId ?? ourUrl
    if (key === undefined) continue
    const before = texts.get(key)
    texts.set(key, before === undefined ? sentence : `${before}\n${sentence}`)
  }
  const ids = [...texts.keys()].sort()
  await warehouse.query(
    'store the alerts of webhooks',
    `with cleared as (
    update ${table}
    set alert = null
    where alert is not null and webhook_id != all($1::text[]) and webhook_id is distinct from url
),
found_after_all as (
    delete from ${table}
    where webhook_id = url and webhook_id != all($1::text[])
)
insert into ${table} (webhook_id, url, is_active, is_ours, alert)
select
    found.webhook_id,
    case when found.webhook_id = $3::text then $3::text end,
    false,
    found.webhook_id is distinct from $3::text,
    found.alert
from unnest($1::text[], $2::text[]) as found (webhook_id, alert)
order by found.webhook_id
on conflict (webhook_id) do update
set alert = excluded.alert`,
    [ids, ids.map((id) => texts.get(id)), ourUrl ?? null],
  )
}
