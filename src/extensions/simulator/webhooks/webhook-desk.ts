import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { Ids } from '../world/ids.js'
import type { Occurrence } from '../notifications/occurrence.js'

/**
 * The consumer's webhooks and the notifications made for them, kept in memory. Sending itself is
 * not done here.
 */
export interface WebhookDesk {
  webhooks(): readonly ResourceObject[]
  find(id: string): ResourceObject | undefined
  /** The webhook gets all that happens from now on. */
  create(attributes: WebhookAttributes): ResourceObject
  /** A webhook made active again gets what happens from then on; what it missed never comes. */
  update(id: string, attributes: Partial<WebhookAttributes>): ResourceObject | undefined
  remove(id: string): boolean
  /**
   * Latest first, with their delivery status and logs as they are now; the oldest are forgotten
   * beyond twenty thousand. `filter[delivery_status]` reads them.
   */
  readonly notifications: ResourceObject[]
  /** One attempt of a kept notification. */
  findLog(id: string): ResourceObject | undefined
  /** Called for each accepted trigger; unless it is replaced, it sends a sample. */
  onTrigger: (trigger: TriggerRequest) => void
}

export interface WebhookAttributes {
  readonly url: string
  readonly active: boolean
  readonly events: readonly string[]
  readonly secret: string | null
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

export interface TriggerRequest {
  readonly url: string
  readonly event: string
  readonly secret: string | undefined
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed'

/** A webhook as its sender sees it. */
export interface Subscription extends WebhookAttributes {
  readonly id: string
}

/** One notification for one webhook. */
export interface NotificationEntry {
  readonly number: number
  readonly id: string
  readonly webhookId: string
  readonly occurrence: Occurrence
  /** The id of the record it points to. */
  readonly referenceId: string
  readonly createdAt: string
  status: DeliveryStatus
  readonly logs: ResourceObject[]
  /** The records it comes with, once they are fixed; before that, undefined: the world has them. */
  included: readonly ResourceObject[] | undefined
}

/** The side of the desk that the sender needs and its consumer does not see. */
export interface SendingDesk extends WebhookDesk {
  subscription(id: string): Subscription | undefined
  subscriptions(): readonly Subscription[]
  keep(entry: NotificationEntry): void
  /** The kept notification with this id of its own event record, which is in no list. */
  entryOfReference(referenceId: string): NotificationEntry | undefined
  /**
   * Called before a webhook is made or changed, so that it gets nothing of earlier occurrences, and
   * after it was stopped.
   */
  onChange: (change: { readonly before: true } | { readonly stopped: string }) => void
}

/** Addresses of a range kept for documentation. */
export const WEBHOOK_IPS = ['192.0.2.10', '192.0.2.11', '192.0.2.12'] as const

const KEPT = 20_000

export function createWebhookDesk(ids: Ids): SendingDesk {
  const webhooks = new Map<string, WebhookAttributes>()
  const entries = new Map<string, NotificationEntry>()
  const byReference = new Map<string, NotificationEntry>()
  const notifications: ResourceObject[] = []
  let created = 0

  const resourceOf = (id: string): ResourceObject | undefined => {
    const webhook = webhooks.get(id)
    return webhook && { id, type: 'webhook', attributes: { ...webhook } }
  }
  const subscriptionOf = (id: string): Subscription | undefined => {
    const webhook = webhooks.get(id)
    return webhook && { id, ...webhook }
  }
  const forgetOldest = (): void => {
    const oldest = notifications.pop()
    const entry = entries.get(oldest?.id ?? '')
    if (entry === undefined) return
    entries.delete(entry.id)
    if (byReference.get(entry.referenceId) === entry) byReference.delete(entry.referenceId)
  }
  const desk: SendingDesk = {
    webhooks: () => [...webhooks.keys()].flatMap((id) => resourceOf(id) ?? []),
    find: resourceOf,
    create: (attributes) => {
      desk.onChange({ before: true })
      const id = ids.encode('webhook', created)
      created += 1
      webhooks.set(id, { ...attributes })
      return { id, type: 'webhook', attributes: { ...attributes } }
    },
    update: (id, attributes) => {
      desk.onChange({ before: true })
      const webhook = webhooks.get(id)
      if (webhook === undefined) return undefined
      const updated = { ...webhook, ...attributes }
      webhooks.set(id, updated)
      if (webhook.active && !updated.active) desk.onChange({ stopped: id })
      return resourceOf(id)
    },
    remove: (id) => {
      desk.onChange({ before: true })
      const wasThere = webhooks.delete(id)
      if (wasThere) desk.onChange({ stopped: id })
      return wasThere
    },
    notifications,
    onTrigger: () => undefined,
    onChange: () => undefined,
    subscription: subscriptionOf,
    subscriptions: () => [...webhooks.keys()].flatMap((id) => subscriptionOf(id) ?? []),
    keep: (entry) => {
      entries.set(entry.id, entry)
      if (!('id' in entry.occurrence.reference)) byReference.set(entry.referenceId, entry)
      notifications.unshift(liveResource(entry))
      if (notifications.length > KEPT) forgetOldest()
    },
    entryOfReference: (referenceId) => byReference.get(referenceId),
    findLog: (id) => {
      const parts = ids.decode(id)
      if (parts?.kind !== 'webhook_notification_log') return undefined
      const entry = entries.get(ids.encode('webhook_notification', parts.serial))
      return entry?.logs.find((log) => log.id === id)
    },
  }
  return desk
}

/** The notification as a record, with `status` and `logs` of this moment. */
function liveResource(entry: NotificationEntry): ResourceObject {
  return {
    id: entry.id,
    type: 'webhook_notification',
    get attributes() {
      return notificationAttributes(entry, entry.status)
    },
    get relationships() {
      return notificationRelationships(entry, entry.logs)
    },
  }
}

export function notificationAttributes(
  { id, occurrence, createdAt }: NotificationEntry,
  status: DeliveryStatus,
): Record<string, unknown> {
  return { id, event: occurrence.event, delivery_status: status, created_at: createdAt }
}

export function notificationRelationships(
  { occurrence, referenceId, webhookId }: NotificationEntry,
  logs: readonly ResourceObject[],
): NonNullable<ResourceObject['relationships']> {
  return {
    reference_object: { data: { id: referenceId, type: occurrence.reference.type } },
    webhook: { data: { id: webhookId, type: 'webhook' } },
    webhook_notification_logs: {
      data: logs.map(({ id }) => ({ id, type: 'webhook_notification_log' })),
    },
  }
}
