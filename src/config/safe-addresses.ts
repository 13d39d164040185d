/** Whether secrets and rows may travel to an address. No message shows a password. */

/** This machine may be spoken to in clear text: the simulator and a local database run here. */
const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i
const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.|\[f[cd]|\[fe80|\[::ffff:|\[::\])/i

/** Whether the key may go to this address of the service without being allowed explicitly. */
export function isSafeForKey({ hostname, protocol }: URL): boolean {
  if (THIS_MACHINE.test(hostname)) return true
  return protocol === 'https:' && !PRIVATE.test(hostname)
}

/** Both undefined: the way to the database is safe. */
export interface LinkCheck {
  readonly problem?: string
  readonly warning?: string
}

export interface LinkRules {
  /** TRACKING_ALLOW_INSECURE_DATABASE: this network is trusted. */
  readonly isInsecureAllowed: boolean
  /** NODE_TLS_REJECT_UNAUTHORIZED=0 is set: Node checks no certificate. */
  readonly isNodeUnsafe: boolean
}

/** PostgreSQL's, and `no-verify` of its driver for Node, which takes any other word for none. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** A directory, or one written as a host name: the server's socket. */
const SOCKET = /^(?:\/|%2f)/i

/**
 * A database elsewhere needs `sslmode=verify-full`. `require` is not enough: this driver checks the
 * certificate then, but its next version will not. `url` must be a PostgreSQL address.
 */
export function checkDatabaseLink(url: URL, rules: LinkRules): LinkCheck {
  const hosts = [url.hostname, ...url.searchParams.getAll('host')].filter((host) => host !== '')
  if (hosts.length === 0) {
    // Otherwise PGHOST would decide, after everything was checked.
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
  const isHere = hosts.every((host) => THIS_MACHINE.test(host) || SOCKET.test(host))
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
