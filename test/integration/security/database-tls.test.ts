import { sql } from 'kysely'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ConnectorError } from '../../../src/base/errors.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { withWarehouse } from '../../support/test-warehouse.js'

const FIXTURES = new URL('../../fixtures/tls/', import.meta.url)

let database: TestDatabase
const closers: (() => unknown)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(() => {
  for (const close of closers.splice(0)) close()
})
afterAll(() => database.drop())

/**
 * The server of the database behind a certificate of ours, or, without one, a server that
 * refuses TLS. A client that trusts nobody passes no bytes.
 */
async function openFront(certificate: string | undefined, query: Readonly<Record<string, string>>) {
  const url = new URL(database.url)
  const target = { port: Number(url.port), host: url.hostname }
  const passed = { bytes: 0 }
  const server = createServer((near) => {
    closers.push(() => near.destroy())
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
      const far = connect(target)
      for (const socket of [secure, far] as Socket[]) {
        socket.on('error', () => undefined)
        socket.on('close', () => {
          far.destroy()
          near.destroy()
        })
      }
      secure.on('data', (chunk: Buffer) => {
        passed.bytes += chunk.length
        far.write(chunk)
      })
      far.on('data', (chunk) => secure.write(chunk))
    })
  })
  closers.push(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return { url: url.href, passed }
}

const ask = (url: string): Promise<unknown> =>
  withWarehouse({ url }, (warehouse) => warehouse.query('ask', sql`select 1 as one`))

const VERIFIED = {
  sslmode: 'verify-full',
  sslrootcert: fileURLToPath(new URL('authority.pem', FIXTURES)),
}

describe('TLS to the database', { tags: ['S11'] }, () => {
  it('works with verify-full and a certificate of the named authority', async () => {
    const { url, passed } = await openFront('valid.pem', VERIFIED)
    expect(await ask(url)).toEqual([{ one: 1 }])
    expect(passed.bytes).toBeGreaterThan(0)
  })

  const NO_FILE = { ...VERIFIED, sslrootcert: '/nowhere/authority.pem' }
  it.each([
    ['an expired certificate', 'expired.pem', VERIFIED, 'CERT_HAS_EXPIRED'],
    ['a certificate of another host', 'other-host.pem', VERIFIED, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a self-signed certificate', 'self-signed.pem', VERIFIED, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['an authority nobody named', 'valid.pem', { sslmode: 'verify-full' }, 'UNABLE_TO_VERIFY_LEAF'],
    ['no TLS at all', undefined, VERIFIED, 'does not support SSL'],
    ['a file of the authority that is not there', 'valid.pem', NO_FILE, 'sslrootcert'],
  ])('%s ends it before the password, as settings', async (_what, certificate, query, reason) => {
    const { url, passed } = await openFront(certificate, query)
    const failure = await ask(url).catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(ConnectorError)
    expect(failure).toMatchObject({ code: 'warehouse_schema', fate: 'stop' })
    expect((failure as Error).message).toContain(reason)
    expect((failure as Error).message).toMatch(/DATABASE_URL$|at the server$/)
    expect(passed.bytes).toBe(0)
  })

  it('a socket that is not there is an outage, no fault of the program', async () => {
    await expect(ask('postgres:///db?host=/nowhere&user=me')).rejects.toMatchObject({
      code: 'warehouse_unavailable',
    })
  })
})
