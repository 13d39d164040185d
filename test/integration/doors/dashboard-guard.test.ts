import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToken, type NewToken } from '../../../src/extensions/doors/access-tokens.js'
import { callCli } from '../../support/call-cli.js'
import { openRaw } from '../../support/raw-http.js'
import { openDoors, type OpenDoors } from '../../support/scenes/open-doors.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

const FORWARDED = { 'x-forwarded-for': '203.0.113.7' }
/** A page, rows, a statement, and a file of a page. The overview reads too many panels. */
const ADDRESSES = [
  ...['/containers/ABCD1234567', '/panels/pickups.csv', '/panels/pickups.sql'],
  '/dashboard.css',
]

let opened: TestWarehouse
let doors: OpenDoors

beforeAll(async () => {
  opened = await createTestWarehouse()
  doors = await openDoors(opened.url)
})

afterAll(async () => {
  await doors.close()
  await opened.drop()
})

/** The status of each; a page that lacks its container is an answer. */
async function statuses(headers: Readonly<Record<string, string>>): Promise<number[]> {
  const answers = await Promise.all(
    ADDRESSES.map((address) => fetch(`${doors.url}${address}`, { headers })),
  )
  await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  return answers.map(({ status }) => (status === 404 ? 200 : status))
}

const each = (status: number): number[] => ADDRESSES.map(() => status)

async function make(name: string, rights: Partial<NewToken>): Promise<string> {
  const given = { name, questions: ['dashboard'], customers: null, end: { days: 1 }, ...rights }
  return (await createToken(opened.warehouse, given)).token
}

describe('a page of the dashboard', { tags: ['HQ2'] }, () => {
  it('is for this machine, and not for what a proxy forwards', async () => {
    expect(await statuses({})).toEqual(each(200))
    expect(await statuses(FORWARDED)).toEqual(each(401))
    const refused = await fetch(doors.url, { headers: FORWARDED })
    // A browser asks for it.
    expect(refused.headers.get('www-authenticate')).toContain('Basic realm=')
    expect(await refused.text()).toContain('a token is needed from another machine')
    // As nginx forwards, if it is told nothing.
    const { port } = new URL(doors.url)
    const bare = await openRaw(Number(port), 'GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n')
    expect(await bare.closed()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('is for a token that opens it, and for no other', async () => {
    const token = await make('page', {})
    const basic = `Basic ${Buffer.from(`anna:${token}`).toString('base64')}`
    expect(await statuses({ ...FORWARDED, authorization: basic })).toEqual(each(200))
    expect(await statuses({ authorization: `Bearer ${token}` })).toEqual(each(200))
    const others = [
      await make('asks', { questions: ['pickups', 'attention'] }),
      await make('acme', { customers: ['ACME'] }),
    ]
    for (const other of others) {
      expect(await statuses({ authorization: `Bearer ${other}` })).toEqual(each(403))
    }
    const asked = await fetch(`${doors.url}/questions/pickups.csv?token=${token}`)
    expect([asked.status, await asked.text()]).toEqual([
      403,
      '{"error":"the token page may not ask pickups; it may ask dashboard"}\n',
    ])
  })

  it('is in no token of a customer', async () => {
    const settings = { DATABASE_URL: opened.url, TRACKING_LOG_LEVEL: 'silent' }
    const line = ['tokens', 'create', '--name', 'x', '--questions', 'dashboard', '--customer', 'A']
    expect((await callCli(line, settings)).exitCode).toBe(2)
  })
})
