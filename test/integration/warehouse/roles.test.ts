import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import {
  createRoles,
  SHOWN_TO_READERS,
  type RolesReport,
} from '../../../src/warehouse/schema/roles.js'
import { readShippedTables } from '../../../src/warehouse/schema/shipped-tables.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

let opened: TestWarehouse
let report: RolesReport
/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `roles_${process.pid}`
const logins = { analyst: `${schema}_analyst`, loader: `${schema}_loader` }

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
  opened = await createTestWarehouse({ schema, isMigrated: false })
  const { warehouse } = opened
  await warehouse.query('seal', rawStatement(SEALING))
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
  await warehouse.query('seal no more', sql`drop event trigger auto_rls`)
  for (const login of Object.values(logins)) {
    await warehouse.query(
      'login',
      sql`create role ${sql.raw(login)} login password 'for this test'`,
    )
  }
  await warehouse.query(
    'grant',
    sql`grant usage on schema ${sql.raw(schema)}_sync to ${sql.raw(logins.analyst)};
    grant select on ${sql.raw(schema)}_sync.migrations to ${sql.raw(logins.analyst)}`,
  )
  told = { owner: await callAs('check'), reader: await callAs('check', logins.analyst) }
  report = await createRoles(warehouse)
  await warehouse.query(
    'grant',
    sql`grant ${sql.raw(report.roles.reader)} to ${sql.raw(logins.analyst)}`,
  )
  await warehouse.query(
    'grant',
    sql`grant ${sql.raw(report.roles.writer)} to ${sql.raw(logins.loader)}`,
  )
})
afterAll(async () => {
  const { warehouse } = opened
  for (const role of [...Object.values(logins), report.roles.reader, report.roles.writer]) {
    await warehouse.query('tidy up', sql`drop owned by ${sql.raw(role)}`)
    await warehouse.query('tidy up', sql`drop role ${sql.raw(role)}`)
  }
  await opened.drop()
})

/** The address of the database for a login; undefined: for the owner. */
function urlOf(login: string | undefined): string {
  const url = new URL(opened.url)
  if (login !== undefined) {
    url.username = login
    url.password = encodeURIComponent('for this test')
  }
  return url.href
}

/** Output of a command, with one space between words. */
async function callAs(line: string, login?: string): Promise<string> {
  const settings = { DATABASE_URL: urlOf(login), TRACKING_SCHEMA: schema }
  const { stdout, stderr } = await callCli(line.split(' '), settings)
  return (stdout + stderr).replaceAll(/\s+/g, ' ')
}

/** `ok`, or the SQLSTATE of the refusal. */
async function tryAs(login: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: urlOf(login) })
  await client.connect()
  try {
    await client.query(statement)
    return 'ok'
  } catch (error) {
    return (error as { code?: string }).code ?? 'no code'
  } finally {
    await client.end()
  }
}

const insertPort = `insert into ${schema}.ports
  (port_id, _observed_at, _first_seen_at, _changed_at) values ('p', now(), now(), now())`

