import type { IncomingHttpHeaders } from 'node:http'
import type { FaultRequest } from '../faults/faults.js'

/**
 * A request to the interface after its frame was read: the path is without `/v2`, the body is
 * parsed JSON.
 */
export interface ServiceRequest extends FaultRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  /** Virtual time of the request; everything in one answer is of this instant. */
  readonly at: Date
  /** `http://host:port`, for links. */
  readonly origin: string
}

export interface Answer {
  readonly status: number
  readonly document: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ErrorDetails {
  readonly source?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer with one JSON:API error object. */
export function errorAnswer(
  status: number,
  title: string,
  detail: string,
  { source, headers }: ErrorDetails = {},
): Answer {
  const error = { status: String(status), title, detail, ...(source ? { source } : {}) }
  return { status, document: { errors: [error] }, ...(headers ? { headers } : {}) }
}

export function notFound(path: string): Answer {
  return errorAnswer(404, 'Not Found', `There is nothing at ${path}.`)
}
