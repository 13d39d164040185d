import {
  ApiAuthError,
  ApiConnectionError,
  ApiNotFoundError,
  ApiRateLimitedError,
  ApiRefusedError,
  ApiRequestError,
  ApiUnavailableError,
  type ConnectorError,
} from '../../base/errors.js'
import { showText } from '../../base/phrases.js'
import { defaultRetryPolicy } from '../../base/retry.js'
import { parseExactJson } from '../jsonapi/exact-json.js'
import { membersOf } from '../jsonapi/document.js'
import { errorsSchema } from '../jsonapi/schemas.js'
import { CutAnswerError, type AnswerHeaders } from './exchange.js'

/** An answer of any status, and the facts of its request. */
export interface ReceivedAnswer {
  /** Method and path, with masked query. */
  readonly where: string
  readonly url: URL
  readonly status: number
  readonly headers: AnswerHeaders
  /** After decompression. */
  readonly body: Buffer
  /** See `ApiAnswer`. */
  readonly observedAt: Date
  readonly redact: (text: string) => string
  readonly keyAdvice?: string | undefined
}

/** An error that the service reports, made fit to print. */
type ApiErrorDetail = Readonly<Record<'title' | 'detail' | 'code' | 'source', string | undefined>>

/** The error of an answer with a bad status. `errors.ts` lists the meaning of each status. */
export function toStatusError(
  answer: ReceivedAnswer,
  retryAfterMs: number | undefined,
): ConnectorError {
  const { where, status, observedAt } = answer
  if (status >= 300 && status < 400) return toRedirectError(answer)
  const errors = parseErrorDetails(answer)
  const context = { where, status, errors, wasSent: true }
  const said = errors.length === 0 ? describeBody(answer) : describeErrors(errors)
  const say = (what: string): string => `${where}: ${what}. ${said}`
  if (status === 403 && isWebPage(answer)) {
    const message = say(
      'a web page was answered (403): not the service but a proxy or firewall before it; ' +
        'ask its administrator to allow the requests of this machine',
    )
    return new ApiUnavailableError(message, { context })
  }
  if (status === 401 || status === 403) {
    const why = status === 401 ? 'refused the API key' : 'does not allow this with the API key'
    const advice = status === 401 && answer.keyAdvice !== undefined ? ` ${answer.keyAdvice}` : ''
    return new ApiAuthError(say(`the service ${why} (${status})`) + advice, { context })
  }
  if (status === 404 || status === 410) {
    return new ApiNotFoundError(say(`not found (${status})`), { context, observedAt })
  }
  const wait = describeRetryAfter(retryAfterMs)
  if (status === 429) {
    const message = say(`too many requests (429)${wait}`)
    return new ApiRateLimitedError(message, { context, retryAfterMs })
  }
  if (status === 408 || status >= 500 || status < 300) {
    const message = say(`the service answered ${status}${wait}`)
    return new ApiUnavailableError(message, { context, retryAfterMs })
  }
  const message = say(`the service did not accept the request (${status})`)
  return new ApiRequestError(message, { context, status })
}

/** A page for people, as proxies, firewalls and portals send. */
export function isWebPage({ body, headers }: Pick<ReceivedAnswer, 'body' | 'headers'>): boolean {
  if (/^(?:text\/html|application\/xhtml)/i.test(headers['content-type'] ?? '')) return true
  return /^\s*<(?:!doctype|html)/i.test(body.toString('latin1', 0, 1_024))
}

function describeRetryAfter(ms: number | undefined): string {
  if (ms === undefined) return ''
  const isTooLong = ms > defaultRetryPolicy.longestRetryAfterMs
  const beyond = isTooLong ? ', which is longer than this program waits' : ''
  return ` and asks to wait ${Math.ceil(ms / 1_000)} s${beyond}`
}

