import type { Warehouse } from '../warehouse/connection/warehouse.js'

/** A webhook of ours as it was looked at last. */
export interface WebhookHealth {
  readonly webhookId: string
  /** Null: not known. */
  readonly url: string | null
  readonly isActive: boolean | null
  /** How many it subscribes to; null: the service does not say. */
  readonly events: number | null
  readonly checkedAt: string
  /** When it last delivered something to us; null: never. */
  readonly lastReceivedAt: string | null
  /** What keeps its notifications from us and what to do, a sentence a line; null: nothing known. */
  readonly alert: string | null
}

/** Our webhooks, and those that were ours until they were pointed elsewhere. Reads only; asks no service. */
export async function readWebhookHealth(warehouse: Warehouse): Promise<WebhookHealth[]> {
  const rows = await warehouse.query<{
    webhook_id: string
    url: string | null
    is_active: boolean | null
    events: number | null
    checked_at: string
    last_received_at: string | null
    alert: string | null
  }>(
    'read the state of our webhooks',
    `select
    webhooks.webhook_id,
    webhooks.url,
    webhooks.is_active,
    cardinality(webhooks.events) as events,
    webhooks.checked_at,
    received.last_received_at,
    webhooks.alert
from ${warehouse.names.table('webhooks')}
left join (
    select webhook_id, max(received_at) as last_received_at
    from ${warehouse.names.table('webhook_notifications')}
    where headers is not null
    group by webhook_id
) as received on webhooks.webhook_id = received.webhook_id
where webhooks.is_ours or webhooks.alert is not null
order by webhooks.webhook_id`,
  )
  return rows.map((row) => ({
    webhookId: row.webhook_id,
    url: row.url,
    isActive: row.is_active,
    events: row.events,
    checkedAt: row.checked_at,
    lastReceivedAt: row.last_received_at,
    alert: row.alert,
  }))
}
