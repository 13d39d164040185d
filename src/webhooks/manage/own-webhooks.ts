import { sql } from 'kysely'
import type { TrackingService } from '../../source/client/endpoints.js'
import { webhookSchema } from '../../source/jsonapi/schemas.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

/** A secret from the service. Printing an object that holds it does not show it. */
export class ToldSecret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  isAmong(secrets: readonly string[]): boolean {
    return secrets.includes(this.#text)
  }

  reveal(): string {
    return this.#text
  }

  toJSON(): undefined {
    return undefined
  }
}

/**
 * A webhook from the service's list, without the values of its headers. Null members: the service
 * does not tell. Only `active` is specified; public samples show the rest.
 */
export interface WebhookRecord {
  readonly webhookId: string
  readonly url: string | null
  readonly isActive: boolean | null
  readonly events: readonly string[] | null
  /** False if its deliveries are not signed. */
  readonly hasSecret: boolean | null
  /** The secret that signs its deliveries; also null if the service masks it. */
  readonly secret: ToldSecret | null
  readonly headerNames: readonly string[]
}

/** A reason for missing notifications, as a sentence that ends with the fix. */
export interface WebhookAlert {
  /** Null if no known webhook can be named. */
  readonly webhookId: string | null
  readonly kind:
    'missing' | 'inactive' | 'other_url' | 'events_missing' | 'unsigned' | 'other_secret'
  readonly sentence: string
}

/** Every webhook of the account, in the service's order: usually one request. */
export async function listWebhookRecords(
  service: Pick<TrackingService, 'listWebhooks'>,
  signal?: AbortSignal,
): Promise<WebhookRecord[]> {
  const webhooks: WebhookRecord[] = []
  for await (const page of service.listWebhooks({ signal })) {
    for (const record of page.document.primary) {
      const webhook = readWebhookRecord(record.tryParse() ?? record.identity)
      if (webhook !== undefined) webhooks.push(webhook)
    }
  }
  return webhooks
}

/** Undefined for a record without an id. */
export function readWebhookRecord(record: unknown): WebhookRecord | undefined {
  const { data } = webhookSchema.safeParse(record)
  if (data === undefined) return undefined
  const { url, active, events, secret, headers } = data.attributes
  return {
    webhookId: data.id,
    url,
    isActive: active,
    events,
    hasSecret: secret === undefined ? null : secret !== null,
    secret: secret && !MASKED.test(secret) ? new ToldSecret(secret) : null,
    headerNames: (headers ?? []).map(({ name }) => name),
  }
}

/** Marks that a service shows in place of a secret. */
const MASKED = /[*•·…]|\.\.\.|^x+$|filtered|redacted|hidden/i

/** Whether it sends to the address; `https://Example.com` equals `https://example.com/`. */
export function sendsTo({ url }: Pick<WebhookRecord, 'url'>, address: string): boolean {
  if (url === null || !URL.canParse(url) || !URL.canParse(address)) return url === address
  return new URL(url).href === new URL(address).href
}

/** Decides which webhooks are ours: the listed ids, or else the webhooks that send to the URL. */
export interface OwnWebhookSettings {
  /** TRACKING_WEBHOOK_URL. */
  readonly url: string | undefined
  /** TRACKING_WEBHOOK_IDS. */
  readonly ids: readonly string[]
  /** Secrets of accepted deliveries. Undefined: secrets are not compared. */
  readonly secrets?: readonly string[]
}

/**
 * Ids of the webhooks whose notifications are applied: the ids of the settings, or else our
 * webhooks in the service's list. One query.
 */
export async function loadOwnWebhooks(
  warehouse: Session,
  settings: OwnWebhookSettings,
): Promise<ReadonlySet<string>> {
  if (settings.ids.length > 0) return new Set(settings.ids)
  const rows = await warehouse.query(
    'look up our webhooks',
    warehouse.db.selectFrom('sync.webhooks').select('webhook_id').where('is_ours', '=', true),
  )
  return new Set(rows.map(({ webhook_id }) => webhook_id))
}

