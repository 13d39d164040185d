import { createHmac } from 'node:crypto'

/**
 * Rules for the address of the service, its API key and a webhook's secret, shared by the settings,
 * which report all problems together, and by the code that needs the values. No answer holds a
 * secret.
 */

/** Why a text cannot be the service's base address; undefined when it can. */
export function baseUrlProblem(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return 'is not a URL'
  const base = new URL(baseUrl)
  if (base.protocol !== 'https:' && base.protocol !== 'http:') return 'must begin with https://'
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    return 'must not hold a user name, query or fragment'
  }
  if (!/\/v\d+\/?$/.test(base.pathname)) return 'must end with the version segment, like /v2'
  return undefined
}

/**
 * The reason why a key cannot be sent in a header; undefined when it can. Checked before any HTTP
 * library sees the key, because such a library prints an invalid header value in its error.
 */
export function apiKeyProblem(apiKey: string): string | undefined {
  if (apiKey === '') return 'is empty'
  if (/^(?:token|bearer)\b/i.test(apiKey)) {
    return 'holds a scheme word; give the bare key, "Token " is put before it'
  }
  if (/["'`]/.test(apiKey)) return 'holds a quote; remove the quotes around the key'
  if (/\s/.test(apiKey)) return 'holds a space or a line break; give the bare key'
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    return 'holds characters that are not allowed in an HTTP header'
  return undefined
}

/** Shorter ones can be guessed. The example in Terminal49's documentation has 12. */
const SHORTEST_SECRET = 12

/**
 * Why a text cannot be a webhook's secret; undefined when it can. A secret with a line end would
 * sign without an error, and never as the service does.
 */
export function webhookSecretProblem(secret: string): string | undefined {
  if (secret.trim() === '') return 'is empty'
  if (/\s/.test(secret)) return 'holds a space or a line break; give the bare secret'
  if (/^["'`]|["'`]$/.test(secret)) return 'begins or ends with a quote; give the bare secret'
  if (secret.length < SHORTEST_SECRET) {
    return `is shorter than ${SHORTEST_SECRET} characters; give the webhook a longer one`
  }
  return undefined
}

/** Names an account, the same on every host. A keyed hash: it reveals neither address nor key. */
export function accountKey({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }): string {
  const { origin, pathname } = new URL(apiUrl)
  const address = `${origin}${pathname.replace(/\/+$/, '')}`
  return createHmac('sha256', apiKey).update(address).digest('hex').slice(0, 32)
}

/** A proxy's address with its scheme; undefined when it is not one of an http or https proxy. */
export function proxyAddress(text: string): string | undefined {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname } = new URL(address)
  return hostname !== '' && /^https?:$/.test(protocol) ? address : undefined
}

const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/**
 * Whether a host of an address is this machine, which may be spoken to in clear text. IPv6 with its
 * brackets or without.
 */
export function isThisMachine(host: string): boolean {
  return THIS_MACHINE.test(host)
}
