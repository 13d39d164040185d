import type { TrackingService } from '../../api/endpoints.js'
import { ApiNotFoundError, ApiRequestError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Document } from '../../jsonapi/document.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import { removeRefetches, type ClaimedRefetch } from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { readEnvelope } from '../receive/envelope.js'
import { REFERENCE_INCLUDE } from '../reconcile/resolve-references.js'
import { applyNotifications } from './apply-notifications.js'
import { lockUnresolved, recordOutcomes } from './claim-notifications.js'
import { parseNotification, type ParsedNotification } from './parse-notification.js'

export interface RefetchDependencies {
  readonly service: Pick<TrackingService, 'getRecord'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly refetchDelayMs: number
  readonly sleep: Sleep
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
}

/**
 * Reads a notification whose delivery lacked what it is about, and applies it with the stamp of the
 * delivery. Where the answer holds no more, or the interface has no such read, the notification
 * stays unresolved until a complete sync. One request, or two where the include is refused.
 */
export async function refetchNotification(
  dependencies: RefetchDependencies,
  entry: ClaimedRefetch,
): Promise<void> {
  const answer = await readNotification(dependencies, entry.id)
  const { warehouse, refetchDelayMs, reachFailpoint } = dependencies
  const { names } = warehouse
  await retryWarehouse(dependencies, () =>
    warehouse.transaction('apply a refetched notification', async (session) => {
      const claimed = await lockUnresolved(session, entry.id)
      const stored = claimed === undefined ? undefined : parseNotification(claimed)
      if (stored !== undefined && (answer !== undefined || stored.document.included.length > 0)) {
        const fuller = answer === undefined ? stored : withDocument(stored, answer)
        const outcomes = await applyNotifications(
          session,
          [{ ...fuller, isNotification: true, isRefetched: true }],
          { names, refetchDelayMs, reachFailpoint },
        )
        await recordOutcomes(session, outcomes)
      }
      await removeRefetches(session, [entry])
    }),
  )
}

/** The service may include less than the delivery did. */
function withDocument(stored: ParsedNotification, document: Document): ParsedNotification {
  if (document.included.length === 0 && stored.document.included.length > 0) return stored
  const reference = readEnvelope(document.data[0])?.reference ?? stored.reference
  return { ...stored, document, reference }
}

/** Undefined when the service does not have it, or answers with another one. */
async function readNotification(
  { service, signal }: RefetchDependencies,
  id: string,
): Promise<Document | undefined> {
  const options = { signal, purpose: 'refetch' as const }
  try {
    const { document } = await service
      .getRecord('webhook_notifications', id, { ...options, includes: [REFERENCE_INCLUDE] })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof ApiRequestError)) throw thrown
        return service.getRecord('webhook_notifications', id, options)
      })
    return readEnvelope(document.data[0])?.notificationId === id ? document : undefined
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError) return undefined
    throw thrown
  }
}