/** Without ids and a URL in the settings, every webhook of the account is ours. */
export function isOurs(
  webhook: Pick<WebhookRecord, 'webhookId' | 'url'>,
  { ids, url }: OwnWebhookSettings,
): boolean {
  if (ids.length > 0) return ids.includes(webhook.webhookId)
  return url === undefined || sendsTo(webhook, url)
}

/**
 * Records all current webhooks of the account, without their secrets. One that is no longer listed
 * becomes inactive and stays ours: its notifications may still be on the way. `alerts` replaces
 * those of the last check; absent, they stay. A webhook of the settings that the service never had
 * gets a row for its alert; if no webhook ever sent to our URL, the URL is its id. Idempotent.
 */
export async function recordWebhooks(
  warehouse: Session,
  listed: readonly WebhookRecord[],
  settings: OwnWebhookSettings,
  alerts?: readonly WebhookAlert[],
): Promise<void> {
  const texts = new Map<string, string>()
  for (const { webhookId, sentence } of alerts ?? []) {
    const id = webhookId ?? settings.url ?? ''
    texts.set(id, [texts.get(id), sentence].filter((text) => text !== undefined).join('\n'))
  }
  const listedIds = new Set(listed.map(({ webhookId }) => webhookId))
  const missing = [...texts.keys()].filter((id) => !listedIds.has(id))
  const rows = [
    ...listed.map(({ webhookId, url, isActive, events }) => {
      return { webhookId, url, isActive, events, isOurs: isOurs({ webhookId, url }, settings) }
    }),
    ...missing.map((webhookId) => {
      const isUrl = webhookId === settings.url
      return { webhookId, url: isUrl ? webhookId : null, isActive: false, isOurs: !isUrl }
    }),
  ].map((row) => ({ ...row, alert: texts.get(row.webhookId) }))
  const table = tableRef('sync.webhooks')
  await warehouse.query(
    'record webhooks',
    sql`with given as (
    select distinct on ("webhookId") *
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
        "webhookId" text, url text, "isActive" boolean, events text[], "isOurs" boolean, alert text
    )
    order by "webhookId"
),
gone as (
    update ${table}
    set is_active = false, alert = case when ${alerts !== undefined} then null else alert end
    where webhook_id is distinct from url and webhook_id not in (select "webhookId" from given)
        and (is_active is distinct from false or (${alerts !== undefined} and alert is not null))
),
found_after_all as (
    delete from ${table}
    where ${alerts !== undefined} and webhook_id = url and webhook_id not in (select "webhookId" from given)
)
insert into ${table} as stored (
    webhook_id, url, is_active, events, is_ours, alert, checked_at
)
select "webhookId", url, "isActive", events, "isOurs", alert, clock_timestamp()
from given
on conflict (webhook_id) do update
set
    url = coalesce(excluded.url, stored.url),
    is_active = excluded.is_active,
    events = coalesce(excluded.events, stored.events),
    is_ours = excluded.is_ours,
    alert = case when ${alerts !== undefined} then excluded.alert else stored.alert end,
    checked_at = excluded.checked_at`,
  )
}

/**
 * Ids of present and former webhooks of ours: one that was pointed elsewhere still has its alert.
 */
export async function loadKnownWebhooks(warehouse: Session): Promise<string[]> {
  const rows = await warehouse.query(
    'look for the webhooks known as ours',
    warehouse.db
      .selectFrom('sync.webhooks')
      .select('webhook_id')
      .where((row) => row.or([row('is_ours', '=', true), row('alert', 'is not', null)]))
      .where((row) => row('webhook_id', 'is distinct from', row.ref('url')))
      .orderBy('webhook_id'),
  )
  return rows.map(({ webhook_id }) => webhook_id)
}
