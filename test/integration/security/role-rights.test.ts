import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import { callCli } from '../../support/call-cli.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `strict_${process.pid}`
const OWNER = `${schema}_owner`
const WORKER = `${schema}_worker`
const PASSWORD = 'for this test'

let opened: TestWarehouse
let simulator: Simulator

beforeAll(async () => {
  opened = await createTestWarehouse({ schema })
  const { warehouse } = opened
  const { roles } = await createRoles(warehouse)
  for (const login of [OWNER, WORKER]) {
    await warehouse.query(
      'login',
      sql`create role ${sql.raw(login)} login password '${sql.raw(PASSWORD)}'`,
    )
  }
  await warehouse.query('grant', sql`grant ${sql.raw(roles.writer)} to ${sql.raw(WORKER)}`)
  // Not the schemas themselves: one table is enough to change it.
  await warehouse.query('grant', sql`grant ${sql.raw(roles.writer)} to ${sql.raw(OWNER)}`)
  await warehouse.query(
    'give away',
    sql`alter table ${sql.raw(schema)}.ports owner to ${sql.raw(OWNER)}`,
  )
  simulator = await startSameWorld({ shipments: 5 })
})
afterAll(async () => {
  await simulator.close()
  const { warehouse } = opened
  await warehouse.query(
    'give back',
    sql`alter table ${sql.raw(schema)}.ports owner to current_user`,
  )
  for (const role of [OWNER, WORKER, `${schema}_reader`, `${schema}_writer`]) {
    await warehouse.query('tidy up', sql`drop owned by ${sql.raw(role)}`)
    await warehouse.query('tidy up', sql`drop role ${sql.raw(role)}`)
  }
  await opened.drop()
})

async function runAs(login: string | undefined, ...args: readonly string[]) {
  const url = new URL(opened.url)
  if (login !== undefined) {
    url.username = login
    url.password = encodeURIComponent(PASSWORD)
  }
  const { exitCode, stdout, stderr } = await callCli(args, {
    DATABASE_URL: url.href,
    TRACKING_SCHEMA: schema,
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'silent',
  })
  return { exitCode, text: stdout + stderr }
}

async function countRuns(): Promise<number> {
  return (await opened.warehouse.query('look', sql`select from ${sql.raw(schema)}_sync.sync_runs`))
    .length
}

describe('a login that may more than it needs', { tags: ['G10'] }, () => {
  it.each([
    ['a superuser', undefined, 'is a superuser'],
    ['an owner of one table', OWNER, 'owns the schemas'],
  ])(
    '%s is warned of by check, and with --strict nothing is asked or written',
    { tags: ['G10'] },
    async (_what, login, excess) => {
      const warned = await runAs(login, 'check')
      expect(warned.exitCode).toBe(0)
      expect(warned.text).toMatch(
        new RegExp(`^ok +database .*; warning: \\w+ ${excess}; .*migrate --roles`, 'm'),
      )
      const strict = await runAs(login, 'check', '--strict')
      expect(strict.exitCode).toBe(5)
      expect(strict.text).toMatch(new RegExp(`^FAIL +database +\\w+ ${excess}`, 'm'))

      const [requests, runs] = [simulator.requests.total, await countRuns()]
      for (const command of ['backfill', 'sync', 'status', 'plan']) {
        const refused = await runAs(login, command, '--strict')
        expect(refused).toEqual({
          exitCode: 5,
          text: expect.stringMatching(
            new RegExp(`^error: refused, for TRACKING_STRICT: \\w+ ${excess}; .*\\n$`),
          ) as string,
        })
      }
      expect(simulator.requests.total).toBe(requests)
      expect(await countRuns()).toBe(runs)
    },
  )

  it(
    'one with the role of writers passes, syncs, and upgrades nothing',
    { tags: ['G10'] },
    async () => {
      const check = await runAs(WORKER, 'check', '--strict')
      expect(check.exitCode).toBe(0)
      expect(check.text).not.toMatch(/^ok +database .*warning/m)
      expect((await runAs(WORKER, 'backfill', '--strict')).exitCode).toBe(0)
      expect((await runAs(WORKER, 'sync', '--strict')).exitCode).toBe(0)
      const { warehouse } = opened
      const [row] = await warehouse.query(
        'look',
        sql<{ count: number }>`select count(*) as count from ${sql.raw(schema)}.shipments`,
      )
      expect(row?.count).toBe(5)

      // As before the last migration of a newer program.
      const newest = `delete from ${schema}_sync.migrations
      where version = (select max(version) from ${schema}_sync.migrations)
      returning version, name, checksum, applied_at::text`
      const [taken] = await warehouse.query('take', rawStatement<Record<string, unknown>>(newest))
      const older = await runAs(WORKER, 'sync', '--strict')
      expect(older.exitCode).toBe(5)
      expect(older.text).toMatch(/run `tracking-sync migrate` \(TRACKING_STRICT is true\)\n$/)
      await warehouse.query(
        'put back',
        rawStatement(
          `insert into ${schema}_sync.migrations (version, name, checksum, applied_at)
      values ($1, $2, $3, $4)`,
          [...Object.values(taken ?? {})],
        ),
      )
    },
  )
})
