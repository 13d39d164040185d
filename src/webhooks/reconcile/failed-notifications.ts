import { parsePage, type Page } from '../../api/list-pages.js'
import type { TrackingService } from '../../api/endpoints.js'
import { readEnvelope, type Envelope } from '../receive/envelope.js'
import { REFERENCE_INCLUDE } from './resolve-references.js'

export interface FailedPage {
  readonly page: Page
  readonly failed: readonly Envelope[]
}

/**
 * Pages of the notifications whose deliveries failed, with the records they are about where the
 * service includes them. One request a page.
 */
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
