import { createHmac } from 'node:crypto'

/**
 * Names an account of the service, the same in every process and on every host. It is a keyed hash:
 * neither the address nor the key can be read from it, and two accounts never share one.
 */
export function accountKey({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }): string {
  const { origin, pathname } = new URL(apiUrl)
  const address = `${origin}${pathname.replace(/\/+$/, '')}`
  return createHmac('sha256', apiKey).update(address).digest('hex').slice(0, 32)
}
