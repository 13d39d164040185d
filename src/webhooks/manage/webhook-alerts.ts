import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { KnownWebhook, WebhookAlert } from './judge-webhooks.js'

/** Webhooks that are ours, or were when they were last in order: one that was pointed elsewhere still has its alert. */
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
 * Stores the alerts of a check, one text for each webhook, and takes away those that no longer hold. A webhook that settings name and the service never had
 * gets a row for its alert; where no webhook ever sent to our URL, the URL stands for its id. Idempotent.
 */
export async function saveWebhookAlerts(
  warehouse: Warehouse,
  alerts: readonly WebhookAlert[],
  ourUrl: string | undefined,
): Promise<void> {
  const webhooks = warehouse.names.table('webhooks')
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
    update ${webhooks}
    set alert = null
    where alert is not null and webhook_id != all($1::text[]) and webhook_id is distinct from url
),
found_after_all as (
    delete from ${webhooks}
    where webhook_id = url and webhook_id != all($1::text[])
)
insert into ${webhooks} as stored (webhook_id, url, is_active, is_ours, alert)
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
