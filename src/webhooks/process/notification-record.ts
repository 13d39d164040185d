import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'
import { judgeTimestamp } from '../../resources/timestamp.js'

/** A notification as `GET /webhook_notifications` lists it. Null: the service does not say. */
export interface NotificationRecord {
  readonly notificationId: string
  readonly event: string | null
  /** As sent, where it is an instant. */
  readonly createdAt: string | null
  readonly deliveryStatus: string | null
  readonly webhookId: string | null
  /** What it is about. */
  readonly reference: ResourceIdentifier | null
}

/** Undefined for a record without an id that could be remembered. */
export function readNotificationRecord(record: unknown): NotificationRecord | undefined {
  const { id, attributes, relationships } = membersOf(record)
  if (!isUsableId(id)) return undefined
  const { event, created_at: createdAt, delivery_status: deliveryStatus } = membersOf(attributes)
  const { webhook, reference_object: reference } = membersOf(relationships)
  return {
    notificationId: id,
    event: typeof event === 'string' ? event : null,
    createdAt: typeof createdAt === 'string' && isInstant(createdAt) ? createdAt : null,
    deliveryStatus: typeof deliveryStatus === 'string' ? deliveryStatus : null,
    webhookId: readLinkage(webhook)?.id ?? null,
    reference: readLinkage(reference) ?? null,
  }
}

/** The one record a relationship points to; undefined when it points to none, to several, or to something without a usable id. */
export function readLinkage(relationship: unknown): ResourceIdentifier | undefined {
  const { type, id } = membersOf(membersOf(relationship).data)
  return typeof type === 'string' && type !== '' && isUsableId(id) ? { type, id } : undefined
}

/** As rows demand it of every id. */
function isUsableId(id: unknown): id is string {
  const isShort = typeof id === 'string' && id !== '' && id.length <= 255
  return isShort && !/[\p{Cc}\p{Surrogate}]/u.test(id)
}

function isInstant(text: string): boolean {
  return judgeTimestamp(text).kind === 'ok'
}
