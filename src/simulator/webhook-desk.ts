import type { ResourceObject } from '../jsonapi/document.js'
import type { Ids } from './ids.js'

/** The consumer's webhooks and the notifications sent to them, kept in memory. Sending itself is not done here. */
export interface WebhookDesk {
  webhooks(): readonly ResourceObject[]
  find(id: string): ResourceObject | undefined
  create(attributes: WebhookAttributes): ResourceObject
  update(id: string, attributes: Partial<WebhookAttributes>): ResourceObject | undefined
  remove(id: string): boolean
  /** Latest first. A sender puts its notifications here; `filter[delivery_status]` reads them. */
  readonly notifications: ResourceObject[]
  /** Called for each accepted trigger; a sender sets it. */
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

/** Addresses of a range kept for documentation. */
export const WEBHOOK_IPS = ['192.0.2.10', '192.0.2.11', '192.0.2.12'] as const

export function createWebhookDesk(ids: Ids): WebhookDesk {
  const webhooks = new Map<string, ResourceObject>()
  let created = 0
  return {
    webhooks: () => [...webhooks.values()],
    find: (id) => webhooks.get(id),
    create: (attributes) => {
      const id = ids.encode('webhook', created)
      created += 1
      const webhook = { id, type: 'webhook', attributes: { ...attributes } }
      webhooks.set(id, webhook)
      return webhook
    },
    update: (id, attributes) => {
      const webhook = webhooks.get(id)
      if (webhook === undefined) return undefined
      const updated = { ...webhook, attributes: { ...webhook.attributes, ...attributes } }
      webhooks.set(id, updated)
      return updated
    },
    remove: (id) => webhooks.delete(id),
    notifications: [],
    onTrigger: () => undefined,
  }
}
