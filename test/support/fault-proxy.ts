import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A way to a database on which real sockets fail. */
export interface FaultProxy {
  /** The target's URL, by way of the proxy. */
  readonly url: string
  /** As if the server had stopped: open connections break, new ones are refused. */
  cut(): Promise<void>
  /** As if the server hung: connections stay open and nothing passes. */
  freeze(): void
  /** Undoes `cut` and `freeze`. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** Starts a proxy on a free port of this machine in front of the server that a URL names. */
export async function startFaultProxy(targetUrl: string): Promise<FaultProxy> {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  let gate: Promise<void> | undefined
  let openGate = (): void => undefined
  const thaw = (): void => {
    openGate()
    gate = undefined
  }

  function take(socket: Socket): void {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket))
  }

  async function pump(from: Socket, to: Socket): Promise<void> {
    from.on('error', () => to.destroy())
    try {
      // Its end leaves the socket open for the other direction.
      for await (const piece of from.iterator({
        destroyOnReturn: false,
      }) as AsyncIterable<Buffer>) {
        await gate
        if (to.destroyed) break
        to.write(piece)
      }
      await gate
      to.end()
    } catch {
      // The other end, or this proxy, has broken the connection.
      to.destroy()
    }
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const { hostname, port } = target
    const far = connect({ port: Number(port) || 5432, host: hostname, allowHalfOpen: true })
    take(near)
    take(far)
    void pump(near, far)
    void pump(far, near)
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const url = new URL(targetUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  async function cut(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    thaw()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  return {
    url: url.href,
    cut,
    freeze: () => {
      thaw()
      gate = new Promise((resolve) => (openGate = resolve))
    },
    restore: async () => {
      thaw()
      if (!server.listening) await listen(server, port)
    },
    close: cut,
  }
}

async function listen(server: Server, tcpPort: number): Promise<void> {
  server.listen(tcpPort, '127.0.0.1')
  await once(server, 'listening')
}
