import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'
import { checkTimestamp } from '../../resources/timestamp.js'

/** The include that brings the record a notification is about. */
export const REFERENCE_INCLUDE = 'reference_object'

/** What a notification says of itself, without the records it brings. Null: it does not say. */
export interface Envelope {
  readonly notificationId: string
  readonly event: string | null
  /** As sent: an RFC 3339 text that PostgreSQL takes. */
  readonly createdAt: string | null
  readonly deliveryStatus: string | null
  readonly webhookId: string | null
  /** What it is about. */
  readonly reference: ResourceIdentifier | null
}

/** Of a `webhook_notification`, delivered or listed. Undefined without an id to store it under. */
export function readEnvelope(record: unknown): Envelope | undefined {
  const { id, attributes, relationships } = membersOf(record)
  if (!isStorable(id)) return undefined
  const { event, created_at: createdAt, delivery_status: deliveryStatus } = membersOf(attributes)
  const { webhook, reference_object: reference } = membersOf(relationships)
  return {
    notificationId: id,
    event: isStorable(event) ? event : null,
    createdAt: isInstant(createdAt) ? createdAt : null,
    deliveryStatus: isStorable(deliveryStatus) ? deliveryStatus : null,
    webhookId: readLinkage(webhook)?.id ?? null,
    reference: readLinkage(reference) ?? null,
  }
}

/** The one record a relationship points to; undefined for none, several, or an unusable id. */
export function readLinkage(relationship: unknown): ResourceIdentifier | undefined {
  const { type, id } = membersOf(membersOf(relationship).data)
  return isStorable(type) && isStorable(id) ? { type, id } : undefined
}

/** A row key must fit an index page whatever its letters; ids of the service have 36 characters. */
export const LONGEST_TEXT = 255

/** PostgreSQL takes neither U+0000 nor half a surrogate pair; no id has a control character. */
const NOT_STORABLE = /[\p{Cc}\p{Surrogate}]/u

function isStorable(value: unknown): value is string {
  const isShort = typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT
  return isShort && !NOT_STORABLE.test(value)
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && checkTimestamp(value).kind !== 'invalid'
}
