/**
 * Pure rules for the address of the database: whether the password and the rows may travel to where
 * it points. None of them shows the password.
 */

/**
 * What is wrong with the way to the database, and what is allowed but worth a word. Both undefined:
 * nothing.
 */
export interface LinkJudgement {
  readonly problem?: string
  readonly warning?: string
}

export interface LinkRules {
  /** Somebody has said that this network is trusted. */
  readonly isInsecureAllowed: boolean
  /**
   * `NODE_TLS_REJECT_UNAUTHORIZED=0` is set, by which Node checks no certificate unless told to.
   */
  readonly isNodeUnsafe: boolean
}

const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i

/**
 * Those of PostgreSQL, and one that only its driver for Node.js has. The driver takes any other for
 * none.
 */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** A directory, or one that is written as a host name: the server's socket. */
const SOCKET = /^(?:\/|%2f)/i

/**
 * A database elsewhere is reached with `sslmode=verify-full` and nothing less: `require` checks the
 * certificate with this driver and not with its next version, `no-verify` and none never do. `url`
 * was checked to be a PostgreSQL address.
 */
export function judgeDatabaseLink(url: URL, rules: LinkRules): LinkJudgement {
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
        'asks for verify-full, and NODE_TLS_REJECT_UNAUTHORIZED=0 switches that off; unset that variable',
    }
  }
  const isHere = hosts.every((host) => THIS_MACHINE.test(host) || SOCKET.test(host))
  if (isHere && !modes.every((mode) => SSL_MODES.includes(mode))) {
    return { problem: `has an sslmode that is none of ${SSL_MODES.join(', ')}` }
  }
  if (isVerified || (isHere && !isUnverified(url))) return {}
  if (isHere || rules.isInsecureAllowed) {
    return {
      warning: 'the server of DATABASE_URL is not verified: anybody between may read and change',
    }
  }
  return {
    problem:
      'is not on this machine, and the password and all rows would go there unverified; add ?sslmode=verify-full (and sslrootcert=<file> for an authority of your own), or set TRACKING_ALLOW_INSECURE_DATABASE=true for a network you trust',
  }
}

/** TLS that would take any certificate: worse than it looks. */
function isUnverified(url: URL): boolean {
  return [...url.searchParams.getAll('sslmode'), ...url.searchParams.getAll('ssl')].includes(
    'no-verify',
  )
}

/** An address of PostgreSQL with `mask` in place of each password, to be shown. */
export function shownDatabaseUrl(address: string, mask: string): string {
  const { protocol, username, password, host, pathname, searchParams } = new URL(address)
  const user = password === '' ? username : `${username}:${mask}`
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${/password/i.test(name) ? mask : value}`,
  )
  const search = query.length === 0 ? '' : `?${query.join('&')}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}${search}`
}
