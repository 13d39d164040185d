import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import type { CliCall } from '../../support/call-cli.js'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { useFolder } from '../../support/temp-folder.js'

const schema = `people_${process.pid}`
type Who = 'owner' | 'writer' | 'reader' | 'none'

const folder = useFolder('file')
let containerId: string
let scene: Logins
let simulator: Simulator

beforeAll(async () => {
  const logins = { owner: 'createrole', writer: '', reader: '', none: '', mixed: '' }
  scene = await openLogins({ schema, logins, isMigrated: false })
  await scene.run(
    `alter database "${new URL(scene.url).pathname.slice(1)}" owner to ${scene.nameOf('owner')}`,
  )
  simulator = await startSameWorld({ shipments: 3 })
  expect((await callAs('owner', 'migrate', '--roles')).exitCode).toBe(0)
  for (const who of ['reader', 'writer'] as const) {
    await scene.run(`grant ${scene[who]} to ${scene.nameOf(who)}`)
  }
  expect((await callAs('owner', 'backfill')).exitCode).toBe(0)
  const [row] = await scene.run<{ id: string }>(
    `select min(container_id) as id from ${schema}.containers`,
  )
  containerId = row!.id
  await scene.run(
    `insert into ${schema}_sync.quarantine
        (stream, resource_type, record_id, reason, pointer, payload, payload_hash, source)
    select 'containers', 'container', n::text, 'for this test', '', '{}', n::text, 'sync'
    from generate_series(1, 4) as n`,
  )
})
afterAll(async () => {
  await simulator.close()
  await scene.close()
})

beforeEach(() => {
  simulator.requests.reset()
})

/** As the superuser where no login is named. */
function callAs(who: string | undefined, ...args: readonly string[]): Promise<CliCall> {
  return scene.call(who, args, {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_WEBHOOK_SECRET: 'a-secret-that-is-long-enough-for-this',
  })
}

const LACKS =
  /^error: (\w+) may not write the tables of \w+, as this command does; use a login that has the role \w+_writer, or .* `grant "\w+_writer" to "\1"`$/m
const UNREADABLE = new RegExp(
  `^error: ${schema}_as_none may not read the schemas of ${schema}; their owner runs \`tracking-sync migrate --roles\` and grants it ${schema}_reader to read, or ${schema}_writer to write$`,
)
const PAYLOADS =
  /permission denied for table quarantine" \(42501\); use a login that may, or have its owner grant it/

const EXAMPLES = fileURLToPath(new URL('../../../config/', import.meta.url))

/**
 * The kinds of commands, each with the login that may least and still run them, and the sentences
 * with which others are refused with exit 5. A role has what those below it have.
 */
const KINDS = {
  any: ['none', {}],
  reading: ['reader', { none: UNREADABLE }],
  writing: ['writer', { reader: LACKS, none: LACKS }],
  payloads: ['writer', { reader: PAYLOADS, none: UNREADABLE }],
} as const satisfies Record<string, readonly [Who, Partial<Record<Who, RegExp>>]>

const COMMANDS: Readonly<Record<keyof typeof KINDS, readonly string[]>> = {
  any: [
    'config',
    'webhooks events',
    'webhooks ips',
    'webhooks list',
    'webhooks failed',
    'query',
    'query data_quality --explain',
  ],
  reading: [
    'query data_quality',
    'query pickups --as-of 2026-03-01',
    'query|select count(*) from containers',
    'query|select count(*) from containers|--as-of|2026-03-01',
    'query|select max(sync_run_id) from sync_runs',
    'evidence',
    // Every table.
    'export parquet --only charged_days --only tables',
    'rules export',
    'invoices export',
    'status',
    'status --json',
    'plan',
    'tokens list',
    'verify --sample 2',
    'migrate',
  ],
  writing: [
    `rules|import|${EXAMPLES}free-time-rules.example.csv`,
    `invoices|import|${EXAMPLES}invoices.example.csv`,
    'quarantine drop 1',
    'tokens create --name one --questions costs',
    'quarantine retry --stream shipments --all',
    'backfill',
    'backfill --stream shipments',
    'sync',
    'webhooks replay --all',
    'webhooks reconcile',
  ],
  payloads: ['quarantine list', 'quarantine show 4'],
}

const LINES = Object.entries(COMMANDS).flatMap(([kind, lines]) =>
  lines.map((line) => [line, ...KINDS[kind as keyof typeof KINDS]] as const),
)

