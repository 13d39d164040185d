import { ApiRefusedError, ApiUnavailableError } from '../../base/errors.js'
import { NO_DOCUMENT, type Document } from '../jsonapi/document.js'
import { JsonNestingError } from '../jsonapi/exact-json.js'
import {
  JsonSizeError,
  parseJsonBytes,
  splitJsonBytes,
  type JsonLimits,
} from '../jsonapi/parse-json-bytes.js'
import {
  documentSchema,
  listSchema,
  rawListSchema,
  refusalOf,
  singleSchema,
  type Refusal,
} from '../jsonapi/schemas.js'
import type { RawDocument } from '../jsonapi/raw-record.js'
import { describeBody, isWebPage, type ReceivedAnswer } from './call-errors.js'

/**
 * The content that a successful answer must have. `list`: a document whose `data` is an array.
 * `record`: a document whose `data` is one record. `document`: either. `anything`: any JSON or
 * nothing at all, for endpoints whose answer the interface leaves open.
 */
export type Expectation = 'list' | 'record' | 'document' | 'anything'

/** The number of rows if the request did not give one. */
const USUAL_PAGE_SIZE = 100

/**
 * The most that an answer may hold: ten times as much as the richest rows bring. Smaller values
 * than the service's own could fill the memory within the limit of bytes: a value of three bytes
 * takes fifty in memory, a record some hundreds.
 */
function limitsOf(url: URL): JsonLimits {
  const pageSize = Number(url.searchParams.get('page[size]')) || USUAL_PAGE_SIZE
  return {
    records: 1_000 + 200 * pageSize,
    values: Math.min(1_000_000, 100_000 + 5_000 * pageSize),
  }
}

export interface ParsedAnswer {
  readonly document: Document
  /** The whole JSON value; undefined for an empty body. */
  readonly body: unknown
}

const SCHEMAS = { list: listSchema, record: singleSchema, document: documentSchema }

/**
 * The document of an answer with a good status. A portal's page, an empty or cut body or `errors`
 * under 200 say nothing about the records, so they throw `ApiUnavailableError` ("ask again") and
 * never pass for an empty list. Too deep nesting, and more records or values than the limits allow,
 * throw `ApiRefusedError`.
 */
export function parseAnswer(
  answer: ReceivedAnswer,
  expectation: Expectation = 'document',
): ParsedAnswer {
  if (expectation === 'anything' && isBlank(answer.body)) {
    return { document: NO_DOCUMENT, body: undefined }
  }
  const body = parseBody(answer, parseJsonBytes)
  if (expectation === 'anything') {
    return { document: documentSchema.safeParse(body).data ?? NO_DOCUMENT, body }
  }
  const { data: document, error } = SCHEMAS[expectation].safeParse(body)
  if (document === undefined) throw unusable(answer, describeNoDocument(refusalOf(error)))
  return { document, body }
}

/** The same for a page of a list, whose records are not parsed. */
export function splitAnswer(answer: ReceivedAnswer): { readonly document: RawDocument } {
  const { data: document, error } = rawListSchema.safeParse(parseBody(answer, splitJsonBytes))
  if (document === undefined) throw unusable(answer, describeNoDocument(refusalOf(error)))
  return { document }
}

/** A blank body is an empty one; a long one is left to the parser, which refuses it as well. */
function isBlank(body: Buffer): boolean {
  return body.length <= 1_024 && body.toString('utf8').trim() === ''
}

function parseBody(answer: ReceivedAnswer, parse: typeof parseJsonBytes): unknown {
  if (isBlank(answer.body)) throw unusable(answer, 'an empty body')
  if (isWebPage(answer)) throw unusable(answer, 'a web page instead of data')
  try {
    return parse(answer.body, limitsOf(answer.url))
  } catch (error) {
    if (error instanceof JsonNestingError) {
      throw new ApiRefusedError(`${answer.where}: ${error.message}`, { cause: error })
    }
    if (error instanceof JsonSizeError) {
      throw new ApiRefusedError(`${answer.where}: the service's answer holds ${error.message}`)
    }
    if (!(error instanceof SyntaxError)) throw error
    // The parser's message quotes the body, so it is not kept as the cause.
    throw unusable(answer, 'a body that is not complete JSON')
  }
}

function describeNoDocument({ pointer, reason }: Refusal): string {
  if (pointer === '/errors') return '"errors" under a good status'
  return `JSON that is not a JSON:API document: ${reason}`
}

function unusable(answer: ReceivedAnswer, what: string): ApiUnavailableError {
  const { where, status } = answer
  return new ApiUnavailableError(
    `${where}: the service answered ${status} with ${what}. ${describeBody(answer)}`,
    { context: { where, status, wasSent: true } },
  )
}
