import type { TrackingService } from '../api/endpoints.js'
import { ApiNotFoundError, ApiRequestError } from '../errors.js'
import type { ReachFailpoint } from '../failpoint.js'
import type { Document } from '../jsonapi/document.js'
import type { Logger } from '../logger.js'
import type { Sleep } from '../retry.js'
import { retryWarehouse } from '../sync/retry-warehouse.js'
import { removeRefetches, type ClaimedRefetch } from '../warehouse/refetch-queue.js'
import { quoteIdentifier } from '../warehouse/schema-names.js'
import type { Session, Warehouse } from '../warehouse/warehouse.js'
import { applyNotifications } from './apply-notifications.js'
import { settleNotifications } from './claim-notifications.js'
import { readNotificationRecord } from './notification-record.js'
import { REFERENCE_INCLUDE } from './resolve-references.js'

export interface RereadDependencies {
  readonly service: Pick<TrackingService, 'getWebhookNotification'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly rereadDelayMs: number
  readonly sleep: Sleep
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
}

/**
 * Reads a notification that came without what it is about, and applies what the service tells of it now, with the stamp the delivery had. Where it tells no
 * more, or the interface has no such read, the notification stays unresolved until a complete sync. One request, or two where the include is refused.
 */
export async function rereadNotification(
  dependencies: RereadDependencies,
  entry: ClaimedRefetch,
): Promise<void> {
  const document = await readNotification(dependencies, entry.id)
  const { warehouse, rereadDelayMs, reachFailpoint } = dependencies
  await retryWarehouse(dependencies, () =>
    warehouse.transaction('apply a notification read again', async (session) => {
      const observedAt = await lockUnresolved(session, warehouse, entry.id)
      if (document !== undefined && observedAt !== undefined) {
        const record = readNotificationRecord(document.data[0])
        const settlements = await applyNotifications(
          session,
          [
            {
              notificationId: entry.id,
              observedAt,
              document,
              reference: record?.reference ?? null,
              isNotification: true,
              isReread: true,
            },
          ],
          { names: warehouse.names, rereadDelayMs, reachFailpoint },
        )
        await settleNotifications(session, warehouse.names, settlements)
      }
      await removeRefetches(session, warehouse.names, [entry])
    }),
  )
}

/** Undefined when the service does not have it, or tells of another one. */
async function readNotification(
  { service, signal }: RereadDependencies,
  id: string,
): Promise<Document | undefined> {
  const options = { signal, purpose: 'reread' as const }
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

/** The stamp of a notification that is still unresolved. */
async function lockUnresolved(
  session: Session,
  { names }: Warehouse,
  id: string,
): Promise<Date | undefined> {
  const [row] = await session.query<{ observed_ms: number }>(
    'lock a notification',
    `select floor(extract(epoch from observed_at) * 1000)::bigint as observed_ms
from ${quoteIdentifier(names.sync)}.webhook_notifications
where notification_id = $1 and state = 'unresolved'
for update`,
    [id],
  )
  return row === undefined ? undefined : new Date(row.observed_ms)
}
