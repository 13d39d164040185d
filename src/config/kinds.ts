import { createRequire } from 'node:module'
import type * as NodeCron from 'node-cron'
import { z } from 'zod'
import {
  apiKeyProblem,
  baseUrlProblem,
  isThisMachine,
  webhookSecretProblem,
} from '../base/service-address.js'

/** Kinds of settings. Every message completes the sentence that begins with its variable. */

export const text = z.string('must be a text')

/** Text that matches; `must` says what is expected: `must be a path like /webhooks`. */
export const matching = (pattern: RegExp, must: string) => text.regex(pattern, must)

const NUMBER = /^-?\d+(?:\.\d+)?$/

/** Plain decimal digits: `z.coerce.number()` would turn an empty text into 0 and `0x10` into 16. */
export function wholeNumber(minimum: number, maximum: number) {
  const problem = `must be a whole number from ${minimum} to ${maximum}`
  return z.preprocess(
    (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value),
    z.number(problem).int(problem).min(minimum, problem).max(maximum, problem),
  )
}

export const requestsPerMinute = wholeNumber(1, 100_000)

/** `z.coerce.boolean()` would turn `"false"` into true. */
export const flag = z.union([z.boolean(), z.stringbool()], 'must be true or false')

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`)
}

/** A text in which `problemOf` finds nothing wrong. */
export function checked(problemOf: (value: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const problem = problemOf(value)
    if (problem !== undefined) context.addIssue(problem)
  })
}

export const baseUrl = checked(baseUrlProblem)
export const apiKey = checked(apiKeyProblem)
export const webhookSecret = checked(webhookSecretProblem)

export const databaseUrl = checked(databaseUrlProblem)

/** Names parts that libpq understands and this program does not, with the replacement. */
function databaseUrlProblem(value: string): string | undefined {
  const must = 'must look like postgres://user:password@host:5432/database'
  const [, authority = ''] = /^postgres(?:ql)?:\/\/([^/?]*)/.exec(value) ?? []
  if (value.includes('#') && /^postgres(?:ql)?:/.test(value)) {
    return 'has a # in it, which ends an address; write %23 in its place, as in a password'
  }
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) {
    return 'names several hosts, and one is understood; name the one that takes writes'
  }
  if (authority.endsWith('@')) {
    return 'has a user and no host after the @; write localhost there, also beside ?host='
  }
  if (value.trim() !== value) return 'has a space before or after it; take it away'
  if (!URL.canParse(value)) {
    return /^postgres(?:ql)?:/.test(value)
      ? `${must}; in a password write %2F for / and %3F for ?`
      : must
  }
  const { protocol, searchParams } = new URL(value)
  if (!/^postgres(?:ql)?:$/.test(protocol)) return must
  return searchParams.get('sslrootcert') === 'system'
    ? 'has sslrootcert=system, which only libpq knows; leave it out: sslmode=verify-full then ' +
        'trusts the authorities that Node.js knows'
    : undefined
}

export const schemaName = matching(
  /^[a-z_][a-z0-9_]{0,49}$/,
  'must be 1 to 50 lower-case letters, digits or underscores, not beginning with a digit',
)

/** Part of a schema's name, of a path, and with capitals of a variable. */
export const accountName = matching(
  /^[a-z][a-z0-9_-]{0,29}$/,
  'must be 1 to 30 lower-case letters, digits, hyphens or underscores, beginning with a letter',
)

export const publicUrl = text.refine((value) => {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  const isPlain = [username, password, search, hash].every((part) => part === '')
  return isPlain && (protocol === 'https:' || protocol === 'http:')
}, 'must be an http:// or https:// URL without user name, query or fragment')

export const numberPage = matching(
  /^(?:off|https?:\/\/[^\s{}]+\{number\}[^\s{}]*)$/,
  'must be an https:// address with {number} in it, or off',
)

export const cron = text.refine(
  (value) => value === 'off' || isCronExpression(value),
  'must be a cron expression like */15 * * * *, or off',
)

/** Loads the package only for a given value; defaults are not parsed. */
function isCronExpression(value: string): boolean {
  const { validate } = createRequire(import.meta.url)('node-cron') as typeof NodeCron
  return validate(value)
}

export const timeZone = text.refine((value) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}, 'must be an IANA time zone like Europe/Berlin')

// Whether secrets and rows may travel to an address. No message shows a password.

const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.|\[f[cd]|\[fe80|\[::ffff:|\[::\])/i

/** Whether the key may go to this address of the service without being allowed explicitly. */
export function isSafeForKey({ hostname, protocol }: URL): boolean {
  if (isThisMachine(hostname)) return true
  return protocol === 'https:' && !PRIVATE.test(hostname)
}

/** Both undefined: the way to the database is safe. */
export interface LinkCheck {
  readonly problem?: string
  readonly warning?: string
}

/**
 * PostgreSQL's modes, and `no-verify` of its driver for Node, which reads any other word as none.
 */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** A directory, or one written as a host name: the server's socket. */
const SOCKET = /^(?:\/|%2f)/i

/**
 * A database elsewhere needs `sslmode=verify-full`. `require` is not enough: this driver checks the
 * certificate then, but its next version will not. `url` must be a PostgreSQL address.
 */
export function checkDatabaseLink(
  url: URL,
  rules: {
    /** TRACKING_ALLOW_INSECURE_DATABASE: this network is trusted. */
    readonly isInsecureAllowed: boolean
    /** NODE_TLS_REJECT_UNAUTHORIZED=0 is set: Node checks no certificate. */
    readonly isNodeUnsafe: boolean
  },
): LinkCheck {
  const hosts = [url.hostname, ...url.searchParams.getAll('host')].filter((host) => host !== '')
  if (hosts.length === 0) {
    // Otherwise PGHOST would decide after all checks.
    return { problem: 'names no host; write localhost, or ?host= with the directory of a socket' }
  }
  const modes = url.searchParams.getAll('sslmode')
  const isVerified = modes.length > 0 && modes.every((mode) => mode === 'verify-full')
  if (isVerified && rules.isNodeUnsafe) {
    return {
      problem:
        'asks for verify-full, but NODE_TLS_REJECT_UNAUTHORIZED=0 switches that off; ' +
        'unset that variable',
    }
  }
  const isHere = hosts.every((host) => isThisMachine(host) || SOCKET.test(host))
  if (isHere && !modes.every((mode) => SSL_MODES.includes(mode))) {
    return { problem: `has an unknown sslmode; use one of ${SSL_MODES.join(', ')}` }
  }
  const isUnverified = [...modes, ...url.searchParams.getAll('ssl')].includes('no-verify')
  if (isVerified || (isHere && !isUnverified)) return {}
  if (isHere || rules.isInsecureAllowed) {
    return {
      warning:
        'the server of DATABASE_URL is not verified: anyone in between can read and change data',
    }
  }
  return {
    problem:
      'is on another machine, and the password and all rows would go there unverified; ' +
      'add ?sslmode=verify-full (and sslrootcert=<file> for your own authority), ' +
      'or set TRACKING_ALLOW_INSECURE_DATABASE=true on a network you trust',
  }
}

/** A PostgreSQL address with `mask` in place of each password. */
export function shownDatabaseUrl(address: string, mask: string): string {
  const { protocol, username, password, host, pathname, searchParams } = new URL(address)
  const user = password === '' ? username : `${username}:${mask}`
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${/password/i.test(name) ? mask : value}`,
  )
  const search = query.length === 0 ? '' : `?${query.join('&')}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}${search}`
}

/** The passwords of an address, as it has them and decoded. */
export function passwordsIn(address: string | undefined): string[] {
  if (address === undefined) return []
  const { password, searchParams } = new URL(address)
  // PostgreSQL's clients also take the password from the query of the address.
  return [password, safeDecode(password), ...searchParams.getAll('password')]
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
