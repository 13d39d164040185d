import { ApiConnectionError, ApiUnavailableError, type ConnectorError } from '../base/errors.js'
import { CutAnswerError } from './exchange.js'
import { showText } from './shown-text.js'

/**
 * What to do about a certificate, by Node's error code. None of these is retried, and none is ever
 * overridden.
 */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; check the clock of this machine',
  CERT_REVOKED: 'its certificate was revoked',
  CERT_UNTRUSTED: 'its certificate is not trusted',
  CERT_REJECTED: 'its certificate was rejected',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed correctly',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'a certificate of its chain is self-signed',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of its certificate is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of its certificate is unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the issuer of its certificate is unknown',
  INVALID_CA: 'a certificate of its chain may not sign others',
  HOSTNAME_MISMATCH: 'its certificate is for another host',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

/** Other causes in words, by Node's and undici's error code. */
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

/**
 * The error of a failed exchange. `where` names method and path. The cause keeps name, code and
 * redacted message only: errors of the HTTP library can carry raw parts of the answer. TLS failures
 * become `ApiConnectionError`, all others `ApiUnavailableError`.
 */
export function toNetworkError(
  thrown: unknown,
  where: string,
  redact: (text: string) => string,
): ConnectorError {
  const original = thrown instanceof CutAnswerError ? thrown.cause : thrown
  const code = codeOf(original)
  const cause = strip(original, code, redact)
  const certificateProblem = certificateProblems[code]
  if (certificateProblem !== undefined || isTlsCode(code)) {
    const problem = certificateProblem ?? 'no secure connection could be agreed on'
    return new ApiConnectionError(
      `${where}: the service cannot be trusted, ${problem} (${code}). ` +
        'Check TRACKING_API_URL; for a private authority set NODE_EXTRA_CA_CERTS.',
      { cause, context: { code } },
    )
  }
  const problem = networkProblems[code] ?? 'the connection failed'
  return new ApiUnavailableError(`${where}: ${problem}${code === '' ? '' : ` (${code})`}.`, {
    cause,
    context: { code, wasSent: !unsentCodes.has(code) },
  })
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
  if (code === 'UND_ERR_SOCKET') return bytesReadOf(thrown) > 0
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

function bytesReadOf(thrown: unknown): number {
  const socket = isRecord(thrown) ? thrown.socket : undefined
  const bytesRead = isRecord(socket) ? socket.bytesRead : undefined
  return typeof bytesRead === 'number' ? bytesRead : 0
}

function codeOf(thrown: unknown): string {
  const code = isRecord(thrown) ? thrown.code : undefined
  return typeof code === 'string' ? code : ''
}

function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function strip(thrown: unknown, code: string, redact: (text: string) => string): Error {
  const { name, message } = thrown instanceof Error ? thrown : new Error(typeof thrown)
  const shown = showText(redact(message))
  return new Error(`${name}${code === '' ? '' : ` ${code}`}${shown === '' ? '' : `: ${shown}`}`)
}
