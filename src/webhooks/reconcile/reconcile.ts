import type { TrackingService } from '../../api/endpoints.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { checkWebhook, type WatchSettings, type WebhookReport } from '../manage/check-webhooks.js'
import { type Envelope, readEnvelope } from '../receive/envelope.js'
import { ReferenceResolver, REFERENCE_INCLUDE } from './resolve-references.js'
import { parsePage, type Page } from '../../api/list-pages.js'
import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { queueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import { stateAfter } from '../notification-states.js'

export interface ReconcileDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings: WatchSettings & { readonly pageSize: number }
  /** Pages of failed notifications read at most; 20 if absent. */
  readonly mostPages?: number
}

export interface ReconcileReport {
  /** Failed notifications the service listed, as far as the list was read. */
  readonly failed: number
  /** In the inbox already: delivered after all, or recovered before. */
  readonly alreadyKnown: number
  /** Of other webhooks of the account. */
  readonly foreign: number
  /** Newly found, and their records are queued to be refetched. */
  readonly recovered: number
  /** Records that were queued for them. */
  readonly queued: number
  /** Newly found, and nothing says what to refetch: the next complete sync brings it. */
  readonly unresolved: number
  readonly pages: number
  /** The list is longer than we read: the next complete sync brings what was missed. */
  readonly isTruncated: boolean
  readonly webhook: WebhookReport
}

const MOST_PAGES = 20

/**
 * Catches up with notifications that the service gave up on: lists those whose deliveries failed,
 * queues refetches of what they are about, and records each in the inbox, so that it is done once.
 * Checks our webhook first: one that is switched off is why deliveries fail. Costs two requests and
 * one a page; in a list that is newest first, reading stops at a page with nothing new. Idempotent,
 * also after a kill.
 */
export async function reconcile(dependencies: ReconcileDependencies): Promise<ReconcileReport> {
  const { service, warehouse, logger, signal, settings } = dependencies
  const webhook = await checkWebhook(dependencies)
  const resolver = new ReferenceResolver({ service, warehouse, signal })
  const order = new ListOrder()
  const counts = { failed: 0, alreadyKnown: 0, foreign: 0, recovered: 0, queued: 0, unresolved: 0 }
  let pages = 0
  let isTruncated = false
  const list = listFailedNotifications(service, { pageSize: settings.pageSize, signal })
  for await (const { page, failed } of list) {
    signal.throwIfAborted()
    pages += 1
    const own = failed.filter((notification) => !isForeign(notification, webhook))
    const ids = own.map(({ notificationId }) => notificationId)
    const known = await findKnownNotifications(warehouse, ids)
    const fresh = own.filter(({ notificationId }) => !known.has(notificationId))
    const resolved = await resolver.resolve(fresh, page)
    const recovered = fresh.map((notification) => ({
      ...notification,
      refetches: resolved.get(notification.notificationId) ?? [],
    }))
    await recordRecovered(warehouse, recovered)
    const refetches = recovered.flatMap((notification) => notification.refetches)
    const unresolved = recovered.filter((one) => one.refetches.length === 0).length
    counts.failed += failed.length
    counts.foreign += failed.length - own.length
    counts.alreadyKnown += own.length - fresh.length
    counts.recovered += recovered.length - unresolved
    counts.unresolved += unresolved
    counts.queued += new Set(refetches.map(({ type, id }) => `${type} ${id}`)).size
    order.follow(failed.map(({ createdAt }) => createdAt))
    if (page.isLast || (fresh.length === 0 && order.isNewestFirst)) break
    isTruncated = pages >= (dependencies.mostPages ?? MOST_PAGES)
    if (isTruncated) break
  }
  if (counts.recovered + counts.unresolved > 0 || isTruncated) {
    const fields = { ...counts, pages, isTruncated }
    logger.warn('notifications had not been delivered; their records are refetched', fields)
  }
  for (const { sentence } of webhook.alerts) logger.error(sentence)
  return { ...counts, pages, isTruncated, webhook }
}

/** Where no webhook is known as ours, all are: refetching once too often does no harm. */
function isForeign({ webhookId }: Envelope, { ownIds }: WebhookReport): boolean {
  return ownIds.length > 0 && webhookId !== null && !ownIds.includes(webhookId)
}

