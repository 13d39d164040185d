import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createRoles,
  SHOWN_TO_READERS,
  type RolesReport,
} from '../../../src/warehouse/schema/roles.js'
import { readShippedTables } from '../../../src/warehouse/schema/shipped-tables.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { withWarehouse } from '../../support/test-warehouse.js'

let scene: Logins
let report: RolesReport
const schema = `roles_${process.pid}`

/** As Supabase does it. */
const SEALING = `
create function auto_rls() returns event_trigger language plpgsql as $$
declare made record;
begin
    for made in
        select * from pg_event_trigger_ddl_commands() where command_tag = 'CREATE TABLE'
    loop
        execute format('alter table %s enable row level security', made.object_identity);
    end loop;
end $$;
create event trigger auto_rls on ddl_command_end when tag in ('CREATE TABLE')
    execute function auto_rls()`

/** Output of `check` before the roles exist. */
let told: { readonly owner: string; readonly reader: string }

beforeAll(async () => {
  scene = await openLogins({ schema, logins: { analyst: '', loader: '' }, isMigrated: false })
  await scene.run(SEALING)
  await prepareSchemas(scene.warehouse, { sleep: () => Promise.resolve() })
  await scene.run('drop event trigger auto_rls')
  const analyst = scene.nameOf('analyst')
  await scene.run(
    `grant usage on schema ${schema}_sync to ${analyst};
    grant select on ${schema}_sync.migrations to ${analyst}`,
  )
  told = { owner: await callAs('check'), reader: await callAs('check', 'analyst') }
  report = await createRoles(scene.warehouse)
  await scene.run(`grant ${report.roles.reader} to ${analyst}`)
  await scene.run(`grant ${report.roles.writer} to ${scene.nameOf('loader')}`)
})
afterAll(() => scene.close())

async function createAsLoader(of: string, login?: Parameters<typeof createRoles>[1]) {
  const options = { url: scene.urlOf('loader'), schema: of }
  return withWarehouse(options, (warehouse) => createRoles(warehouse, login))
}

/** Output of a command, with one space between words. */
async function callAs(line: string, login?: string): Promise<string> {
  const { stdout, stderr } = await scene.call(login, line.split(' '))
  return (stdout + stderr).replaceAll(/\s+/g, ' ')
}

const tryAs = (login: string, statement: string): Promise<string> => scene.tryAs(login, statement)

const insertPort = `insert into ${schema}.ports
  (port_id, _observed_at, _first_seen_at, _changed_at) values ('p', now(), now(), now())`

describe('roles', () => {
  it('are created once; a second time changes nothing', async () => {
    const again = await createRoles(scene.warehouse)
    expect([report.isDone, again.isDone]).toEqual([true, true])
    expect(again.statements.filter((statement) => statement.startsWith('create role'))).toEqual([])
  })

  const sync = `${schema}_sync`
  it.each([
    [
      'analyst',
      'may read data, views and the bookkeeping',
      'ok',
      [
        `select count(*) from ${schema}.containers`,
        `select * from ${schema}_parts.known_containers`,
        `select * from ${sync}.sync_runs`,
        `select count(*), state from ${sync}.webhook_notifications group by 2`,
      ],
    ],
    [
      'analyst',
      'may not read payloads, nor write',
      '42501',
      [
        insertPort,
        `insert into ${sync}.sync_runs (command) values ('sync')`,
        `delete from ${schema}_analytics.free_time_rules`,
        `select body from ${sync}.webhook_notifications`,
        `select headers from ${sync}.webhook_notifications`,
        `select payload from ${sync}.quarantine`,
        `create table ${schema}.mine (id int)`,
      ],
    ],
    [
      'loader',
      'may write rows of data and bookkeeping',
      'ok',
      [
        insertPort,
        `insert into ${sync}.sync_runs (command) values ('sync')`,
        `select * from ${sync}.migrations`,
        `select * from ${sync}.installed_views`,
      ],
    ],
    [
      'loader',
      'may not change the schema, nor rows that the owner acts on',
      '42501',
      [
        `create table ${schema}.mine (id int)`,
        `drop table ${schema}.ports`,
        `alter table ${schema}.ports add column mine int`,
        ...['migrations', 'installed_views'].flatMap((table) => [
          `insert into ${sync}.${table} default values`,
          `update ${sync}.${table} set checksum = ''`,
          `delete from ${sync}.${table}`,
          `truncate ${sync}.${table}`,
        ]),
      ],
    ],
  ])('%s %s', { tags: ['G9', 'FC1', 'release'] }, async (login, _, outcome, statements) => {
    for (const statement of statements) {
      const found = await tryAs(login, statement)
      expect({ statement, found }).toEqual({ statement, found: outcome })
    }
  })

  it('a reader may see each column of the bookkeeping or not', { tags: ['FC3'] }, async () => {
    const rows = await scene.run<{ hidden: string }>(
      `select table_name || '.' || column_name as hidden from information_schema.columns
      where table_schema = $1 and table_name not like 'stored\\_%\\__' and not has_column_privilege(
        $2, format('%I.%I', table_schema, table_name), column_name, 'select')
      order by 1`,
      [`${schema}_sync`, report.roles.reader],
    )
    expect(rows.map(({ hidden }) => hidden)).toEqual([
      'access_tokens.secret_hash',
      'quarantine.payload',
      'source_account.key_hash',
      'source_account.salt',
      'webhook_notifications.body',
      'webhook_notifications.headers',
    ])
    for (const table of Object.keys(SHOWN_TO_READERS)) {
      expect(await tryAs('analyst', `select * from ${schema}_sync.${table}`)).toBe('42501')
    }
  })

  it('a later table is for the reader and the writer', { tags: ['G9'] }, async () => {
    for (const [table, read] of [
      [`${schema}.later`, 'ok'],
      [`${schema}_sync.later`, '42501'],
    ] as const) {
      await scene.run(`create table ${table} (id int)`)
      expect(await tryAs('analyst', `select * from ${table}`)).toBe(read)
      expect(await tryAs('analyst', `insert into ${table} values (1)`)).toBe('42501')
      expect(await tryAs('loader', `insert into ${table} values (1)`)).toBe('ok')
    }
  })

  it('who may not create them gets the statements instead', { tags: ['G9', 'JD1'] }, async () => {
    const login = { user: `${schema}_b_query`, password: 'canary-of-a-reader' }
    const refused = await createAsLoader(`${schema}_b`, login)
    expect(refused.isDone).toBe(false)
    expect(refused.statements.slice(0, 3)).toEqual([
      `create role "${schema}_b_reader" nologin`,
      `create role "${schema}_b_writer" nologin`,
      `create role "${schema}_b_query" login password '…'`,
    ])
    expect(refused.statements.at(-1)).toBe(`grant "${schema}_b_reader" to "${schema}_b_query"`)
    expect(JSON.stringify(refused)).not.toContain(login.password)
  })

  it('who is not the owner is told, also of mere warnings', { tags: ['G9'] }, async () => {
    await scene.run(`create table ${schema}.unread (id int)`)
    await scene.run(`revoke select on ${schema}.unread from ${schema}_reader`)
    expect((await createAsLoader(schema)).isDone).toBe(false)
  })
})

