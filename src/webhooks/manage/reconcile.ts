import type { RawPage } from '../../source/client/list-pages.js'
import type { TrackingService } from '../../source/client/endpoints.js'
import type { Logger } from '../../base/logger.js'
import { stringifyExactJson } from '../../source/jsonapi/exact-json.js'
import { membersOf } from '../../source/jsonapi/document.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { checkWebhook, type WatchSettings, type WebhookReport } from './check-webhooks.js'
import { REFERENCE_INCLUDE, readEnvelope, type Delivery } from '../receive/delivery.js'
import { storeDeliveries } from '../receive/inbox.js'

export interface ReconcileDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings: WatchSettings & { readonly pageSize: number }
  /** Most pages of failed notifications to read; 20 by default. */
  readonly mostPages?: number
}

export interface ReconcileReport {
  /** Failed notifications on the pages that were read. */
  readonly failed: number
  /** Already in the inbox: delivered after all, or recovered before. */
  readonly alreadyKnown: number
  /** Notifications of other webhooks of the account. */
  readonly foreign: number
  /** New in the inbox. */
  readonly recovered: number
  readonly pages: number
  /** The list is longer than we read; the next complete sync brings the rest. */
  readonly isTruncated: boolean
  readonly webhook: WebhookReport
}

const MOST_PAGES = 20

/**
 * Catches up with notifications that the service gave up on: lists the failed ones and puts each
 * into the inbox as if it were delivered now. Checks our webhook first, because deliveries fail if
 * it is switched off. Costs two requests and one a page; in a list with the newest first, reading
 * stops at a page with nothing new. Idempotent.
 */
export async function reconcile(dependencies: ReconcileDependencies): Promise<ReconcileReport> {
  const { service, warehouse, logger, signal, settings, mostPages = MOST_PAGES } = dependencies
  const webhook = await checkWebhook(dependencies)
  const counts = { failed: 0, alreadyKnown: 0, foreign: 0, recovered: 0, pages: 0 }
  const instants: number[] = []
  let isTruncated = false
  const pages = listFailedNotifications(service, { pageSize: settings.pageSize, signal })
  for await (const { page, failed } of pages) {
    signal.throwIfAborted()
    const own = failed.filter((notification) => !isForeign(notification, webhook))
    const { size: recovered } = await storeDeliveries(warehouse, own)
    counts.pages += 1
    counts.failed += failed.length
    counts.foreign += failed.length - own.length
    counts.alreadyKnown += own.length - recovered
    counts.recovered += recovered
    instants.push(...failed.map(({ envelope }) => Date.parse(envelope.createdAt ?? '')))
    if (own.length > 0 && recovered === 0 && isNewestFirst(instants)) break
    isTruncated = counts.pages >= mostPages && !page.isLast
    if (isTruncated) break
  }
  if (counts.recovered > 0 || isTruncated) {
    logger.warn('notifications had not been delivered; they are in the inbox now', {
      ...counts,
      isTruncated,
    })
  }
  for (const { sentence } of webhook.alerts) logger.error(sentence)
  return { ...counts, isTruncated, webhook }
}

/** A list with a single instant tells nothing about its order. */
function isNewestFirst(instants: readonly number[]): boolean {
  const isFalling = instants.every((at, place) => place === 0 || at <= (instants[place - 1] ?? NaN))
  return isFalling && (instants.at(-1) ?? NaN) < (instants[0] ?? NaN)
}

/** Without a known webhook of ours all may be ours; the processor decides. */
function isForeign({ envelope: { webhookId } }: Delivery, { ownIds }: WebhookReport): boolean {
  return ownIds.length > 0 && webhookId !== null && !ownIds.includes(webhookId)
}

/**
 * Pages of failed notifications, each as it would have been delivered, with its record if the
 * service includes it. One request a page.
 */
export async function* listFailedNotifications(
  service: Pick<TrackingService, 'listWebhookNotifications'>,
  options: { readonly pageSize: number; readonly signal?: AbortSignal },
): AsyncGenerator<{ readonly page: RawPage; readonly failed: readonly Delivery[] }> {
  const pages = service.listWebhookNotifications({
    ...options,
    deliveryStatus: 'failed',
    includes: [REFERENCE_INCLUDE],
  })
  for await (const page of pages) yield { page, failed: readFailed(page) }
}

/** Each once, and only failed ones: the service may ignore the filter. */
function readFailed(page: RawPage): Delivery[] {
  const { primary, included: raws } = page.document
  const included = raws.map((raw) => raw.tryParse())
  const deliveries = new Map<string, Delivery>()
  for (const raw of primary) {
    const record = raw.tryParse()
    const envelope = readEnvelope(record)
    if (envelope === undefined || (envelope.deliveryStatus ?? 'failed') !== 'failed') continue
    const { notificationId, reference } = envelope
    const isReference = (other: unknown): boolean =>
      membersOf(other).type === reference?.type && membersOf(other).id === reference?.id
    const body = stringifyExactJson({ data: record, included: included.filter(isReference) })
    // Included records show the present state, not that of the notification's instant.
    const { observedAt } = page
    const frame = { headers: {}, body: Buffer.from(body), deadReason: null, observedAt }
    deliveries.set(notificationId, { ...frame, envelope })
  }
  return [...deliveries.values()]
}
