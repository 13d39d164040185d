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
  /** If `data.id` is unreadable, the id is `sha256:<hash of the body>`. */
  readonly envelope: Envelope
  /** Only headers without secrets, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw body. */
  readonly body: Buffer
  /** Why it can never be applied; null for a valid delivery. */
  readonly deadReason: string | null
  /** The earliest instant of the source's knowledge; absent: that of the notification. */
  readonly observedAt?: Date
}

/**
 * Reads the values of the inbox's columns from a verified body. Never throws: a signed body without
 * a readable `data.id` is stored too, under its hash, with the reason.
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

/** An envelope without its id. */
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

/** An allowlist: we cannot know which headers hold secrets. */
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

/** The include that brings the subject of a notification. */
export const REFERENCE_INCLUDE = 'reference_object'

/** The members of a notification without its records. Null: it does not say. */
export interface Envelope {
  readonly notificationId: string
  readonly event: string | null
  /** As sent: an RFC 3339 text that PostgreSQL reads. */
  readonly createdAt: string | null
  readonly deliveryStatus: string | null
  readonly webhookId: string | null
  /** Its subject. */
  readonly reference: ResourceIdentifier | null
}

/** Reads a `webhook_notification`, delivered or listed. Undefined without an id. */
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

/**
 * The single record that a relationship points to; undefined for none, several, or an unusable id.
 */
export function readLinkage(relationship: unknown): ResourceIdentifier | undefined {
  return linkageSchema.parse(relationship) ?? undefined
}
