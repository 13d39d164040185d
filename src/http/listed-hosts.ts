import { isIP } from 'node:net'
import { answer } from './answer.js'
import type { Route } from './http-server.js'

/**
 * The route for those who name this server by a name on the list, by `localhost` or by an address;
 * others are answered 421. A page of a stranger can have its own name resolve to this machine and
 * then read, in the browser of somebody here, what only this machine may see; an address it cannot
 * take.
 */
export function forListedHosts(route: Route, hosts: ReadonlySet<string>): Route {
  return {
    ...route,
    handle: (request, response) => {
      const name = hostName(request.headers.host ?? '')
      const isListed = name === 'localhost' || isIP(name) !== 0 || hosts.has(name)
      if (isListed) return route.handle(request, response)
      answer(request, response, { status: 421, error: 'host' })
    },
  }
}

/** Without the port and the brackets of an address. */
function hostName(host: string): string {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
}

/** Of this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
