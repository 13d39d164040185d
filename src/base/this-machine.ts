const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/**
 * Whether a host of an address is this machine, which may be spoken to in clear text. IPv6 with its
 * brackets or without.
 */
export function isThisMachine(host: string): boolean {
  return THIS_MACHINE.test(host)
}
