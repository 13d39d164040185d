import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { JsonNestingError, decodeUtf8, parseExactJson } from '../../source/jsonapi/exact-json.js'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import {
  deliverySchema,
  linkageSchema,
  notificationSchema,
  refusalOf,
  type NotificationFrame,
} from '../../source/jsonapi/schemas.js'
import { checkTimestamp } from '../../source/records/timestamp.js'

/** One HTTP POST of a notification. */
export interface Delivery {
  /** Without a readable `data.id`, its id is `sha256:<hash of the body>`. */
  readonly envelope: Envelope
  /** Only those that hold no secret, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came. */
  readonly body: Buffer
  /** Why it can never be applied; null for a delivery that can. */
  readonly deadReason: string | null
  /** When the source can have known what it says; absent: when the notification was made. */
  readonly observedAt?: Date
}

/**
 * Reads what the inbox's columns need from a verified body. Never throws: a signed body without a
 * readable `data.id` is kept too, under its hash, with the reason.
 */
export function readDelivery(body: Buffer, headers: IncomingHttpHeaders): Delivery {
  const { value, problem } = parseBody(body)
  const { data: delivery, error } = deliverySchema.safeParse(value)
  const frame = { headers: harmlessHeaders(headers), body }
  if (delivery !== undefined) {
    return { ...frame, envelope: toEnvelope(delivery.data), deadReason: null }
  }
  const hash = createHash('sha256').update(body).digest('hex')
  return {
    ...frame,
    envelope: { ...NO_ENVELOPE, notificationId: `sha256:${hash}` },
    deadReason: problem ?? `${refusalOf(error).reason}.`,
  }
}

/** All but the id. */
export const NO_ENVELOPE = {
  event: null,
  createdAt: null,
  deliveryStatus: null,
  webhookId: null,
  reference: null,
}

function parseBody(body: Buffer): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: parseExactJson(decodeUtf8(body)) }
  } catch (error) {
    const isTooDeep = error instanceof JsonNestingError
    return { value: undefined, problem: isTooDeep ? error.message : 'The body is not JSON.' }
  }
}

/** A list of what to keep: which headers hold secrets is not for us to know. */
const HARMLESS_HEADERS = [
  'content-type',
  'content-length',
  'user-agent',
  'date',
  'x-request-id',
  'x-forwarded-for',
] as const

const LONGEST_HEADER = 1000

function harmlessHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = HARMLESS_HEADERS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value.slice(0, LONGEST_HEADER)] as const] : []
  })
  return Object.fromEntries(kept)
}

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
  const { data } = notificationSchema.safeParse(record)
  return data && toEnvelope(data)
}

function toEnvelope({
  id,
  attributes: { event, created_at: createdAt, delivery_status: deliveryStatus },
  relationships: { webhook, reference_object: reference },
}: NotificationFrame): Envelope {
  return {
    notificationId: id,
    event,
    createdAt: createdAt !== null && checkTimestamp(createdAt).isValid ? createdAt : null,
    deliveryStatus,
    webhookId: webhook?.id ?? null,
    reference,
  }
}

/** The one record a relationship points to; undefined for none, several, or an unusable id. */
export function readLinkage(relationship: unknown): ResourceIdentifier | undefined {
  return linkageSchema.parse(relationship) ?? undefined
}
