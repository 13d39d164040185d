import { sql } from 'kysely'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import {
  AddressClient,
  clientClassOf,
  REQUIRE_SCRAM,
  ScramClient,
} from '../../../src/warehouse/connection/scram-client.js'
import { readTable } from '../../../src/extensions/answers/read-answer.js'
import { HOSTILE_ENVIRONMENT } from '../../support/hostile-environment.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'

const LOGIN = { PGUSER: 'nobody', PGPASSWORD: 'none' }
const PASSWORD = 'word-that-must-not-travel'

afterEach(() => vi.unstubAllEnvs())

const stubEnv = () => {
  for (const [name, value] of Object.entries({ ...HOSTILE_ENVIRONMENT, ...LOGIN })) {
    vi.stubEnv(name, value)
  }
}

/** An authentication message of the server's, and what would follow if all were well. */
const authentication = (kind: number, more = '') =>
  Buffer.from([0x52, 0, 0, 0, 8 + more.length, 0, 0, 0, kind, ...Buffer.from(more)])
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** Listens where the server should, and answers the first packet so: its port and words. */
async function listen(answer: Buffer): Promise<{ port: number; told: () => string }> {
  const told: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(answer))
    socket.on('data', (bytes) => told.push(bytes))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, told: () => Buffer.concat(told).toString('latin1') }
}

const ASKS = [
  ['for the password in clear', authentication(3)],
  ['for an MD5 of it', authentication(5, 'salt')],
  ['for nothing at all', Buffer.concat([authentication(0), READY])],
  ['for an end', Buffer.concat([authentication(12, 'v=AAAA'), authentication(0), READY])],
] as const

describe('what listens in the place of our server', { tags: ['FC4'] }, () => {
  it.each(ASKS)('and asks %s gets no statement of a warehouse’s', async (_what, answer) => {
    const { port, told } = await listen(answer)
    const url = `postgres://me:${PASSWORD}@127.0.0.1:${port}/house?${REQUIRE_SCRAM}`
    const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger })
    onTestFinished(() => warehouse.close())
    await expect(warehouse.query('look', sql`select 1`)).rejects.toThrow()
    await expect(readTable(warehouse, 'look', sql`select 1`)).rejects.toThrow()
    expect(told()).not.toMatch(/word-that|md5|select/)
  })

  it('is answered by an address that does not insist, as before', () => {
    expect(clientClassOf('postgres://me@db.example/house')).toBe(AddressClient)
    expect(clientClassOf(`postgres://me@db.example/house?a=b&${REQUIRE_SCRAM}`)).toBe(ScramClient)
  })
})

describe('variables of PostgreSQL in the environment', { tags: ['JB12'] }, () => {
  it.each([
    'postgres://me:word@db.example/house',
    'postgres://me:word@db.example:6543/house?sslmode=verify-full',
    'postgres://me:word@db.example:6543/house?sslmode=disable&options=-c%20work_mem%3D8MB',
    'postgres://me:word@db.example',
    'postgres://me:word@%2Ftmp/house',
    'postgres://me:word@/house?host=/tmp&port=7000',
    'postgres://me:word@localhost/house?port=7000&application_name=mine&sslnegotiation=direct&ssl=true',
  ])('change nothing about %s', (connectionString) => {
    const parametersNow = () => {
      const options = { application_name: 'tracking-sync', connectionTimeoutMillis: 5000 }
      const client = new AddressClient({ connectionString, ...options })
      const { connectionParameters, port, database, host, user, password, ssl } =
        client as unknown as Record<string, unknown>
      return { ...(connectionParameters as object), port, database, host, user, password, ssl }
    }
    const quiet = parametersNow()
    stubEnv()
    expect(parametersNow()).toEqual(quiet)
  })

  it('say the login that an address leaves out, and nothing else', () => {
    stubEnv()
    const client = new AddressClient({ connectionString: 'postgres://db.example/house' })
    expect(client).toMatchObject({ user: 'nobody', password: 'none' })
    expect(client).toMatchObject({ host: 'db.example', port: 5432, database: 'house' })
  })
})