describe('roles', () => {
  it('are created once; a second time changes nothing', async () => {
    expect(report).toMatchObject({
      isDone: true,
      roles: { reader: `${schema}_reader`, writer: `${schema}_writer` },
    })
    const again = await createRoles(opened.warehouse)
    expect(again.isDone).toBe(true)
    expect(again.statements.filter((statement) => statement.startsWith('create role'))).toEqual([])
  })

  it(
    'a reader reads data, views and the bookkeeping without its payloads, and writes nothing',
    { tags: ['G9'] },
    async () => {
      const sync = `${schema}_sync`
      expect({
        table: await tryAs(logins.analyst, `select count(*) from ${schema}.containers`),
        view: await tryAs(logins.analyst, `select * from ${schema}_analytics.known_containers`),
        runs: await tryAs(logins.analyst, `select * from ${sync}.sync_runs`),
        queue: await tryAs(
          logins.analyst,
          `select count(*), state from ${sync}.webhook_notifications group by 2`,
        ),
        write: await tryAs(logins.analyst, insertPort),
        run: await tryAs(logins.analyst, `insert into ${sync}.sync_runs (command) values ('sync')`),
        rules: await tryAs(logins.analyst, `delete from ${schema}_analytics.free_time_rules`),
        inbox: await tryAs(logins.analyst, `select body from ${sync}.webhook_notifications`),
        headers: await tryAs(logins.analyst, `select headers from ${sync}.webhook_notifications`),
        quarantine: await tryAs(logins.analyst, `select payload from ${sync}.quarantine`),
        create: await tryAs(logins.analyst, `create table ${schema}.mine (id int)`),
      }).toEqual({
        table: 'ok',
        view: 'ok',
        runs: 'ok',
        queue: 'ok',
        write: '42501',
        run: '42501',
        rules: '42501',
        inbox: '42501',
        headers: '42501',
        quarantine: '42501',
        create: '42501',
      })
    },
  )

  it(
    'a reader may see each column of the bookkeeping or not: none is undecided',
    { tags: ['FC3'] },
    async () => {
      const rows = await opened.warehouse.query(
        'look',
        sql<{ hidden: string }>`select table_name || '.' || column_name as hidden
      from information_schema.columns
      where table_schema = ${`${schema}_sync`}
          and table_name not like 'stored\\_%\\__'
          and not has_column_privilege(${report.roles.reader}, format('%I.%I', table_schema, table_name), column_name, 'select')
      order by 1`,
      )
      expect(rows.map(({ hidden }) => hidden)).toEqual([
        'quarantine.payload',
        'source_account.key_hash',
        'source_account.salt',
        'webhook_notifications.body',
        'webhook_notifications.headers',
      ])
      for (const table of Object.keys(SHOWN_TO_READERS)) {
        expect(await tryAs(logins.analyst, `select * from ${schema}_sync.${table}`)).toBe('42501')
      }
    },
  )

  it('a writer writes no row that the owner acts on', { tags: ['FC1'] }, async () => {
    for (const table of ['migrations', 'installed_views']) {
      const name = `${schema}_sync.${table}`
      expect({
        read: await tryAs(logins.loader, `select * from ${name}`),
        insert: await tryAs(logins.loader, `insert into ${name} default values`),
        update: await tryAs(logins.loader, `update ${name} set checksum = ''`),
        delete: await tryAs(logins.loader, `delete from ${name}`),
        truncate: await tryAs(logins.loader, `truncate ${name}`),
      }).toEqual({
        read: 'ok',
        insert: '42501',
        update: '42501',
        delete: '42501',
        truncate: '42501',
      })
    }
  })

  it(
    'a writer writes rows of data and bookkeeping, and changes no schema',
    { tags: ['G9'] },
    async () => {
      expect({
        write: await tryAs(logins.loader, insertPort),
        run: await tryAs(
          logins.loader,
          `insert into ${schema}_sync.sync_runs (command) values ('sync')`,
        ),
        create: await tryAs(logins.loader, `create table ${schema}.mine (id int)`),
        drop: await tryAs(logins.loader, `drop table ${schema}.ports`),
        alter: await tryAs(logins.loader, `alter table ${schema}.ports add column mine int`),
      }).toEqual({ write: 'ok', run: 'ok', create: '42501', drop: '42501', alter: '42501' })
    },
  )

  it(
    'a table that comes later is for the reader to read and for the writer to write',
    { tags: ['G9'] },
    async () => {
      const tables = [`${schema}.later`, `${schema}_sync.later`]
      for (const table of tables) {
        await opened.warehouse.query('later', sql`create table ${sql.raw(table)} (id int)`)
      }
      const outcomes = []
      for (const table of tables) {
        outcomes.push([
          await tryAs(logins.analyst, `select * from ${table}`),
          await tryAs(logins.analyst, `insert into ${table} values (1)`),
          await tryAs(logins.loader, `insert into ${table} values (1)`),
        ])
      }
      expect(outcomes).toEqual([
        ['ok', '42501', 'ok'],
        ['42501', '42501', 'ok'],
      ])
    },
  )

  it(
    'one who may not create them gets the statements instead',
    { tags: ['G9', 'JD1'] },
    async () => {
      const warehouse = createWarehouse({
        url: urlOf(logins.loader),
        schema: `${schema}_b`,
        logger: silentLogger,
      })
      try {
        const login = { user: `${schema}_b_query`, password: 'canary-of-a-reader' }
        const refused = await createRoles(warehouse, login)
        expect(refused.isDone).toBe(false)
        expect(refused.statements.slice(0, 3)).toEqual([
          `create role "${schema}_b_reader" nologin`,
          `create role "${schema}_b_writer" nologin`,
          `create role "${schema}_b_query" login password '…'`,
        ])
        expect(refused.statements.at(-1)).toBe(`grant "${schema}_b_reader" to "${schema}_b_query"`)
        expect(JSON.stringify(refused)).not.toContain(login.password)
      } finally {
        await warehouse.close()
      }
    },
  )

  it(
    'one who is not the owner is told, also where PostgreSQL only warns',
    { tags: ['G9'] },
    async () => {
      await opened.warehouse.query('new', sql`create table ${sql.raw(schema)}.unread (id int)`)
      await opened.warehouse.query(
        'hide',
        sql`revoke select on ${sql.raw(schema)}.unread from ${sql.raw(schema)}_reader`,
      )
      const warehouse = createWarehouse({ url: urlOf(logins.loader), schema, logger: silentLogger })
      try {
        expect((await createRoles(warehouse)).isDone).toBe(false)
      } finally {
        await warehouse.close()
      }
    },
  )
})

