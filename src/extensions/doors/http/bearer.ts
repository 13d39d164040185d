import type { IncomingMessage } from 'node:http'
import { hostName, isLoopbackHost } from '../../../http/listed-hosts.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { findToken, type AccessToken } from '../access-tokens.js'
import type { TokenUses } from '../token-uses.js'
import { Refused, RETRY_SECONDS } from './refused.js'

/** A proxy adds one of them to a request that it forwards. */
const FORWARDED =
  /^(?:forwarded|via|cdn-loop|x-(?:forwarded|original|envoy|arr|azure)-.+|(?:.+-)?(?:client|connecting|real)-?ip)$/

const CHALLENGE = { 'www-authenticate': ['Bearer', 'Basic realm="tracking-sync", charset="UTF-8"'] }

/** Answers to wrong tokens that wait at once; the next ones are told to come later. */
const MOST_SLOWED = 20
const SLOW_MS = 1_000

export interface BearerOptions {
  /** By the login of the program: readers do not see the hashes. */
  readonly warehouse: Warehouse
  readonly uses: TokenUses
  /** Waits before a wrong token is refused. */
  readonly slow?: () => Promise<void>
}

/**
 * Finds out who asks: the token of a request, or undefined for a request of this machine without
 * one. Throws `Refused` for all others.
 */
export function createBearerCheck({ warehouse, uses, slow = waitAWhile }: BearerOptions) {
  let slowed = 0

  async function refuseSlowly(sentence: string): Promise<never> {
    if (slowed >= MOST_SLOWED) {
      throw new Refused(429, 'too many wrong tokens; ask again later, with a right one', {
        'retry-after': RETRY_SECONDS,
      })
    }
    slowed += 1
    try {
      await slow()
    } finally {
      slowed -= 1
    }
    throw new Refused(401, sentence, CHALLENGE)
  }

  return async (request: IncomingMessage, query: URLSearchParams) => {
    const text = tokenOf(request, query)
    if (text === undefined) {
      if (isOfThisMachine(request)) return undefined
      throw new Refused(
        401,
        'a token is needed from another machine or through a proxy; `tracking-sync tokens create` ' +
          'makes one, which is sent as bearer, as password of basic, or as ?token=',
        CHALLENGE,
      )
    }
    const token = await findToken(warehouse, text)
    if (token === undefined) {
      return refuseSlowly('the token is wrong; send the whole text that `tokens create` printed')
    }
    if (token.state !== 'active') {
      const problem = token.state === 'expired' ? 'has expired' : 'was revoked'
      return refuseSlowly(`the token ${token.name} ${problem}; have another one created`)
    }
    uses.count(token.tokenId)
    return token satisfies AccessToken
  }
}

function waitAWhile(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, SLOW_MS)
  })
}

/** From the header, else from the address. Of basic the password, or else the user. */
function tokenOf({ headers }: IncomingMessage, query: URLSearchParams): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() === 'basic') {
    const [user = '', ...password] = Buffer.from(value, 'base64').toString('utf8').split(':')
    return password.join(':') || user
  }
  // Another scheme is a token too, a wrong one: it must not pass as a request without one.
  return headers.authorization ?? query.get('token') ?? undefined
}

function isOfThisMachine({ headers, httpVersion, socket }: IncomingMessage): boolean {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '')
  // nginx forwards in HTTP/1.0, and adds no header, unless it is told to.
  // Some add nothing and keep the name that strangers use: HAProxy, stunnel, a tunnel of SSH.
  const isForwarded =
    httpVersion === '1.0' ||
    !isLoopbackHost(hostName(headers.host ?? '')) ||
    Object.keys(headers).some((name) => FORWARDED.test(name))
  return isLoopbackHost(address) && !isForwarded
}
