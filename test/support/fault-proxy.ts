import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { createLink, type Link } from './fault-proxy-link.js'

/** Direction of the bytes: to the server behind the proxy, or back to the client. */
export type Direction = 'toTarget' | 'toClient'

/**
 * A fault of a link. `latency`, `bandwidth` and `slice` delay or split the bytes; `slowClose` holds
 * back the end of a connection; `silence` loses every byte after the first so many, while the
 * connection stays open, as when a host vanishes; `cut` ends a connection after so many bytes, or
 * when a piece goes by of which `when` is true: before it is passed on, right after it (nobody can
 * say what the other end made of it), or in place of its answer.
 */
export type LinkFault =
  | { readonly kind: 'latency'; readonly ms: number; readonly jitterMs?: number }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  | { readonly kind: 'slice'; readonly bytes: number }
  | { readonly kind: 'slowClose'; readonly ms: number }
  | { readonly kind: 'silence'; readonly afterBytes?: number }
  | {
      readonly kind: 'cut'
      readonly how: 'reset' | 'close'
      readonly afterBytes?: number
      readonly when?: (bytes: Buffer) => boolean
      /** `after` unless told. */
      readonly moment?: 'before' | 'after' | 'answered'
    }

export interface FaultOptions {
  /** Both unless told. */
  readonly direction?: Direction
  /**
   * How many times it is played: connections for `cut` and `silence`, pieces for the others.
   * Without end unless told.
   */
  readonly times?: number
}

/** A fault in force, and how often it was played. */
export interface AddedFault {
  readonly fault: LinkFault
  readonly direction: Direction | undefined
  readonly times: number
  played: number
  remove(): void
}

/**
 * A way to a server, of the database or of HTTP, on which real sockets fail as they do on a bad
 * network.
 */
export interface FaultProxy {
  /** The target's URL, by way of the proxy. */
  readonly url: string
  readonly connections: number
  /** Connections taken since the start. */
  readonly accepted: number
  /** In force for open and new connections until it is removed or has been played `times`. */
  add(fault: LinkFault, options?: FaultOptions): AddedFault
  /** Removes every fault that was added. */
  clear(): void
  /** As if the server had stopped: open connections break, new ones are refused. */
  cut(): Promise<void>
  /** Breaks every open connection with a reset; new ones are taken. */
  reset(): void
  /** As if the server hung: connections stay open and nothing passes. */
  freeze(): void
  /** Undoes `cut` and `freeze`. */
  restore(): Promise<void>
  close(): Promise<void>
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'http:': 80,
}

/** Starts a proxy on a free port of this machine in front of the server that a URL names. */
export async function startFaultProxy(targetUrl: string): Promise<FaultProxy> {
  const target = new URL(targetUrl)
  const targetPort = Number(target.port) || (DEFAULT_PORTS[target.protocol] ?? 0)
  const links = new Set<Link>()
  const faults: AddedFault[] = []
  let isFrozen = false
  let accepted = 0
  const server = createServer({ allowHalfOpen: true }, (near) => {
    accepted += 1
    const far = connect({ port: targetPort, host: target.hostname, allowHalfOpen: true })
    const link = createLink(near, far, faults)
    links.add(link)
    void link.closed.then(() => links.delete(link))
    if (isFrozen) link.freeze()
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const url = new URL(targetUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  async function cut(): Promise<void> {
    for (const link of links) link.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  return {
    url: url.href,
    get connections() {
      return links.size
    },
    get accepted() {
      return accepted
    },
    add: (fault, { direction, times = Infinity } = {}) => {
      const added: AddedFault = {
        fault,
        direction,
        times,
        played: 0,
        remove: () => {
          const at = faults.indexOf(added)
          if (at !== -1) faults.splice(at, 1)
        },
      }
      faults.push(added)
      return added
    },
    clear: () => {
      faults.length = 0
    },
    cut,
    reset: () => {
      for (const link of links) link.reset()
    },
    freeze: () => {
      isFrozen = true
      for (const link of links) link.freeze()
    },
    restore: async () => {
      isFrozen = false
      for (const link of links) link.thaw()
      if (!server.listening) await listen(server, port)
    },
    close: cut,
  }
}

async function listen(server: Server, tcpPort: number): Promise<void> {
  server.listen(tcpPort, '127.0.0.1')
  await once(server, 'listening')
}