/**
 * Pages of the notifications whose deliveries failed, with the records they are about where the
 * service includes them. One request a page.
 */
export async function* listFailedNotifications(
  service: Pick<TrackingService, 'listWebhookNotifications'>,
  options: { readonly pageSize: number; readonly signal?: AbortSignal },
): AsyncGenerator<{ readonly page: Page; readonly failed: readonly Envelope[] }> {
  const pages = service.listWebhookNotifications({
    ...options,
    deliveryStatus: 'failed',
    includes: [REFERENCE_INCLUDE],
  })
  for await (const page of pages) yield { page, failed: readFailed(page) }
}

/** Each once, without those that say they did not fail: the service may ignore the filter. */
function readFailed(page: Page): Envelope[] {
  const unique = new Map<string, Envelope>()
  for (const notification of parsePage(page).data.flatMap((record) => readEnvelope(record) ?? [])) {
    const { notificationId, deliveryStatus } = notification
    if ((deliveryStatus ?? 'failed') === 'failed') unique.set(notificationId, notification)
  }
  return [...unique.values()]
}

/**
 * Finds out whether a list whose order the service does not promise is newest first: some instant
 * fell and none rose or was missing.
 */
export class ListOrder {
  #last: number | undefined
  #hasFallen = false
  #isBroken = false

  /** `createdAt` of the next records, in the order of the list. */
  follow(instants: readonly (string | null)[]): void {
    for (const text of instants) {
      const instant = text === null ? Number.NaN : Date.parse(text)
      const change = instant - (this.#last ?? instant)
      if (Number.isNaN(change) || change > 0) this.#isBroken = true
      else if (change < 0) this.#hasFallen = true
      this.#last = instant
    }
  }

  get isNewestFirst(): boolean {
    return this.#hasFallen && !this.#isBroken
  }
}

/** A notification that never reached us, and what to refetch for it. */
export interface RecoveredNotification extends Envelope {
  readonly refetches: readonly ResourceIdentifier[]
}

const RECOVERED = 'recovered: refetched after failed deliveries'
const LOST =
  'its deliveries failed and it does not say what to refetch: the next complete sync brings it'

/** Which of the ids the inbox has, in whatever state. */
async function findKnownNotifications(
  warehouse: Warehouse,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await warehouse.query<{ id: string }>(
    'look for notifications in the inbox',
    `select notification_id as id
from ${warehouse.names.table('webhook_notifications')}
where notification_id = any($1::text[])`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Records notifications in the inbox, without a body, and queues their refetches: one transaction,
 * so that none is recorded and forgotten. One that a delivery brought meanwhile stays as it is.
 * Idempotent.
 */
export async function recordRecovered(
  warehouse: Warehouse,
  notifications: readonly RecoveredNotification[],
): Promise<void> {
  if (notifications.length === 0) return
  const refetches = notifications.flatMap((notification) => notification.refetches)
  const rows = notifications.map(({ refetches: { length }, reference, ...envelope }) => ({
    notification_id: envelope.notificationId,
    event: envelope.event,
    webhook_id: envelope.webhookId,
    created_at: envelope.createdAt,
    reference_type: reference?.type,
    reference_id: reference?.id,
    state: stateAfter(length > 0 ? 'recovered' : 'lost'),
    error: length > 0 ? RECOVERED : LOST,
  }))
  await warehouse.transaction('record recovered notifications', async (session) => {
    await queueRefetches(session, refetches, 'a notification could not be delivered')
    await session.query(
      'record recovered notifications',
      `insert into ${warehouse.names.table('webhook_notifications')} (
    notification_id, event, webhook_id, created_at, observed_at, reference_type, reference_id,
    state, processed_at, error
)
select
    given.notification_id, given.event, given.webhook_id, given.created_at,
    least(coalesce(given.created_at, now()), now() + interval '10 seconds'),
    given.reference_type, given.reference_id, given.state, now(), given.error
from jsonb_to_recordset($1::jsonb) as given (
    notification_id text, event text, webhook_id text, created_at timestamptz,
    reference_type text, reference_id text, state text, error text
)
order by given.notification_id
on conflict (notification_id) do nothing`,
      [JSON.stringify(rows)],
    )
  })
}
