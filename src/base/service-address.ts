/**
 * Pure rules for the address of the service and the key that goes there, shared by the settings
 * (which report them with all other problems) and the client (which refuses to work without them).
 * None of them ever shows the key.
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
 * Why a key cannot stand in a header as it is; undefined when it can. Checked before any HTTP
 * library sees the key, because such a library prints an invalid header value in its error.
 */
export function apiKeyProblem(apiKey: string): string | undefined {
  if (apiKey === '') return 'is empty'
  if (/^(?:token|bearer)\b/i.test(apiKey)) {
    return 'holds a scheme word; give the bare key, "Token " is put before it'
  }
  if (/["'`]/.test(apiKey)) return 'holds a quote; remove the quotes around the key'
  if (/\s/.test(apiKey)) return 'holds a space or a line break; give the bare key'
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return 'holds characters that no header may carry'
  return undefined
}
