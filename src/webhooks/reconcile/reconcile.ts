import type { TrackingService } from '../../api/endpoints.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { listFailedNotifications } from './failed-notifications.js'
import { ListOrder } from './list-order.js'
import type { Envelope } from '../receive/envelope.js'
import { findKnownNotifications, recordRecovered } from './record-recovered.js'
import { ReferenceResolver } from './resolve-references.js'
import { checkWebhook, type WatchSettings, type WebhookReport } from '../manage/watch-webhook.js'

export interface ReconcileDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings: WatchSettings & { readonly pageSize: number }
  /** Pages of failed notifications read at most; 20 unless told otherwise. */
  readonly mostPages?: number
}

export interface ReconcileReport {
  /** Failed notifications the service listed, as far as the list was read. */
  readonly failed: number
  /** In the inbox already: delivered after all, or recovered before. */
  readonly alreadyKnown: number
  /** Of other webhooks of the account: not ours to recover. */
  readonly foreign: number
  /** Newly found, and their records are queued to be read again. */
  readonly recovered: number
  /** Records that were queued for them. */
  readonly queued: number
  /** Newly found, and nothing tells what to read: the next complete sync brings their news. */
  readonly unresolved: number
  readonly pages: number
  /** The list is longer than we read: some may be missed, and the next complete sync brings their news. */
  readonly isTruncated: boolean
  readonly webhook: WebhookReport
}

const MOST_PAGES = 20

/**
 * Catches up with notifications that the service gave up on: asks for those whose deliveries failed, queues what they are about to be read again by id, and
 * notes each in the inbox, so that it is done once. Checks our webhook first (`checkWebhook`), because a webhook that is switched off is why
 * deliveries fail. Costs two requests and one a page; reading stops at a page with nothing new where the list is newest first. Idempotent, also after a kill.
 */
export async function reconcile(dependencies: ReconcileDependencies): Promise<ReconcileReport> {
  const { service, warehouse, logger, signal, settings } = dependencies
  const webhook = await checkWebhook(dependencies)
  const resolver = new ReferenceResolver({ service, warehouse, signal })
  const isForeign = foreignTo(webhook)
  const order = new ListOrder()
  const counts = { failed: 0, alreadyKnown: 0, foreign: 0, recovered: 0, queued: 0, unresolved: 0 }
  let pages = 0
  let isTruncated = false
  const list = listFailedNotifications(service, { pageSize: settings.pageSize, signal })
  for await (const { page, failed } of list) {
    signal.throwIfAborted()
    pages += 1
    const own = failed.filter((notification) => !isForeign(notification))
    const known = await findKnownNotifications(
      warehouse,
      own.map(({ notificationId }) => notificationId),
    )
    const fresh = own.filter(({ notificationId }) => !known.has(notificationId))
    const resolved = await resolver.resolve(fresh, page)
    const recovered = fresh.map((notification) => ({
      ...notification,
      refetches: resolved.get(notification.notificationId) ?? [],
    }))
    await recordRecovered(warehouse, recovered)
    const unresolved = recovered.filter(({ refetches }) => refetches.length === 0).length
    counts.failed += failed.length
    counts.foreign += failed.length - own.length
    counts.alreadyKnown += own.length - fresh.length
    counts.recovered += recovered.length - unresolved
    counts.unresolved += unresolved
    counts.queued += countRecords(recovered)
    order.follow(failed.map(({ createdAt }) => createdAt))
    if (page.isLast || (fresh.length === 0 && order.isNewestFirst)) break
    isTruncated = pages >= (dependencies.mostPages ?? MOST_PAGES)
    if (isTruncated) break
  }
  const report = { ...counts, pages, isTruncated, webhook }
  tell(logger, report)
  return report
}

/** Without a webhook that we know as ours, all are taken for ours: reading a record once too often does no harm. */
function foreignTo({ ownIds }: WebhookReport): (notification: Envelope) => boolean {
  return ({ webhookId }) => ownIds.length > 0 && webhookId !== null && !ownIds.includes(webhookId)
}

function countRecords(
  recovered: readonly {
    readonly refetches: readonly { readonly type: string; readonly id: string }[]
  }[],
): number {
  return new Set(
    recovered.flatMap(({ refetches }) => refetches.map(({ type, id }) => `${type} ${id}`)),
  ).size
}

function tell(logger: Logger, { webhook, ...counts }: ReconcileReport): void {
  if (counts.recovered + counts.unresolved > 0 || counts.isTruncated) {
    logger.warn('notifications had not been delivered; their records are read again', counts)
  }
  for (const { sentence } of webhook.alerts) logger.error(sentence)
}