describe('row-level security switched on from outside', { tags: ['JB4'] }, () => {
  it('for every table is told to a reader and to the owner, and goes with the roles', async () => {
    expect(told.reader).toContain(
      `hides their rows from ${logins.analyst}; their owner runs \`tracking-sync migrate --roles\``,
    )
    expect(told.owner).toMatch(
      /row-level security was switched on from outside for .* and \d+ more, so readers see no rows/,
    )
    const tables = await readShippedTables(opened.warehouse.names)
    expect(tables.length).toBeGreaterThan(50)
    expect(report.statements).toEqual(
      expect.arrayContaining(
        tables.map((table) => `alter table ${table} disable row level security`),
      ),
    )
    expect(await callAs('check', logins.analyst)).toContain(`${schema} is at version`)
  })

  it('binds an owner where it is forced: `migrate --roles` switches it off', async () => {
    const others = `${schema}.not_ours`
    const list = `${schema}_sync.migrations`
    await opened.warehouse.query(
      'seal',
      sql`create table ${sql.raw(others)} (id int);
      alter table ${sql.raw(others)} owner to ${sql.raw(logins.loader)};
      alter table ${sql.raw(others)} enable row level security;
      alter table ${sql.raw(list)} owner to ${sql.raw(logins.loader)};
      alter table ${sql.raw(list)} enable row level security;
      alter table ${sql.raw(list)} force row level security;
      create policy nobody on ${sql.raw(list)} using (false)`,
    )
    for (const command of ['check', 'migrate']) {
      expect(await callAs(command, logins.loader)).toContain(
        `hides their rows from ${logins.loader};`,
      )
    }
    const mended = await callAs('migrate --roles', logins.loader)
    expect(mended).toContain(`alter table ${list} disable row level security, which was`)
    expect(mended).not.toContain(others)
    expect(await callAs('check', logins.loader)).toContain(`${schema} is at version`)
    await opened.warehouse.query(
      'put back',
      sql`drop table ${sql.raw(others)}; alter table ${sql.raw(list)} owner to current_user; drop policy nobody on ${sql.raw(list)}`,
    )
  })
})

describe('a schema that somebody else had made', { tags: ['JB13'] }, () => {
  const others = `${schema}_of_others`
  let simulator: Simulator
  const OF_OURS = 'version integer, name text, checksum text'

  async function tryToUse(command: string, login?: string): Promise<string> {
    const { exitCode, stdout, stderr } = await callCli([command], {
      DATABASE_URL: urlOf(login),
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

  it('is told with the way out, and nothing is left behind', async () => {
    await opened.warehouse.query('make', sql`create schema ${sql.raw(others)}`)
    expect(await tryToUse('migrate', logins.loader)).toContain(
      `grant create on schema ${others} to ${logins.loader}`,
    )
    await opened.warehouse.query('make', sql`create table ${sql.raw(others)}.containers (id int)`)
    for (const login of [undefined, logins.loader]) {
      for (const command of ['check', 'migrate', 'sync']) {
        expect(await tryToUse(command, login)).toMatch(
          /_of_others\.containers has a name that this program needs, .*set TRACKING_SCHEMA to a name of its own/,
        )
      }
    }
    const list = `${others}_sync.migrations`
    await opened.warehouse.query(
      'drop',
      sql`drop table ${sql.raw(others)}.containers; create schema ${sql.raw(others)}_sync`,
    )
    // Of another program, of another shape under our columns' names, and empty as a restored schema is.
    for (const columns of ['id int', 'version text, name text, checksum text', OF_OURS]) {
      await opened.warehouse.query('make', sql`create table ${sql.raw(list)} (${sql.raw(columns)})`)
      for (const command of ['check', 'migrate']) {
        expect(await tryToUse(command)).toContain(
          `${list} has a name that this program needs, but nothing shows`,
        )
      }
      await opened.warehouse.query('drop', sql`drop table ${sql.raw(list)}`)
    }
    const left = await opened.warehouse.query(
      'look',
      sql<{
        schema: string
      }>`select nspname as schema from pg_namespace where starts_with(nspname, ${others}) order by 1`,
    )
    expect(left.map((row) => row.schema)).toEqual([others, `${others}_sync`])
  })
})
