import { ApiRefusedError, ConfigError } from '../../base/errors.js'
import { showText } from '../../base/phrases.js'
import { baseUrlProblem } from '../../base/service-address.js'

/** Servers and proxies cut longer request lines; a link of that size is a fault or an attack. */
const LONGEST_URL_BYTES = 8_192

/**
 * The service's address, checked and without a trailing slash. Throws a `ConfigError` for anything
 * but a plain http(s) address without user name, query and fragment.
 */
export function parseBaseUrl(baseUrl: string): URL {
  const problem = baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new ConfigError([{ setting: 'TRACKING_API_URL', problem }])
  const base = new URL(baseUrl)
  base.pathname = base.pathname.replace(/\/$/, '')
  return base
}

/**
 * Resolves an address that the service (or a caller) gave, and refuses it with an `ApiRefusedError`
 * unless it has exactly the base's scheme, host and port and lies below the base's path. Our key
 * goes with every request, so a link decides who gets to see it. The check is made on the text as
 * well as on the parsed URL, because the parser silently repairs backslashes, tabs and line breaks.
 *
 * A path that begins with `/` is below the base. `page`: the page whose link this is. Its path must
 * be the list's, but a service behind a gateway may write another scheme, host or prefix: only the
 * query is taken from it, and the request goes to the address of the page.
 */
export function resolveSameOrigin(base: URL, pathOrUrl: string | URL, page?: URL): URL {
  const isBelow = page === undefined && typeof pathOrUrl === 'string' && pathOrUrl.startsWith('/')
  const candidate = isBelow ? `${base.href.replace(/\/$/, '')}${pathOrUrl}` : String(pathOrUrl)
  if (Buffer.byteLength(candidate) > LONGEST_URL_BYTES) {
    throw refuse(`it is longer than ${LONGEST_URL_BYTES} bytes`, candidate)
  }
  if (!/^[\x21-\x7e]*$/.test(candidate) || candidate.includes('\\')) {
    throw refuse('it contains characters that are not allowed in an address', candidate)
  }
  const from = page ?? base
  if (!URL.canParse(candidate, from.href)) throw refuse('it is not an address', candidate)
  const url = new URL(candidate, from)
  if (url.username !== '' || url.password !== '') throw refuse('it holds a user name', candidate)
  if (page !== undefined) return withQueryOf(url, page, base, candidate)
  if (url.origin !== base.origin || url.protocol !== base.protocol || url.host !== base.host) {
    throw refuse(`it leads away from ${base.origin}`, candidate)
  }
  if (!url.pathname.startsWith(`${rootOf(base)}/`)) {
    throw refuse(`its path is not below ${base.pathname}`, candidate)
  }
  url.hash = ''
  return url
}

function rootOf({ pathname }: URL): string {
  return pathname === '/' ? '' : pathname
}

function withQueryOf(link: URL, page: URL, base: URL, candidate: string): URL {
  const list = page.pathname.slice(rootOf(base).length)
  const isWeb = link.protocol === 'http:' || link.protocol === 'https:'
  if (!isWeb || !link.pathname.endsWith(list)) {
    throw refuse(`its path is not ${page.pathname}`, candidate)
  }
  const next = new URL(page)
  next.search = link.search
  next.hash = ''
  return next
}

function refuse(why: string, candidate: string): ApiRefusedError {
  const shown = JSON.stringify(candidate.slice(0, 120).replace(/[?#].*$/s, '?…'))
  return new ApiRefusedError(`The address ${shown} was refused: ${why}. No request was made.`)
}

/**
 * Path and page number, enough to identify a request in messages and logs. The rest of the query
 * must not be shown.
 */
export function showPath(url: URL): string {
  const number = url.searchParams.get('page[number]') ?? ''
  const page = /^[1-9]\d{0,8}$/.test(number) && number !== '1' ? ` page ${number}` : ''
  return `${showText(url.pathname, 300)}${page}`
}
