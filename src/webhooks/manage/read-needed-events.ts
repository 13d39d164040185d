import type { TrackingService } from '../../api/endpoints.js'
import { ApiAuthError, ApiNotFoundError, ApiRequestError } from '../../base/errors.js'
import { listCatalogueEvents, neededEvents } from './needed-events.js'

/** What we need of the service's catalogue of events: one request. Undefined where the service keeps its catalogue to itself, or it is empty. */
export async function readNeededEvents({
  service,
  signal,
  events,
}: {
  readonly service: Pick<TrackingService, 'getWebhookEvents'>
  readonly signal: AbortSignal
  /** TRACKING_WEBHOOK_EVENTS. */
  readonly events: string
}): Promise<string[] | undefined> {
  try {
    const { document } = await service.getWebhookEvents({ signal })
    const catalogue = listCatalogueEvents(document)
    return catalogue.length === 0 ? undefined : neededEvents(catalogue, events)
  } catch (thrown) {
    const isForbidden = thrown instanceof ApiAuthError && thrown.context.status === 403
    const isAbsent = thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError
    if (isForbidden || isAbsent) return undefined
    throw thrown
  }
}
