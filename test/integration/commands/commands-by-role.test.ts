import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `people_${process.pid}`
const PASSWORD = 'for this test'
const WHO = ['owner', 'writer', 'reader', 'none'] as const
type Who = (typeof WHO)[number]
const loginOf = (who: Who): string => `${schema}_as_${who}`

let folder: string
let containerId: string
let database: TestDatabase
let simulator: Simulator
let admin: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  for (const who of WHO) {
    const right = who === 'owner' ? 'createrole' : ''
    await admin.query(`create role ${loginOf(who)} login password '${PASSWORD}' ${right}`)
  }
  await admin.query(`alter database ${database.name} owner to ${loginOf('owner')}`)
  simulator = await startSimulator({ shipments: 3, speed: 0, rateLimitPerMinute: null })
  expect((await callAs('owner', 'migrate', '--roles')).exitCode).toBe(0)
  for (const who of ['reader', 'writer'] as const) {
    await admin.query(`grant ${schema}_${who} to ${loginOf(who)}`)
  }
  expect((await callAs('owner', 'backfill')).exitCode).toBe(0)
  folder = await mkdtemp(join(tmpdir(), 'by-role-'))
  const { rows } = await admin.query<{ id: string }>(
    `select min(container_id) as id from ${schema}.containers`,
  )
  containerId = rows[0]!.id
  await admin.query(
    `insert into ${schema}_sync.quarantine
        (stream, resource_type, record_id, reason, pointer, payload, payload_hash, source)
    select 'containers', 'container', n::text, 'for this test', '', '{}', n::text, 'sync'
    from generate_series(1, 4) as n`,
  )
})
afterAll(async () => {
  await simulator.close()
  const names = [...WHO.map(loginOf), `${schema}_reader`, `${schema}_writer`]
  await admin.query(`reassign owned by ${loginOf('owner')} to current_user`)
  for (const name of names) {
    await admin.query(`drop owned by ${name}`)
    await admin.query(`drop role ${name}`)
  }
  await admin.end()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function callAs(who: Who, ...args: readonly string[]): Promise<CliCall> {
  const url = new URL(database.url)
  url.username = loginOf(who)
  url.password = encodeURIComponent(PASSWORD)
  return callCli(args, {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_WEBHOOK_SECRET: 'a-secret-that-is-long-enough-for-this',
    TRACKING_SCHEMA: schema,
    TRACKING_LOG_LEVEL: 'silent',
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    DATABASE_URL: url.href,
  })
}

/** Done, or refused with exit 5 and this sentence. */
type Outcome = 'ok' | RegExp

const LACKS =
  /^error: (\w+) may not write the tables of \w+, as this command does; use a login that has the role \w+_writer, or .* `grant "\w+_writer" to "\1"`$/m
const UNREADABLE = new RegExp(
  `^error: ${schema}_as_none may not read the schemas of ${schema}; their owner runs \`tracking-sync migrate --roles\` and grants it ${schema}_reader to read, or ${schema}_writer to write$`,
)
const PAYLOADS =
  /permission denied for table quarantine" \(42501\); use a login that may, or have its owner grant it/

const EXAMPLES = fileURLToPath(new URL('../../../config/', import.meta.url))

const ANY: readonly Outcome[] = ['ok', 'ok', 'ok', 'ok']
const READING: readonly Outcome[] = ['ok', 'ok', 'ok', UNREADABLE]
const WRITING: readonly Outcome[] = ['ok', 'ok', LACKS, LACKS]

/** Each command with the outcome for an owner, a writer, a reader and a login without a role. */
const COMMANDS: readonly (readonly [string, readonly Outcome[]])[] = [
  ['config', ANY],
  ['webhooks events', ANY],
  ['webhooks ips', ANY],
  ['webhooks list', ANY],
  ['webhooks failed', ANY],
  ['query', ANY],
  ['query freshness --explain', ANY],
  ['query freshness', READING],
  ['query pickup_worklist', READING],
  ['query pickup_worklist --as-of 2026-03-01', READING],
  ['query|select count(*) from containers', READING],
  ['query|select count(*) from containers|--as-of|2026-03-01', READING],
  ['query|select max(sync_run_id) from sync_runs', READING],
  ['evidence', READING],
  ['export parquet --only charge_days', READING],
  ['rules export', READING],
  [`rules|import|${EXAMPLES}free-time-rules.example.csv`, WRITING],
  ['invoices export', READING],
  [`invoices|import|${EXAMPLES}invoices.example.csv`, WRITING],
  ['status', READING],
  ['status --json', READING],
  ['plan', READING],
  ['verify --sample 2', READING],
  ['migrate', READING],
  ['quarantine list', ['ok', 'ok', PAYLOADS, UNREADABLE]],
  ['quarantine show 4', ['ok', 'ok', PAYLOADS, UNREADABLE]],
  ['quarantine drop', WRITING],
  ['quarantine retry --stream shipments --all', WRITING],
  ['backfill', WRITING],
  ['backfill --stream shipments', WRITING],
  ['sync', WRITING],
  ['replay --all', WRITING],
  ['webhooks reconcile', WRITING],
]

describe('what a login may do with the program is what its role may', () => {
  it.each(
    COMMANDS.flatMap(([line, outcomes]) =>
      WHO.map((who, index) => [who, line, outcomes[index]!] as const),
    ),
  )('%s: %s', { tags: ['FC3'] }, async (who, line, outcome) => {
    const args = line.includes('|') ? line.split('|') : line.split(' ')
    // One entry for each that may.
    if (line === 'quarantine drop') args.push(String(WHO.indexOf(who) + 1))
    if (line.startsWith('export parquet')) {
      // The reader may read the least: every table is tried as the reader.
      const tables = who === 'reader' ? 'tables' : 'ports'
      args.push('--only', tables, '--out', join(folder, `lake-${who}`))
    }
    if (line === 'evidence') args.push(containerId, '--out', join(folder, who))
    const { exitCode, stderr } = await callAs(who, ...args)
    if (outcome === 'ok') {
      // Runs also show their progress there.
      expect({ exitCode, errors: stderr.match(/^error:.*/gm) }).toEqual({
        exitCode: 0,
        errors: null,
      })
    } else {
      expect(stderr.split('\n')[0]).toMatch(outcome)
      expect(exitCode).toBe(5)
    }
  })

  it('check tells each which of its lines fails', { tags: ['FC3'] }, async () => {
    for (const who of WHO) {
      const { exitCode, stdout } = await callAs(who, 'check')
      const schemaLine = stdout.split('\n').find((line) => line.includes(' schema ')) ?? ''
      if (who === 'none') {
        expect(schemaLine).toMatch(/^FAIL +schema +\w+ may not read the schemas of/)
        expect(exitCode).toBe(5)
      } else {
        expect(schemaLine).toMatch(/^ok +schema +\w+ is at version \d+$/)
        expect({ who, exitCode }).toEqual({ who, exitCode: 0 })
      }
    }
  })

  it('serve starts for none that may not write', { tags: ['FC3'] }, async () => {
    for (const who of ['reader', 'none'] as const) {
      const { exitCode, stderr } = await callAs(who, 'serve', '--no-receiver', '--port', '0')
      expect({ who, exitCode }).toEqual({ who, exitCode: 5 })
      expect(stderr).toMatch(/may not write the tables of \w+, as this command does/)
    }
  })

  it('custom-fields set is refused before the service is asked', { tags: ['FC3'] }, async () => {
    simulator.requests.reset()
    for (const who of ['reader', 'none'] as const) {
      const { exitCode, stderr } = await callAs(who, 'custom-fields', 'set', 'some-id', 'slug', 'x')
      expect({ who, exitCode }).toEqual({ who, exitCode: 5 })
      expect(stderr).toMatch(LACKS)
    }
    expect(simulator.requests.total).toBe(0)
  })

  it(
    'an upgrade is the owner’s: others are told, and migrate renews what the roles may',
    { tags: ['FC3'] },
    async () => {
      const { rows } = await admin.query<Record<string, unknown>>(
        `delete from ${schema}_sync.installed_views where view_name = 'freshness' returning *`,
      )
      expect(rows.length).toBeGreaterThan(0)
      await admin.query(
        `revoke select on all tables in schema ${schema}_sync from ${schema}_reader`,
      )
      for (const who of ['writer', 'reader'] as const) {
        const { exitCode, stderr } = await callAs(who, 'status')
        expect({ who, exitCode }).toEqual({ who, exitCode: 5 })
        expect(stderr).toMatch(/their owner runs `tracking-sync migrate/)
      }
      expect((await callAs('owner', 'migrate', '--roles')).exitCode).toBe(0)
      for (const who of ['writer', 'reader'] as const) {
        expect({ who, ...(await callAs(who, 'status')) }).toMatchObject({ who, exitCode: 0 })
      }
    },
  )
})
