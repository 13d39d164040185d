import {
  ApiAuthError,
  ApiNotFoundError,
  ApiRateLimitedError,
  ApiRefusedError,
  ApiRequestError,
  ApiUnavailableError,
  type ConnectorError,
} from '../base/errors.js'
import { parseExactJson } from '../jsonapi/exact-json.js'
import { isObject } from '../jsonapi/members.js'
import type { RetryAfter } from './retry-after.js'
import { showText } from './shown-text.js'

/** One member of JSON:API `errors[]`, made fit to print. */
interface ApiErrorDetail {
  readonly title: string | undefined
  readonly detail: string | undefined
  readonly code: string | undefined
  /** `source.parameter` or `source.pointer`. */
  readonly source: string | undefined
}

/** The parts of an answer that decide what went wrong. */
export interface FailedAnswer {
  /** Method and path, with masked query. */
  readonly where: string
  readonly status: number
  readonly contentType: string | undefined
  readonly location: string | undefined
  readonly retryAfter: RetryAfter | undefined
  readonly text: string
  readonly requestUrl: URL
  /** See `ApiAnswer`. */
  readonly observedAt: Date
  readonly redact: (text: string) => string
}

/** The error of an answer whose status is no success. Which status means what: `errors.ts`. */
export function toStatusError(answer: FailedAnswer): ConnectorError {
  const { where, status, retryAfter } = answer
  const errors = parseErrorDetails(answer.text, answer.redact)
  const said = describeErrors(errors, answer)
  const context = { where, status, errors, wasSent: true }
  const retryAfterMs = retryAfter?.ms
  if (status >= 300 && status < 400) return toRedirectError(answer)
  if (status === 401 || status === 403) {
    const why = status === 401 ? 'refused the API key' : 'does not permit this to the API key'
    return new ApiAuthError(`${where}: the service ${why} (${status}).${said}`, { context })
  }
  if (status === 404 || status === 410) {
    const { observedAt } = answer
    return new ApiNotFoundError(`${where}: not found (${status}).${said}`, { context, observedAt })
  }
  if (status === 429) {
    const wait = describeRetryAfter(retryAfter)
    return new ApiRateLimitedError(`${where}: too many requests (429)${wait}.${said}`, {
      context,
      retryAfterMs,
    })
  }
  if (status === 408 || status >= 500 || status < 300) {
    const wait = describeRetryAfter(retryAfter)
    return new ApiUnavailableError(`${where}: the service answered ${status}${wait}.${said}`, {
      context,
      retryAfterMs,
    })
  }
  return new ApiRequestError(
    `${where}: the service did not accept the request (${status}).${said}`,
    {
      context,
      status,
    },
  )
}

function describeRetryAfter(retryAfter: RetryAfter | undefined): string {
  if (retryAfter === undefined) return ''
  const seconds = Math.ceil(retryAfter.ms / 1_000)
  return retryAfter.kind === 'wait'
    ? ` and asks to wait ${seconds} s`
    : ` and asks to wait ${seconds} s, which is longer than this program waits`
}

function toRedirectError(answer: FailedAnswer): ApiRefusedError {
  const { where, status, location = '', requestUrl } = answer
  const isSameHost =
    URL.canParse(location, requestUrl.href) &&
    new URL(location, requestUrl).host === requestUrl.host
  const hint = isSameHost
    ? 'It points to the same host: set TRACKING_API_URL to the address the service now uses.'
    : 'It points to another host, which must not see the API key.'
  const shown = showText(answer.redact(location.replace(/[?#].*$/s, '?…')), 200)
  return new ApiRefusedError(
    `${where}: the service redirects (${status}) to ${JSON.stringify(shown)}. ` +
      `Redirects are never followed. ${hint}`,
    { context: { where, status } },
  )
}

/**
 * What a body says went wrong: JSON:API's `errors[]`, and the plain forms of gateways and
 * frameworks before the service (`errors` of texts, `error`, `message`). At most 20, each text cut
 * to 500 characters.
 */
function parseErrorDetails(text: string, redact: (text: string) => string): ApiErrorDetail[] {
  const body = parseQuietly(text)
  const errors =
    readMember(body, 'errors') ?? readMember(body, 'error') ?? readMember(body, 'message')
  const list: readonly unknown[] = Array.isArray(errors) ? errors : [errors]
  const shown = (value: unknown): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? showText(redact(value)) : undefined
  const details = list.slice(0, 20).map((error: unknown) => {
    const source = readMember(error, 'source')
    return {
      title: shown(readMember(error, 'title')),
      detail: shown(readMember(error, 'detail') ?? readMember(error, 'message') ?? error),
      code: shown(readMember(error, 'code')),
      source: shown(readMember(source, 'parameter') ?? readMember(source, 'pointer')),
    }
  })
  return details.filter(({ title, detail, code }) => (title ?? detail ?? code) !== undefined)
}

function parseQuietly(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    // An error page need not be JSON; then there is simply nothing to quote.
    return undefined
  }
}

function readMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function describeErrors(errors: readonly ApiErrorDetail[], answer: FailedAnswer): string {
  if (errors.length === 0) return ` ${describeBody(answer)}`
  const texts = errors.slice(0, 3).map(({ title, detail, code, source }) => {
    const words = [title, detail].filter((text) => text !== undefined).join(': ') || code
    return source === undefined ? words : `${words} [${source}]`
  })
  return ` It says: ${texts.join('; ')}`
}

/**
 * What an unexpected body looks like: its type and, when it is no JSON, its first words. JSON is
 * not quoted: it may hold the customer's data or a webhook's secret.
 */
export function describeBody(
  answer: Pick<FailedAnswer, 'text' | 'contentType' | 'redact'>,
): string {
  const type = `content-type ${answer.contentType === undefined ? 'missing' : showText(answer.contentType, 80)}`
  const start = answer.text.slice(0, 2_000).trimStart()
  if (start === '') return `The body is empty (${type}).`
  if (/^\ufeff?["[{\d]/.test(start)) return `The body looks like JSON (${type}).`
  const words = answer.redact(start).replace(/\s+/g, ' ')
  return `The body begins with ${JSON.stringify(showText(words, 100))} (${type}).`
}