describe('row-level security switched on from outside', { tags: ['JB4'] }, () => {
  it('for every table is told to a reader and to the owner, and goes with the roles', async () => {
    expect(told.reader).toContain(
      `hides their rows from ${scene.nameOf('analyst')}; their owner runs \`tracking-sync migrate --roles\``,
    )
    expect(told.owner).toMatch(
      /row-level security was switched on from outside for .* and \d+ more, so readers see no rows/,
    )
    const tables = await readShippedTables(scene.warehouse.names)
    expect(tables.length).toBeGreaterThan(50)
    expect(report.statements).toEqual(
      expect.arrayContaining(
        tables.map((table) => `alter table ${table} disable row level security`),
      ),
    )
    expect(await callAs('check', 'analyst')).toContain(`${schema} is at version`)
  })

  it('binds an owner where forced: `migrate --roles` ends it', { tags: ['release'] }, async () => {
    const others = `${schema}.not_ours`
    const list = `${schema}_sync.migrations`
    await scene.run(`create table ${others} (id int);
      alter table ${others} owner to ${scene.nameOf('loader')};
      alter table ${others} enable row level security;
      alter table ${list} owner to ${scene.nameOf('loader')};
      alter table ${list} enable row level security;
      alter table ${list} force row level security;
      create policy nobody on ${list} using (false)`)
    for (const command of ['check', 'migrate']) {
      expect(await callAs(command, 'loader')).toContain(
        `hides their rows from ${scene.nameOf('loader')};`,
      )
    }
    const mended = await callAs('migrate --roles', 'loader')
    expect(mended).toContain(`alter table ${list} disable row level security, which was`)
    expect(mended).not.toContain(others)
    expect(await callAs('check', 'loader')).toContain(`${schema} is at version`)
    await scene.run(
      `drop table ${others}; alter table ${list} owner to current_user; drop policy nobody on ${list}`,
    )
  })
})

describe('a schema that somebody else had made', { tags: ['JB13'] }, () => {
  const others = `${schema}_of_others`
  let simulator: Simulator
  const OF_OURS = 'version integer, name text, checksum text'

  async function tryToUse(command: string, login?: string): Promise<string> {
    const { exitCode, stdout, stderr } = await scene.call(login, [command], {
      TRACKING_SCHEMA: others,
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: simulator.apiKey,
    })
    expect({ command, exitCode }).toEqual({ command, exitCode: 5 })
    return stdout + stderr
  }

  beforeAll(async () => {
    simulator = await startSimulator({ shipments: 1, speed: 0, rateLimitPerMinute: null })
  })
  afterAll(() => simulator.close())

  it('is told with the way out, and nothing is left behind', { tags: ['release'] }, async () => {
    await scene.run(`create schema ${others}`)
    expect(await tryToUse('migrate', 'loader')).toContain(
      `grant create on schema ${others} to ${scene.nameOf('loader')}`,
    )
    await scene.run(`create table ${others}.containers (id int)`)
    for (const login of [undefined, 'loader']) {
      for (const command of ['check', 'migrate', 'sync']) {
        expect(await tryToUse(command, login)).toMatch(
          /_of_others\.containers has a name that this program needs, .*set TRACKING_SCHEMA to a name of its own/,
        )
      }
    }
    const list = `${others}_sync.migrations`
    await scene.run(`drop table ${others}.containers; create schema ${others}_sync`)
    // Of another program, of another shape under our columns' names, and empty as a restored schema is.
    for (const columns of ['id int', 'version text, name text, checksum text', OF_OURS]) {
      await scene.run(`create table ${list} (${columns})`)
      for (const command of ['check', 'migrate']) {
        expect(await tryToUse(command)).toContain(
          `${list} has a name that this program needs, but nothing shows`,
        )
      }
      await scene.run(`drop table ${list}`)
    }
    const left = await scene.run<{ schema: string }>(
      'select nspname as schema from pg_namespace where starts_with(nspname, $1) order by 1',
      [others],
    )
    expect(left.map((row) => row.schema)).toEqual([others, `${others}_sync`])
  })
})
