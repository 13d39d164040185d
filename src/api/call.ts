import type { RequestPurpose } from './request-budget.js'
import type { Expectation } from './answer-document.js'
import type { HttpMethod } from './exchange.js'
import { resolveSameOrigin } from './origin.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import { showPath } from './shown-text.js'

/** Counts requests, each try included; one per stream, say. */
export interface RequestCounter {
  requests: number
}

type QueryValue = string | number | boolean

export interface CallOptions {
  readonly query?: Readonly<Record<string, QueryValue | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly purpose?: RequestPurpose | undefined
  readonly counter?: RequestCounter | undefined
  /** `document` when absent. */
  readonly expect?: Expectation | undefined
  /** Leaves the records of the answer as they came, see `RawRecord`. */
  readonly areRecordsRaw?: boolean | undefined
}

/** One call of the client, checked and ready to be sent as often as it takes. */
export interface Call {
  readonly method: HttpMethod
  readonly url: URL
  /** Method and masked path, for messages. */
  readonly where: string
  readonly body: string | undefined
  readonly options: CallOptions
  readonly sent: RequestCounter
}

/**
 * Checks the address and builds the call. A path that begins with `/` is relative to the base;
 * anything else must be a URL below it. Throws `ApiRefusedError`.
 */
export function prepareCall(
  base: URL,
  method: HttpMethod,
  pathOrUrl: string | URL,
  body: unknown,
  options: CallOptions,
): Call {
  const isPath = typeof pathOrUrl === 'string' && pathOrUrl.startsWith('/')
  const candidate = isPath ? `${base.href.replace(/\/$/, '')}${pathOrUrl}` : String(pathOrUrl)
  const url = resolveSameOrigin(base, candidate)
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return {
    method,
    url: resolveSameOrigin(base, url.href),
    where: `${method} ${showPath(url)}`,
    body: body === undefined ? undefined : stringifyExactJson(body),
    options,
    sent: { requests: 0 },
  }
}
