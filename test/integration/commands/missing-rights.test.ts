import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RoleNames } from '../../../src/warehouse/connection/schema-names.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { createTestDatabase } from '../../support/test-database.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `rights_${process.pid}`
const login = `${schema}_login`
const PASSWORD = 'for this test'

let opened: TestWarehouse
let simulator: Simulator
let roles: RoleNames

const run = (text: string): Promise<unknown> =>
  opened.warehouse.query('prepare', rawStatement(text))

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

function syncAs(user: string, databaseUrl?: string): Promise<CliCall> {
  return callAs(user, ['sync'], databaseUrl)
}

function callAs(user: string, args: readonly string[], databaseUrl = opened.url): Promise<CliCall> {
  const url = new URL(databaseUrl)
  url.username = user
  url.password = encodeURIComponent(PASSWORD)
  return callCli(args, {
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
    it('to use the schemas and write any table', { tags: ['JE9'] }, async () => {
      const refused = await syncAs(login)
      expect(refused.exitCode).toBe(5)
      expect(refused.stderr).toContain(
        `${login} may not write the tables of ${schema}, as this command does; use a login that has ` +
          `the role ${roles.writer}, or have the owner run \`tracking-sync migrate --roles\` and ` +
          `\`grant "${roles.writer}" to "${login}"\`\n`,
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

describe('a login with a limit is told the limit, and not that PostgreSQL is away', () => {
  beforeAll(() => run(`grant ${roles.writer} to ${login}`))

  /** Each with the first server that knows it. */
  const LIMITS = [
    ['default_transaction_read_only', 14, 'nothing can be written here: default_transaction_read'],
    ['transaction_timeout', 17, '(25P04); transaction_timeout of this login is too short'],
  ] as const

  it('where it writes', { tags: ['JD7'] }, async () => {
    const [server] = await opened.warehouse.query(
      'ask',
      sql<{
        version: number
      }>`select current_setting('server_version_num')::integer / 10000 as version`,
    )
    const known = LIMITS.filter(([, first]) => server!.version >= first)
    expect(known).not.toEqual([])
    for (const [name, , told] of known) {
      await run(`alter role ${login} set ${name} = 1`)
      const { exitCode, stderr } = await syncAs(login)
      await run(`alter role ${login} reset ${name}`)
      expect({ name, exitCode }).toEqual({ name, exitCode: 5 })
      expect(stderr).toContain(told)
      expect(stderr).not.toContain('check that PostgreSQL runs')
    }
  })

  it('and reads where it may only read', { tags: ['JD7'] }, async () => {
    await run(`alter role ${login} set default_transaction_read_only = on`)
    const calls = [
      await callAs(login, ['status']),
      await callAs(login, ['query', 'select count(*) from containers']),
    ]
    await run(`alter role ${login} reset default_transaction_read_only`)
    expect(calls.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  })
})
