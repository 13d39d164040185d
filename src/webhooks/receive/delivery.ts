import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { decodeUtf8 } from '../../jsonapi/decode-utf8.js'
import { JsonNestingError, parseExactJson } from '../../jsonapi/exact-json.js'
import { isObject } from '../../jsonapi/members.js'
import { judgeTimestamp } from '../../resources/timestamp.js'

/** One HTTP POST of a notification, read as far as the inbox needs it. The body itself is kept as it came. */
export interface Delivery {
  /** `data.id`, or `sha256:<hash of the body>` where there is no readable one. */
  readonly notificationId: string
  readonly event: string | null
  readonly webhookId: string | null
  /** An RFC 3339 text that PostgreSQL takes; null where it was missing or no instant. */
  readonly createdAt: string | null
  readonly referenceType: string | null
  readonly referenceId: string | null
  /** Those on the list of harmless ones, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** SHA-256 of the body. */
  readonly bodyHash: Buffer
  /** Why nothing can be done with it; null for a delivery that is to be applied. */
  readonly deadReason: string | null
}

/** A row key must fit an index page whatever its letters; ids of the service have 36 characters. */
const LONGEST_TEXT = 255

/**
 * Reads what the inbox's columns need from a verified body. Never throws: a body without a readable `data.id` is signed all the same, so it is kept,
 * under its hash, with the reason.
 */
export function readDelivery(body: Buffer, headers: IncomingHttpHeaders): Delivery {
  const bodyHash = createHash('sha256').update(body).digest()
  const frame = { headers: harmlessHeaders(headers), body, bodyHash }
  const document = parseBody(body)
  const data = member(document.value, 'data')
  const id = readableText(member(data, 'id'))
  if (id === null) {
    return {
      ...frame,
      notificationId: `sha256:${bodyHash.toString('hex')}`,
      event: null,
      webhookId: null,
      createdAt: null,
      referenceType: null,
      referenceId: null,
      deadReason: document.problem ?? idProblem(member(data, 'id')),
    }
  }
  const attributes = member(data, 'attributes')
  const relationships = member(data, 'relationships')
  const reference = member(member(relationships, 'reference_object'), 'data')
  return {
    ...frame,
    notificationId: id,
    event: readableText(member(attributes, 'event')),
    webhookId: readableText(member(member(member(relationships, 'webhook'), 'data'), 'id')),
    createdAt: readableInstant(member(attributes, 'created_at')),
    referenceType: readableText(member(reference, 'type')),
    referenceId: readableText(member(reference, 'id')),
    deadReason: null,
  }
}

function parseBody(body: Buffer): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: parseExactJson(decodeUtf8(body)) }
  } catch (error) {
    const isTooDeep = error instanceof JsonNestingError
    return { value: undefined, problem: isTooDeep ? error.message : 'The body is no JSON text.' }
  }
}

/** An own member of an object; undefined for anything else, arrays included. */
function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** PostgreSQL takes neither U+0000 nor half a surrogate pair, and no id of the service has any control character. */
const UNREADABLE = /[\p{Cc}\p{Surrogate}]/u

function readableText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_TEXT) return null
  return UNREADABLE.test(value) ? null : value
}

function readableInstant(value: unknown): string | null {
  return typeof value === 'string' && judgeTimestamp(value).kind !== 'invalid' ? value : null
}

function idProblem(id: unknown): string {
  if (id === undefined) return 'The body has no data.id.'
  if (typeof id !== 'string') return 'data.id is no text.'
  if (id === '') return 'data.id is empty.'
  if (id.length > LONGEST_TEXT) return `data.id is longer than ${LONGEST_TEXT} characters.`
  return 'data.id holds characters that cannot be stored.'
}

/** A list of what is kept, not of what is left out: signatures, keys and the webhook's own headers are secrets, and their names are not ours to know. */
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
