import type { TrackingService } from '../../source/client/endpoints.js'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import {
  listWebhookRecords,
  loadOwnWebhooks,
  recordWebhooks,
  type OwnWebhookSettings,
} from '../manage/own-webhooks.js'
import { releaseDeferred, type ClaimedNotification } from './claim-notifications.js'

export interface OwnershipDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: { readonly own: OwnWebhookSettings }
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

/** Least time between two requests for the service's webhooks. */
export const ASK_EVERY_MS = 60_000

/**
 * Separates our notifications from others. For an unknown webhook we ask the service for its list,
 * once a minute at most; a webhook that the list lacks is foreign. Until the service has answered,
 * such notifications wait, and waiting is not a failed attempt.
 */
export class WebhookOwnership {
  readonly #dependencies: OwnershipDependencies
  #askedAt = -Infinity
  /** The service's last list decides about notifications until then, by the database's clock. */
  #decidedUntil = -Infinity
  #newestUnknown = -Infinity

  constructor(dependencies: OwnershipDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Separates notifications by the webhooks that are known now. Samples are foreign; the webhook of
   * an unknown one was not in the service's last list. One query.
   */
  async part<Notification extends ClaimedNotification>(
    session: Session,
    notifications: readonly Notification[],
  ) {
    const { own: settings } = this.#dependencies.settings
    const ids = await loadOwnWebhooks(session, settings)
    const own: Notification[] = []
    const foreign: Notification[] = []
    const unknown: Notification[] = []
    // Some kinds of notifications name no webhook. For them the signature decides: only ours are
    // accepted.
    const isSigned = (settings.secrets ?? []).length > 0
    for (const notification of notifications) {
      const { webhookId } = notification
      const receivedAt = notification.receivedAt.getTime()
      const isDecided = webhookId === null || settings.ids.length > 0
      if (webhookId === null ? isSigned : ids.has(webhookId)) own.push(notification)
      else if (isDecided || receivedAt <= this.#decidedUntil) foreign.push(notification)
      else {
        unknown.push(notification)
        this.#newestUnknown = Math.max(this.#newestUnknown, receivedAt)
      }
    }
    return { own, foreign, unknown }
  }

  /** Whether notifications wait for an answer of the service that it may be asked for now. */
  get isDue(): boolean {
    if (this.#newestUnknown <= this.#decidedUntil) return false
    return performance.now() - this.#askedAt >= ASK_EVERY_MS
  }

  /**
   * Asks the service for its webhooks, once a minute at most, and makes notifications due that
   * waited for its answer. Errors of the service are logged, never thrown.
   */
  async ask(): Promise<void> {
    const { service, warehouse, logger, settings, signal } = this.#dependencies
    if (this.isDue) {
      const until = this.#newestUnknown
      try {
        const listed = await listWebhookRecords(service, signal)
        // An answer that the warehouse does not keep is asked for again.
        await recordWebhooks(warehouse, listed, settings.own)
      } catch (error) {
        if (!(error instanceof ConnectorError) || !error.code.startsWith('api_')) throw error
        this.#askedAt = performance.now()
        logger.warn('the service did not list its webhooks; notifications of unknown ones wait', {
          error,
        })
        return
      }
      this.#askedAt = performance.now()
      this.#decidedUntil = until
    }
    // Also if another worker has asked since they were deferred.
    if (this.#decidedUntil > -Infinity) {
      await releaseDeferred(warehouse, new Date(this.#decidedUntil))
    }
  }
}
