import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

/**
 * A way to a database on which real sockets fail: a proxy on a free port of this machine in front
 * of the server that a URL names.
 */
export async function startFaultProxy(targetUrl: string) {
  const target = new URL(targetUrl)
  const ways = new Set<readonly [near: Socket, far: Socket]>()
  let isFrozen = false
  const join = ([near, far]: readonly [Socket, Socket]): void => {
    near.pipe(far)
    far.pipe(near)
  }

  // The end of one direction leaves the other open.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const { hostname, port } = target
    const far = connect({ port: Number(port) || 5432, host: hostname, allowHalfOpen: true })
    const way = [near, far] as const
    ways.add(way)
    near.on('close', () => ways.delete(way))
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    for (const socket of way) socket.setNoDelay(true)
    if (!isFrozen) join(way)
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const url = new URL(targetUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  /** As if the server had stopped: open connections break, new ones are refused. */
  async function cut(): Promise<void> {
    isFrozen = false
    for (const socket of [...ways].flat()) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  return {
    url: url.href,
    cut,
    /** As if the server hung: connections stay open and nothing passes. */
    freeze: (): void => {
      isFrozen = true
      for (const [near, far] of ways) {
        near.unpipe(far)
        far.unpipe(near)
      }
    },
    /** Undoes `cut` and `freeze`. */
    restore: async (): Promise<void> => {
      if (isFrozen) ways.forEach(join)
      isFrozen = false
      if (!server.listening) await listen(server, port)
    },
    close: cut,
  }
}

async function listen(server: Server, tcpPort: number): Promise<void> {
  server.listen(tcpPort, '127.0.0.1')
  await once(server, 'listening')
}