function toRedirectError({ where, status, headers, url, redact }: ReceivedAnswer): ApiRefusedError {
  const { location = '' } = headers
  const isSameHost = URL.canParse(location, url.href) && new URL(location, url).host === url.host
  const hint = isSameHost
    ? 'It points to the same host: set TRACKING_API_URL to the address the service now uses.'
    : 'It points to another host, which must not see the API key.'
  const shown = showText(redact(location.replace(/[?#].*$/s, '?…')), 200)
  return new ApiRefusedError(
    `${where}: the service redirects (${status}) to ${JSON.stringify(shown)}. ` +
      `Redirects are never followed. ${hint}`,
    { context: { where, status } },
  )
}

/** At most 20, each text cut to 500 characters. */
function parseErrorDetails({ body, redact }: ReceivedAnswer): ApiErrorDetail[] {
  const shown = (text: string | null): string | undefined =>
    text === null ? undefined : showText(redact(text))
  return errorsSchema
    .parse(parseQuietly(body.toString('utf8')))
    .map(({ title, detail, code, source }) => {
      return {
        title: shown(title),
        detail: shown(detail),
        code: shown(code),
        source: shown(source),
      }
    })
}

function parseQuietly(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    // An error page need not be JSON; then it holds nothing to quote.
    return undefined
  }
}

function describeErrors(errors: readonly ApiErrorDetail[]): string {
  const texts = errors.slice(0, 3).map(({ title, detail, code, source }) => {
    const words = [title, detail].filter((text) => text !== undefined).join(': ') || code
    return source === undefined ? words : `${words} [${source}]`
  })
  const said = texts.join('; ')
  return `It says: ${said}${/[.!?]$/.test(said) ? '' : '.'}`
}

const SHOWN_BYTES = 8_192

/**
 * Describes an unexpected body: its type and, when it is not JSON, its first words. JSON is not
 * quoted: it may hold the customer's data or a webhook's secret.
 */
export function describeBody({ body, headers, redact }: ReceivedAnswer): string {
  const contentType = headers['content-type']
  const type = `content-type ${contentType === undefined ? 'missing' : showText(contentType, 80)}`
  const start = body.toString('utf8', 0, SHOWN_BYTES).slice(0, 2_000).trimStart()
  if (start === '') return `The body is empty (${type}).`
  if (/^\ufeff?["[{\d]/.test(start)) return `The body looks like JSON (${type}).`
  const words = redact(start).replace(/\s+/g, ' ')
  return `The body begins with ${JSON.stringify(showText(words, 100))} (${type}).`
}

/** Codes of Node for a certificate that is expired, of another host or of nobody we trust. */
const CERTIFICATE_CODE = /CERT|^UNABLE_TO_|^INVALID_CA$|^HOSTNAME_MISMATCH$/

/** Causes in words, by Node's and undici's error code. */
const networkProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time limit',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within the time limit',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  TOTAL_TIMEOUT: 'no complete answer within the time limit',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was shorter than announced',
  Z_DATA_ERROR: 'the answer is not compressed as announced',
  Z_BUF_ERROR: 'the compressed answer was cut off',
}

/**
 * Codes of failures that come before a single byte of the request was sent, so that even a POST may
 * be repeated.
 */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Undici's message when a proxy did not open the tunnel; its code is that of any abort. */
const PROXY_REFUSAL = /^Proxy response \((\d{3})\)/

/**
 * The error of a failed exchange. `where` names method and path. The cause keeps name, code and
 * redacted message only: errors of the HTTP library can carry raw parts of the answer. TLS failures
 * become `ApiConnectionError`, all others `ApiUnavailableError`; a mistake of ours stays as it is.
 */
export function toCallError(
  thrown: unknown,
  where: string,
  redact: (text: string) => string,
  isThroughProxy = false,
): unknown {
  if (thrown instanceof ApiRefusedError) return new ApiRefusedError(`${where}: ${thrown.message}.`)
  if (isUsageError(thrown)) return thrown
  const original = thrown instanceof CutAnswerError ? thrown.cause : thrown
  const code = codeOf(original)
  const cause = strip(original, code, redact)
  if (CERTIFICATE_CODE.test(code) || isTlsCode(code)) {
    const said = original instanceof Error ? showText(redact(original.message)) : ''
    const isCertificate = CERTIFICATE_CODE.test(code)
    const problem = isCertificate ? said : 'no secure connection could be agreed on'
    return new ApiConnectionError(
      `${where}: the service cannot be trusted: ${problem} (${code}). ` +
        'Check TRACKING_API_URL; for a private authority set NODE_EXTRA_CA_CERTS.',
      { cause, context: { code } },
    )
  }
  const refusal = original instanceof Error ? PROXY_REFUSAL.exec(original.message) : null
  if (refusal !== null) {
    const [, status = ''] = refusal
    const advice = status === '407' ? 'Give it a user and a password in' : 'Check'
    return new ApiConnectionError(
      `${where}: the proxy answered ${status} and did not connect. ${advice} HTTPS_PROXY, or name ` +
        'the host in NO_PROXY.',
      { cause, context: { code } },
    )
  }
  const problem = networkProblems[code] ?? 'the connection failed'
  const wasSent = !unsentCodes.has(code)
  const advice = isThroughProxy && !wasSent ? ' HTTPS_PROXY is set: check that address too.' : ''
  const message = `${where}: ${problem}${code === '' ? '' : ` (${code})`}.${advice}`
  return new ApiUnavailableError(message, { cause, context: { code, wasSent } })
}

/**
 * True for an exchange that died on a kept-alive connection which the server had closed meanwhile,
 * so that nobody ever looked at the request. The answer must not have begun (no `CutAnswerError`)
 * and this client must have been served before (`hasServed`): then it keeps connections that can go
 * stale. For an orderly close undici tells the bytes that the connection had read before; a reset
 * comes without them.
 */
export function isStaleConnection(thrown: unknown, hasServed: boolean): boolean {
  if (!hasServed || thrown instanceof CutAnswerError) return false
  const code = codeOf(thrown)
  if (code === 'UND_ERR_SOCKET') return Number(membersOf(membersOf(thrown).socket).bytesRead) > 0
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/**
 * True for a mistake of ours: a closed client, an argument the library does not take, a fault in
 * our own code. No retry can mend it.
 */
export function isUsageError(thrown: unknown): boolean {
  const code = codeOf(thrown)
  const isOurFault = thrown instanceof TypeError && code === ''
  return isOurFault || ['UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'UND_ERR_INVALID_ARG'].includes(code)
}

function codeOf(thrown: unknown): string {
  const { code } = membersOf(thrown)
  return typeof code === 'string' ? code : ''
}

function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO'
}

function strip(thrown: unknown, code: string, redact: (text: string) => string): Error {
  const { name, message } = thrown instanceof Error ? thrown : new Error(typeof thrown)
  const shown = showText(redact(message))
  return new Error(`${name}${code === '' ? '' : ` ${code}`}${shown === '' ? '' : `: ${shown}`}`)
}
