import type { TrackingService } from '../../api/endpoints.js'
import { ApiNotFoundError, ApiRequestError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Document } from '../../jsonapi/document.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import { removeRefetches, type ClaimedRefetch } from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { applyNotifications } from './apply-notifications.js'
import { lockUnresolved, settleNotifications } from './claim-notifications.js'
import { readNotificationRecord } from './notification-record.js'
import { parseNotification, type News } from './parse-notification.js'
import { REFERENCE_INCLUDE } from '../reconcile/resolve-references.js'

export interface RefetchDependencies {
  readonly service: Pick<TrackingService, 'getWebhookNotification'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly refetchDelayMs: number
  readonly sleep: Sleep
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
}

/**
 * Reads a notification that came without what it is about, and applies what the service tells of it
 * now, with the stamp the delivery had. Where it tells no more, or the interface has no such read,
 * the notification stays unresolved until a complete sync. One request, or two where the include is
 * refused.
 */
export async function refetchNotification(
  dependencies: RefetchDependencies,
  entry: ClaimedRefetch,
): Promise<void> {
  const told = await readNotification(dependencies, entry.id)
  const { warehouse, refetchDelayMs, reachFailpoint } = dependencies
  await retryWarehouse(dependencies, () =>
    warehouse.transaction('apply a refetched notification', async (session) => {
      const claimed = await lockUnresolved(session, warehouse.names, entry.id)
      const news = claimed === undefined ? undefined : parseNotification(claimed).news
      if (news !== undefined && (told !== undefined || news.document.included.length > 0)) {
        const fuller = told === undefined ? news : withDocument(news, told)
        const settlements = await applyNotifications(
          session,
          [{ ...fuller, isNotification: true, isRefetched: true }],
          { names: warehouse.names, refetchDelayMs, reachFailpoint },
        )
        await settleNotifications(session, warehouse.names, settlements)
      }
      await removeRefetches(session, warehouse.names, [entry])
    }),
  )
}

/** The service may include less than the delivery did. */
function withDocument(news: News, told: Document): News {
  if (told.included.length === 0 && news.document.included.length > 0) return news
  return {
    ...news,
    document: told,
    reference: readNotificationRecord(told.data[0])?.reference ?? news.reference,
  }
}

/** Undefined when the service does not have it, or tells of another one. */
async function readNotification(
  { service, signal }: RefetchDependencies,
  id: string,
): Promise<Document | undefined> {
  const options = { signal, purpose: 'refetch' as const }
  try {
    const { document } = await service
      .getWebhookNotification(id, { ...options, includes: [REFERENCE_INCLUDE] })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof ApiRequestError)) throw thrown
        return service.getWebhookNotification(id, options)
      })
    return readNotificationRecord(document.data[0])?.notificationId === id ? document : undefined
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError) return undefined
    throw thrown
  }
}
