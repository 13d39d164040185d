import { ApiContractError } from '../../base/errors.js'
import { parseDocument, type Document } from '../../jsonapi/document.js'
import { JsonNestingError } from '../../jsonapi/exact-json.js'
import { membersOf } from '../../jsonapi/members.js'
import { parseJsonBytes } from '../../jsonapi/parse-json-bytes.js'
import type { ClaimedNotification } from './claim-notifications.js'

/** A notification with the records it brings. */
export interface ParsedNotification extends ClaimedNotification {
  readonly document: Document
  /** False for a signed body that is something else. */
  readonly isNotification: boolean
  /** Read from the service because its delivery was lacking: asking again would bring no more. */
  readonly isRefetched?: boolean
}

const NO_DOCUMENT: Document = { data: [], isList: false, included: [], links: {}, meta: {} }

/**
 * Parses the body of a stored notification. Bytes that are not UTF-8 become U+FFFD in the rows,
 * flagged, as in every text of the source. Throws ApiContractError when the body is not a JSON:API
 * document.
 */
export function parseNotification(claimed: ClaimedNotification): ParsedNotification {
  const document = claimed.body === null ? NO_DOCUMENT : readDocument(claimed.body)
  const isNotification = membersOf(document.data[0]).type === 'webhook_notification'
  return { ...claimed, document, isNotification }
}

function readDocument(body: Buffer): Document {
  const document = parseDocument(parseBody(body))
  if (document !== undefined) return document
  throw new ApiContractError('the body is not a JSON:API document', { pointer: '' })
}

/** With the digests of its records: a sync that meets the same bytes recognizes them. */
function parseBody(body: Buffer): unknown {
  try {
    return parseJsonBytes(body)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError) && !(thrown instanceof JsonNestingError)) throw thrown
    // The parser's message quotes the body, so it is not kept as the cause.
    const why = thrown instanceof JsonNestingError ? thrown.message : 'the body is not JSON'
    throw new ApiContractError(why, { pointer: '' })
  }
}
