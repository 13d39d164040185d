import type { Page } from '../../api/list-pages.js'
import type { TrackingService } from '../../api/endpoints.js'
import { readEnvelope, type Envelope } from '../receive/envelope.js'
import { REFERENCE_INCLUDE } from './resolve-references.js'

export interface FailedPage {
  readonly page: Page
  readonly failed: readonly Envelope[]
}

/** Pages of the notifications whose deliveries failed, with the records they are about where the service includes them. One request a page. */
export async function* listFailedNotifications(
  service: Pick<TrackingService, 'listWebhookNotifications'>,
  options: { readonly pageSize: number; readonly signal?: AbortSignal },
): AsyncGenerator<FailedPage, void, undefined> {
  const pages = service.listWebhookNotifications({
    ...options,
    deliveryStatus: 'failed',
    includes: [REFERENCE_INCLUDE],
  })
  for await (const page of pages) yield { page, failed: readFailed(page) }
}

/** The filter of the list is a wish: what says that it did not fail is passed over, and so is what stands there twice. */
function readFailed({ document }: Page): Envelope[] {
  const unique = new Map<string, Envelope>()
  for (const record of document.data) {
    const notification = readEnvelope(record)
    if (notification === undefined) continue
    const { notificationId, deliveryStatus } = notification
    if (deliveryStatus === null || deliveryStatus === 'failed') {
      unique.set(notificationId, notification)
    }
  }
  return [...unique.values()]
}
