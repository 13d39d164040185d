import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { TLSSocket } from 'node:tls'

const FIXTURES = new URL('../../fixtures/tls/', import.meta.url)

/** The test authority, for `sslrootcert`. */
export const AUTHORITY_FILE = fileURLToPath(new URL('authority.pem', FIXTURES))

/** A PostgreSQL server with TLS: the given one, behind a certificate of our choice. */
export interface TlsFront {
  /** The database's address by way of the front, without a word on TLS. */
  readonly url: string
  /** Bytes that reached the server: a client that trusts nobody sends none. */
  readonly bytesPassed: () => number
  close(): Promise<void>
}

/** `certificate` is a file of test/fixtures/tls; undefined: a server without TLS, which says so. */
export async function startTlsFront(
  databaseUrl: string,
  certificate: string | undefined,
): Promise<TlsFront> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let passed = 0
  const server = createServer((near) => {
    sockets.add(near)
    near.on('error', () => undefined)
    near.once('data', () => {
      // The first message asks for TLS; it holds nothing else.
      if (certificate === undefined) {
        near.end('N')
        return
      }
      near.write('S')
      const secure = new TLSSocket(near, {
        isServer: true,
        key: readFileSync(new URL('server-key.pem', FIXTURES)),
        cert: readFileSync(new URL(certificate, FIXTURES)),
      })
      const far = connect(Number(target.port), target.hostname)
      sockets.add(far)
      for (const socket of [secure, far]) {
        socket.on('error', () => undefined)
        socket.on('close', () => {
          far.destroy()
          near.destroy()
        })
      }
      secure.on('data', (chunk: Buffer) => {
        passed += chunk.length
        far.write(chunk)
      })
      far.on('data', (chunk) => secure.write(chunk))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    bytesPassed: () => passed,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
