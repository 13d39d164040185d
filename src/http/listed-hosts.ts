import { isIP } from 'node:net'
import { answer } from './answer.js'
import type { Route } from './http-server.js'

/**
 * The route, where the request names this server by a listed name, `localhost` or an address; 421
 * otherwise. Against DNS rebinding: a stranger's page can have its own name resolve to this machine
 * and read, in a browser here, what only this machine may see. It cannot be named by an address.
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

/** The same for each of several. */
export function onListedHosts(
  routes: Readonly<Record<string, Route>>,
  hosts: ReadonlySet<string>,
): Record<string, Route> {
  return Object.fromEntries(
    Object.entries(routes).map(([path, route]) => [path, forListedHosts(route, hosts)]),
  )
}

/** Of a setting: names separated by commas. */
export function namesOf(list: string | undefined): ReadonlySet<string> {
  return new Set(
    list
      ?.toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
}

/** Without the port and the brackets of an address. */
export function hostName(host: string): string {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
}

/** Whether only this machine can reach it. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
