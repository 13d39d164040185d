import type { TrackingService } from '../../api/endpoints.js'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import type { Sleep } from '../../base/retry.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { deferNotifications } from './claim-notifications.js'
import {
  loadOwnWebhooks,
  refreshOwnWebhooks,
  type OwnWebhookSettings,
} from '../manage/own-webhooks.js'

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
  /** Null: it names none. */
  readonly webhookId: string | null
}

export interface Parted<Notification> {
  readonly own: readonly Notification[]
  /** Of no webhook of ours, or a sample. */
  readonly foreign: readonly Notification[]
  /** Of a webhook that the service did not list when it was last asked. */
  readonly unknown: readonly Notification[]
}

/** The service is asked for its webhooks no more often than this. */
const REFRESH_EVERY_MS = 60_000

/**
 * Tells our notifications from others. A webhook that is not known makes us ask the service for its
 * list, once a minute at most; what that list lacks is foreign. Until the service has answered,
 * such notifications wait, and waiting is not a failed attempt.
 */
export class WebhookOwnership {
  readonly waitMs = REFRESH_EVERY_MS
  readonly #dependencies: OwnershipDependencies
  /** When the notifications that wait for the service's list were received, by id. */
  readonly #waiting = new Map<string, number>()
  /** On the database's clock. The list decides about what was received before. */
  #askedAt = -Infinity
  #triedAt = -Infinity

  constructor(dependencies: OwnershipDependencies) {
    this.#dependencies = dependencies
  }

  /** Parts notifications by what is known now, and remembers the unknown ones. One query. */
  async part<Notification extends Sent>(
    session: Session,
    notifications: readonly Notification[],
  ): Promise<Parted<Notification>> {
    const { settings } = this.#dependencies
    const ids = await loadOwnWebhooks(session, settings.own)
    const own: Notification[] = []
    const foreign: Notification[] = []
    const unknown: Notification[] = []
    // Some kinds name no webhook. Then the signature decides: only ours are accepted.
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
   * Asks the service where a notification waits for it, once a minute at most; then the waiting
   * ones are due at once. Errors of the service are logged, never thrown.
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
      logger.warn('the service did not list its webhooks; notifications of unknown ones wait', {
        waiting: waiting.length,
        error: thrown,
      })
      const why = `could not find out whether its webhook is ours: ${thrown.message}`
      await deferNotifications(warehouse, waiting, REFRESH_EVERY_MS, why)
    }
  }

  /** Makes due what the service's last answer can decide. */
  async #release(): Promise<void> {
    const { warehouse } = this.#dependencies
    const decidable = [...this.#waiting].flatMap(([id, receivedAt]) =>
      receivedAt <= this.#askedAt ? [id] : [],
    )
    if (decidable.length === 0) return
    await deferNotifications(warehouse, decidable, 0, null)
    for (const id of decidable) this.#waiting.delete(id)
  }
}
