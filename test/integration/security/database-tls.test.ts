import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ConnectorError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { AUTHORITY_FILE, startTlsFront, type TlsFront } from './tls-front.js'

let database: TestDatabase
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => database.drop())

async function front(certificate: string | undefined): Promise<TlsFront> {
  const started = await startTlsFront(database.url, certificate)
  closers.push(() => started.close())
  return started
}

function addressOf({ url }: TlsFront, query: Readonly<Record<string, string>>): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return address.href
}

async function ask(url: string): Promise<unknown> {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger })
  try {
    return await warehouse.query('ask', sql`select 1 as one`)
  } finally {
    await warehouse.close()
  }
}

const VERIFIED = { sslmode: 'verify-full', sslrootcert: AUTHORITY_FILE }

describe('TLS to the database', { tags: ['S11'] }, () => {
  it('works with verify-full and a certificate of the named authority', async () => {
    const server = await front('valid.pem')
    expect(await ask(addressOf(server, VERIFIED))).toEqual([{ one: 1 }])
    expect(server.bytesPassed()).toBeGreaterThan(0)
  })

  it.each([
    ['an expired certificate', 'expired.pem', VERIFIED, 'CERT_HAS_EXPIRED'],
    ['a certificate of another host', 'other-host.pem', VERIFIED, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a self-signed certificate', 'self-signed.pem', VERIFIED, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'a certificate of an authority nobody named',
      'valid.pem',
      { sslmode: 'verify-full' },
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['no TLS at all', undefined, VERIFIED, 'does not support SSL'],
    [
      'a file of the authority that is not there',
      'valid.pem',
      { sslmode: 'verify-full', sslrootcert: '/nowhere/authority.pem' },
      'sslrootcert',
    ],
  ])('%s ends it before the password, as settings', async (_what, certificate, query, reason) => {
    const server = await front(certificate)
    const failure = await ask(addressOf(server, query)).catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(ConnectorError)
    expect(failure).toMatchObject({ code: 'warehouse_schema', fate: 'stop' })
    expect((failure as Error).message).toContain(reason)
    expect((failure as Error).message).toMatch(/DATABASE_URL$|at the server$/)
    expect(server.bytesPassed()).toBe(0)
  })

  it('a certificate that is not trusted ends a command with 5 and one sentence', async () => {
    const server = await front('expired.pem')
    const { exitCode, stderr } = await callCli(['status'], {
      DATABASE_URL: addressOf(server, VERIFIED),
      TRACKING_LOG_LEVEL: 'silent',
    })
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(
      /^error: [^\n]*certificate has expired[^\n]*sslrootcert in DATABASE_URL\n$/,
    )
  })

  it('a socket that is not there is an outage, no fault of the program', async () => {
    await expect(ask('postgres:///db?host=/nowhere&user=me')).rejects.toMatchObject({
      code: 'warehouse_unavailable',
    })
  })
})
