import type { TrackingService } from '../../api/endpoints.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { checkWebhook, type WatchSettings, type WebhookReport } from '../manage/watch-webhook.js'
import type { Envelope } from '../receive/envelope.js'
import { listFailedNotifications, ListOrder } from './failed-notifications.js'
import { findKnownNotifications, recordRecovered } from './record-recovered.js'
import { ReferenceResolver } from './resolve-references.js'

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
