import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RoleNames } from '../../../src/warehouse/connection/schema-names.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import { startSimulator, type Simulator } from '../../../src/simulator/server.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { createTestDatabase } from '../../support/test-database.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `rights_${process.pid}`
const login = `${schema}_login`
const PASSWORD = 'for this test'

let opened: TestWarehouse
let simulator: Simulator
let roles: RoleNames

const run = (text: string): Promise<unknown> => opened.warehouse.query('prepare', text)

beforeAll(async () => {
  opened = await createTestWarehouse({ schema })
  roles = (await createRoles(opened.warehouse)).roles
  await run(`create role ${login} login password '${PASSWORD}'`)
  simulator = await startSimulator({ shipments: 2, speed: 0, rateLimitPerMinute: null })
})

beforeEach(() => {
  simulator.requests.reset()
})

afterAll(async () => {
  await simulator.close()
  for (const role of [login, roles.reader, roles.writer]) {
    await run(`drop owned by ${role}`)
    await run(`drop role ${role}`)
  }
  await opened.drop()
})

function syncAs(user: string, databaseUrl = opened.url): Promise<CliCall> {
  const url = new URL(databaseUrl)
  url.username = user
  url.password = encodeURIComponent(PASSWORD)
  return callCli(['sync'], {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_SCHEMA: schema,
    TRACKING_LOG_LEVEL: 'silent',
    DATABASE_URL: url.href,
  })
}

/** Exit 5 with these statements and no others, and the service was asked nothing. */
function expectRefused({ exitCode, stderr }: CliCall, statements: readonly string[]): void {
  expect(exitCode).toBe(5)
  expect(stderr.match(/grant [^;\n]+ to \w+/g)).toEqual(statements)
  expect(simulator.requests.total).toBe(0)
}

describe(
  'a login that lacks a right is told the statement that grants it, before the service is asked',
  { tags: ['G9'] },
  () => {
    it('to use the schemas and write any table', async () => {
      const refused = await syncAs(login)
      expect(refused.exitCode).toBe(5)
      expect(refused.stderr).toMatch(
        new RegExp(
          `grant select, insert, update, delete on ${schema}\\.container_changes to ${login};`,
        ),
      )
      expect(refused.stderr).toMatch(
        /and \d+ more: `tracking-sync migrate --roles` makes a role that has them/,
      )
      expect(simulator.requests.total).toBe(0)
    })

    it('to write one table, and what it may not write beside ours is nobody’s business', async () => {
      await run(`grant ${roles.writer} to ${login}`)
      await run(`create table ${schema}.not_ours (id int)`)
      await run(`revoke all on ${schema}.not_ours from ${roles.writer}`)
      await run(`revoke insert on ${schema}.ports from ${roles.writer}`)
      await run(`revoke delete, update on ${schema}_sync.checkpoints from ${roles.writer}`)
      const missing = [
        `grant insert on ${schema}.ports to ${login}`,
        `grant update, delete on ${schema}_sync.checkpoints to ${login}`,
      ]
      expectRefused(await syncAs(login), missing)
      for (const statement of missing) await run(statement)
      expect((await syncAs(login)).exitCode).toBe(0)
      expect((await syncAs(login)).exitCode).toBe(0)
    })

    it('to use a schema', async () => {
      await run(`revoke usage on schema ${schema}_sync from ${roles.writer}`)
      expectRefused(await syncAs(login), [`grant usage on schema ${schema}_sync to ${login}`])
      await run(`grant usage on schema ${schema}_sync to ${roles.writer}`)
    })

    it('to make the schemas where there are none', async () => {
      const empty = await createTestDatabase()
      try {
        const name = new URL(empty.url).pathname.slice(1)
        expectRefused(await syncAs(login, empty.url), [
          `grant create on database ${name} to ${login}`,
        ])
      } finally {
        await empty.drop()
      }
    })
  },
)