describe('what a login may do with the program is what its role may', { tags: ['FC3'] }, () => {
  it.each(LINES)('%s: %s at the least', { tags: ['release'] }, async (line, least, refused) => {
    const args = line.includes('|') ? line.split('|') : line.split(' ')
    const argsOf = (who: string): string[] => [
      ...args,
      ...(line === 'evidence' ? [containerId] : []),
      ...(/^(export parquet|evidence)/.test(line)
        ? ['--out', join(folder.path, `${args[0]!}-${who}`)]
        : []),
    ]
    const { exitCode, stderr } = await callAs(least, ...argsOf(least))
    // Runs also show their progress there.
    expect({ exitCode, errors: stderr.match(/^error:.*/gm) }).toEqual({
      exitCode: 0,
      errors: null,
    })
    for (const [who, sentence] of Object.entries(refused)) {
      const call = await callAs(who, ...argsOf(who))
      expect(call.stderr.split('\n')[0]).toMatch(sentence)
      expect({ who, exitCode: call.exitCode }).toEqual({ who, exitCode: 5 })
    }
  })

  it.each(['serve --no-receiver --port 0', 'custom-fields set some-id slug x', 'sync'])(
    '%s is refused, with the statement that grants it, before the service is asked',
    { tags: ['G9', 'JE9'] },
    async (line) => {
      for (const who of ['reader', 'none'] as const) {
        const { exitCode, stderr } = await callAs(who, ...line.split(' '))
        expect({ who, exitCode }).toEqual({ who, exitCode: 5 })
        expect(stderr).toMatch(LACKS)
      }
      expect(simulator.requests.total).toBe(0)
    },
  )

  it('an upgrade is the owner’s: others are told, and migrate renews what the roles may', async () => {
    const rows = await scene.run(
      `delete from ${schema}_sync.installed_views where view_name = 'freshness' returning *`,
    )
    expect(rows.length).toBeGreaterThan(0)
    await scene.run(`revoke select on all tables in schema ${schema}_sync from ${scene.reader}`)
    for (const who of ['writer', 'reader'] as const) {
      const { exitCode, stderr } = await callAs(who, 'status')
      expect({ who, exitCode }).toEqual({ who, exitCode: 5 })
      expect(stderr).toMatch(/their owner runs `tracking-sync migrate/)
    }
    expect((await callAs('owner', 'migrate', '--roles')).exitCode).toBe(0)
    for (const who of ['writer', 'reader'] as const) {
      expect({ who, ...(await callAs(who, 'status')) }).toMatchObject({ who, exitCode: 0 })
    }
  })
})

/** Each with the first server that knows it. */
const LIMITS = [
  ['default_transaction_read_only', 14, 'nothing can be written here: default_transaction_read'],
  ['transaction_timeout', 17, '(25P04); transaction_timeout of this login is too short'],
] as const

it('a login with a limit is told it', { tags: ['JD7'] }, async () => {
  const login = scene.nameOf('writer')
  const [server] = await scene.run<{ version: number }>(
    `select current_setting('server_version_num')::integer / 10000 as version`,
  )
  const known = LIMITS.filter(([, first]) => server!.version >= first)
  expect(known).not.toEqual([])
  for (const [name, , told] of known) {
    await scene.run(`alter role ${login} set ${name} = 1`)
    const { exitCode, stderr } = await callAs('writer', 'sync')
    await scene.run(`alter role ${login} reset ${name}`)
    expect({ name, exitCode }).toEqual({ name, exitCode: 5 })
    expect(stderr).toContain(told)
    expect(stderr).not.toContain('check that PostgreSQL runs')
  }
  // And reads where it may only read.
  await scene.run(`alter role ${login} set default_transaction_read_only = on`)
  const calls = [
    await callAs('writer', 'status'),
    await callAs('writer', 'query', 'select count(*) from containers'),
  ]
  await scene.run(`alter role ${login} reset default_transaction_read_only`)
  expect(calls.map(({ exitCode }) => exitCode)).toEqual([0, 0])
})

describe('a login that may more than it needs', { tags: ['G10'] }, () => {
  it.each([
    ['a superuser', undefined, 'is a superuser'],
    ['an owner of one table', 'mixed', 'owns the schemas'],
  ])('%s is warned of or refused', { tags: ['release'] }, async (_what, login, excess) => {
    await scene.run(`grant ${scene.writer} to ${scene.nameOf('mixed')}`)
    // Not the schemas themselves: one table is enough to change it.
    await scene.run(`alter table ${schema}.ports owner to ${scene.nameOf('mixed')}`)
    const warned = await callAs(login, 'check')
    expect(warned.exitCode).toBe(0)
    expect(warned.stdout).toMatch(
      new RegExp(`^ok +database .*; warning: \\w+ ${excess}; .*migrate --roles`, 'm'),
    )
    const strict = await callAs(login, 'check', '--strict')
    expect(strict.exitCode).toBe(5)
    expect(strict.stdout).toMatch(new RegExp(`^FAIL +database +\\w+ ${excess}`, 'm'))

    const countRuns = async () => (await scene.run(`select from ${schema}_sync.sync_runs`)).length
    const [requests, runs] = [simulator.requests.total, await countRuns()]
    for (const command of ['backfill', 'sync', 'status', 'plan']) {
      const { exitCode, stdout, stderr } = await callAs(login, command, '--strict')
      expect({ exitCode, text: stdout + stderr }).toEqual({
        exitCode: 5,
        text: expect.stringMatching(
          new RegExp(`^error: refused, for TRACKING_STRICT: \\w+ ${excess}; .*\\n$`),
        ) as string,
      })
    }
    expect(simulator.requests.total).toBe(requests)
    expect(await countRuns()).toBe(runs)
    await scene.run(`alter table ${schema}.ports owner to ${scene.nameOf('owner')}`)
  })

  it('one with the role of writers passes, syncs, and upgrades nothing', async () => {
    const check = await callAs('writer', 'check', '--strict')
    expect(check.exitCode).toBe(0)
    expect(check.stdout).not.toMatch(/^ok +database .*warning/m)
    expect((await callAs('writer', 'sync', '--strict')).exitCode).toBe(0)
    // As before the last migration of a newer program.
    await scene.run(
      `create temp table taken as select * from ${schema}_sync.migrations order by version desc limit 1;
        delete from ${schema}_sync.migrations where version in (select version from taken)`,
    )
    const older = await callAs('writer', 'sync', '--strict')
    expect(older.exitCode).toBe(5)
    expect(older.stderr).toMatch(/run `tracking-sync migrate` \(TRACKING_STRICT is true\)\n$/)
    await scene.run(`insert into ${schema}_sync.migrations select * from taken`)
  })
})
