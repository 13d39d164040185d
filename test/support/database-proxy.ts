import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A way to a database that can be barred: real sockets fail as they do when the server goes away. */
export interface DatabaseProxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string
  /** As if the server had stopped: open connections break, new ones are refused. */
  cut(): Promise<void>
  /** As if the server hung: connections stay open and nothing passes. */
  freeze(): void
  restore(): Promise<void>
  close(): Promise<void>
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isFrozen) from.pause()
    }
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  async function cut(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  return {
    url: url.href,
    cut,
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    restore: async () => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(server, port)
    },
    close: cut,
  }
}

async function listen(server: Server, httpPort: number): Promise<void> {
  server.listen(httpPort, '127.0.0.1')
  await once(server, 'listening')
}
