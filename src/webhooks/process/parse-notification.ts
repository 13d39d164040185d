import { ApiContractError } from '../../base/errors.js'
import { parseDocument, type Document, type ResourceIdentifier } from '../../jsonapi/document.js'
import { JsonNestingError } from '../../jsonapi/exact-json.js'
import { parseJsonBytes } from '../../jsonapi/parse-json-bytes.js'
import type { ClaimedNotification } from './claim-notifications.js'
import { readNotificationRecord } from './notification-record.js'

/** A notification of one of our own webhooks, parsed. */
export interface News {
  readonly notificationId: string
  readonly observedAt: Date
  /**
   * It says it was made after it came: its stamp is that of its coming, and tells nothing of the
   * order.
   */
  readonly isClamped?: boolean
  readonly document: Document
  /** What it is about. */
  readonly reference: ResourceIdentifier | null
  /** False for a signed body that is something else. */
  readonly isNotification: boolean
  /**
   * It was read from the service, because its delivery did not hold what it is about: there is
   * nobody else to ask.
   */
  readonly isRefetched?: boolean
}

export interface ParsedNotification {
  readonly news: News
  /** The webhook it says it was sent for; null where it says none. */
  readonly webhookId: string | null
}

const NO_DOCUMENT: Document = { data: [], isList: false, included: [], links: {}, meta: {} }

/**
 * Reads the body of a stored notification. Bytes that are no UTF-8 become U+FFFD in the rows,
 * flagged, as in every text of the source. Throws ApiContractError when it is no JSON:API document.
 */
export function parseNotification(claimed: ClaimedNotification): ParsedNotification {
  const { notificationId, observedAt, isClamped, body } = claimed
  const document = body === null ? NO_DOCUMENT : readDocument(body)
  const record = readNotificationRecord(document.data[0])
  const isNotification =
    (document.data[0] as { type?: unknown } | undefined)?.type === 'webhook_notification'
  return {
    news: {
      notificationId,
      observedAt,
      isClamped,
      document,
      reference: record?.reference ?? null,
      isNotification,
    },
    webhookId: record?.webhookId ?? null,
  }
}

function readDocument(body: Buffer): Document {
  const document = parseDocument(parseBody(body))
  if (document !== undefined) return document
  throw new ApiContractError('the body is no JSON:API document', { pointer: '' })
}

/** With the digests of its records: a sync that meets the same bytes knows them. */
function parseBody(body: Buffer): unknown {
  try {
    return parseJsonBytes(body)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError) && !(thrown instanceof JsonNestingError)) throw thrown
    // The parser's message quotes the body, so it is not kept as the cause.
    const why = thrown instanceof JsonNestingError ? thrown.message : 'the body is no JSON text'
    throw new ApiContractError(why, { pointer: '' })
  }
}
