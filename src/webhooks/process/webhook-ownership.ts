import type { TrackingService } from '../../api/endpoints.js'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import type { Sleep } from '../../base/retry.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { deferNotifications } from './claim-notifications.js'
import type { OwnWebhookSettings } from '../manage/own-webhooks.js'
import { loadOwnWebhooks, refreshOwnWebhooks } from '../manage/own-webhooks.js'

export interface OwnershipDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: { readonly own: OwnWebhookSettings }
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

interface Sent {
  readonly notificationId: string
  readonly receivedAt: Date
  /** Null: it says none. */
  readonly webhookId: string | null
}

export interface Parted<Notification> {
  readonly own: readonly Notification[]
  /** Of no webhook of ours, or a sample. */
  readonly foreign: readonly Notification[]
  /** Of a webhook that was not there when the service was asked last. */
  readonly unknown: readonly Notification[]
}

/** The service is asked for its webhooks no more often than this. */
const REFRESH_EVERY_MS = 60_000

/**
 * Whose notifications are whose. A webhook that is not known makes us ask the service for its list,
 * once a minute at most; what that list does not have is foreign. Until the service has answered,
 * such notifications wait, and waiting is no failed attempt.
 */
export class WebhookOwnership {
  readonly waitMs = REFRESH_EVERY_MS
  readonly #dependencies: OwnershipDependencies
  /** Ids of those that need the service's word, and when they were received. */
  readonly #waiting = new Map<string, number>()
  /**
   * On the database's clock. What was received before the service was asked can be judged by its
   * answer.
   */
  #askedAt = -Infinity
  #triedAt = -Infinity

  constructor(dependencies: OwnershipDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Parts notifications by what is known now; one query. Remembers which of them need the service's
   * word.
   */
  async part<Notification extends Sent>(
    session: Session,
    notifications: readonly Notification[],
  ): Promise<Parted<Notification>> {
    const { warehouse, settings } = this.#dependencies
    const ids = await loadOwnWebhooks({ ...session, names: warehouse.names }, settings.own)
    const own: Notification[] = []
    const foreign: Notification[] = []
    const unknown: Notification[] = []
    // Some kinds name no webhook. Then the signature tells: the receiver takes what is signed with
    // our secret.
    const isSigned = (settings.own.secrets ?? []).length > 0
    for (const notification of notifications) {
      const { webhookId, receivedAt } = notification
      if (webhookId === null ? isSigned : ids.has(webhookId)) own.push(notification)
      else if (
        webhookId === null ||
        settings.own.ids.length > 0 ||
        receivedAt.getTime() <= this.#askedAt
      ) {
        foreign.push(notification)
      } else unknown.push(notification)
    }
    for (const { notificationId, receivedAt } of unknown) {
      this.#waiting.set(notificationId, receivedAt.getTime())
    }
    return { own, foreign, unknown }
  }

  /**
   * Asks the service, where a notification waits for it and a minute has passed since; then what
   * waited is due at once. Never throws for the service's sake.
   */
  async refreshWhereNeeded(): Promise<void> {
    if (this.#waiting.size === 0) return
    const { service, warehouse, logger, settings, signal } = this.#dependencies
    const [{ now } = { now: 0 }] = await retryWarehouse(this.#dependencies, () =>
      warehouse.query<{ now: number }>(
        'read the clock',
        'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now',
      ),
    )
    if (now - this.#triedAt < REFRESH_EVERY_MS) {
      // Another worker may have asked since these were put off.
      await this.#release()
      return
    }
    this.#triedAt = now
    try {
      await refreshOwnWebhooks({ service, warehouse, settings: settings.own, signal })
      this.#askedAt = now
      await this.#release()
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || !thrown.code.startsWith('api_')) throw thrown
      const waiting = [...this.#waiting.keys()]
      this.#waiting.clear()
      logger.warn('the service does not list its webhooks; notifications of unknown ones wait', {
        waiting: waiting.length,
        error: thrown,
      })
      const why = `whether its webhook is ours could not be found out: ${thrown.message}`
      await deferNotifications(warehouse, warehouse.names, waiting, REFRESH_EVERY_MS, why)
    }
  }

  /** What the service's last answer can judge is due at once. */
  async #release(): Promise<void> {
    const { warehouse } = this.#dependencies
    const judged = [...this.#waiting].flatMap(([id, receivedAt]) =>
      receivedAt <= this.#askedAt ? [id] : [],
    )
    if (judged.length === 0) return
    await deferNotifications(warehouse, warehouse.names, judged, 0, null)
    for (const id of judged) this.#waiting.delete(id)
  }
}
