import { sql } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ConfigError, ConnectorError } from '../../../src/base/errors.js'
import {
  readTable,
  streamTable,
  type TableAnswer,
} from '../../../src/extensions/answers/read-answer.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { describeReader } from '../../../src/extensions/doctor/reader-rights.js'
import { createRoles, keepReader } from '../../../src/warehouse/schema/roles.js'
import type { CliCall } from '../../support/call-cli.js'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { withWarehouse } from '../../support/test-warehouse.js'
import { withClient } from '../../support/with-client.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `wall_${process.pid}`
const WHO = ['reader', 'writer', 'owner'] as const
const OTHERS = ['files', 'mayfiles'] as const

let scene: Logins
const nameOf = (who: string): string => scene.nameOf(who)

beforeAll(async () => {
  const logins = { writer: '', owner: '', files: '', mayfiles: '' }
  scene = await openLogins({ schema, logins })
  const { roles } = await createRoles(scene.warehouse)
  await scene.run(`grant ${roles.writer} to ${nameOf('writer')}`)
  for (const name of Object.values(scene.warehouse.names)) {
    await scene.run(`alter schema ${name} owner to ${nameOf('owner')}`)
  }
  await scene.run(`grant select on all tables in schema ${schema}_sync to ${nameOf('owner')}`)
  for (const who of ['owner', ...OTHERS]) await scene.run(`grant ${roles.reader} to ${nameOf(who)}`)
  // By way of another role, which it may take.
  await scene.run(
    `create role ${schema}_middle in role pg_read_server_files;
    grant ${schema}_middle to ${nameOf('mayfiles')};
    grant pg_write_server_files to ${nameOf('files')}`,
  )
  await keepReader(scene.warehouse, scene.urlOf('reader'))
  await scene.run(
    `create schema ${schema}_evil;
    grant usage on schema ${schema}_evil to public;
    create function ${schema}_evil.run(what text) returns void language plpgsql
    as $$ begin execute what; end $$;
    insert into ${schema}_sync.webhook_notifications
        (notification_id, event, created_at, received_at, state, body)
    values ('n', 'e', now(), now(), 'received', 'a payload')`,
  )
})
afterAll(() => scene.close())

/** As `query` asks it: with a login of its own, or as the login that is there. */
async function ask(who: string, sqlText: string, timeoutMs = 20_000): Promise<TableAnswer> {
  const url = who === 'superuser' ? scene.url : scene.urlOf(who)
  const options = { url, schema, isReadOnly: true, statementTimeoutMs: timeoutMs }
  const how = { isOwnSql: true, isAsReader: who !== 'reader' }
  return withWarehouse(options, (warehouse) =>
    readTable(warehouse, 'ask', rawStatement(sqlText), how),
  )
}

/** `answered`, or the SQLSTATE of the refusal. */
async function outcomeOf(who: string, sqlText: string): Promise<string> {
  try {
    await ask(who, sqlText)
    return 'answered'
  } catch (thrown) {
    if (thrown instanceof ConnectorError) return String(thrown.context.code)
    throw thrown
  }
}

/** Everything that an attack could have changed or left in a session. */
function look(): Promise<unknown> {
  return scene.run(
    `select
      (select count(*) from ${schema}.ports) as ports,
      (select last_value from ${schema}_sync.sync_runs_sync_run_id_seq) as run,
      (select count(*) from pg_largeobject_metadata) as objects,
      (select count(*) from pg_locks where locktype = 'advisory' and database = pg_database.oid) as locks,
      (select count(*) from pg_class where relpersistence = 't') as temporary,
      (select count(*) from pg_stat_activity where usename = any ($1::text[])) as sessions,
      (select string_agg(rolname || ' ' || rolsuper || ' ' || coalesce(rolconfig::text, ''), ',' order by 1)
        from pg_roles where starts_with(rolname, $2)) as roles
    from pg_database where datname = current_database()`,
    [WHO.map(nameOf), schema],
  )
}

const SYNTAX = '42601'
const RIGHT = '42501'
const READ_ONLY = '25006'

/**
 * Each with what it ends with for the reader's own login, and in the fallback: for the owner, who
 * is a member of the readers, and for the writer, who is not.
 */
const ATTACKS: readonly (readonly [
  what: string,
  reader: string,
  owner?: string,
  writer?: string,
])[] = [
  // One statement, and one that reads.
  ...[
    'select 1; drop schema {{schema}} cascade',
    'select 1; commit',
    'commit',
    'rollback',
    'begin',
    'set role none',
    'reset role',
    'discard all',
    'prepare one as select 1',
    'do $$ begin end $$',
    'vacuum',
    `load 'x'`,
    `copy (select 'x') to program 'touch /tmp/never'`,
    `\\copy {{schema}}.ports to '/tmp/never'`,
    `select 1 \\gexec`,
    'create temp table mine (id int)',
    'alter role {{me}} superuser',
    'grant {{schema}}_writer to {{me}}',
    'delete from {{schema}}.ports',
    'select 1 into mine',
    `select '𐍈' as a, $$x$$; commit`,
    '',
  ].map((text) => [text, SYNTAX] as const),
  ['with gone as (delete from {{schema}}.ports returning 1) select 1 from gone', '0A000'],
  ['select * from {{schema}}.ports for update', READ_ONLY],
  // Functions that reach files, programs, other sessions and the server.
  ...[
    `select pg_read_file('/etc/passwd')`,
    `select pg_catalog . "pg_ls_dir" /* */ ('/')`,
    `select ('/etc/passwd'::text).pg_read_file`,
    `select U&"pg\\005fread_file"('/etc/passwd')`,
    `select lo_import('/etc/passwd')`,
    `select lo_export(1, '/tmp/never')`,
    `select query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')`,
    'select * from pg_authid',
    'select * from pg_hba_file_rules',
    'select pg_reload_conf()',
    'select pg_switch_wal()',
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = {{admin}}',
    `select set_config('session_authorization', '{{admin_name}}', false)`,
    `select set_config('log_statement', 'none', false)`,
    `select nextval('{{schema}}_sync.sync_runs_sync_run_id_seq')`,
    `select setval('{{schema}}_sync.sync_runs_sync_run_id_seq', 999)`,
  ].map((text) => [text, RIGHT] as const),
  [`select dblink('dbname=x', 'select 1')`, '42883'],
  // The transaction stays one that reads.
  [`select set_config('transaction_read_only', 'off', true)`, '25001'],
  [`select set_config('transaction_isolation', 'serializable', true)`, '25001'],
  [`select {{schema}}_evil.run('delete from {{schema}}.ports')`, READ_ONLY],
  [`select {{schema}}_evil.run('alter role {{me}} superuser')`, READ_ONLY],
  [`select {{schema}}_evil.run('create temp table mine (id int)')`, READ_ONLY],
  [
    `select {{schema}}_evil.run('create function pg_temp.now(text) returns int language sql as ''select 1''')`,
    READ_ONLY,
  ],
  [`select {{schema}}_evil.run('create table {{schema}}_evil.mine (id int)')`, READ_ONLY],
  [`select {{schema}}_evil.run('commit')`, '0A000'],
  [`select query_to_xml('delete from {{schema}}.ports', true, true, '')`, '0A000'],
  // Harmless: the end of the connection undoes it.
  ...[
    'select pg_advisory_lock(820311, 1)',
    'select (4711::bigint).pg_advisory_lock',
    `select '𐍈' as a, (4711::bigint).pg_advisory_lock as "𐍈", $𐍈$ commit; $𐍈$`,
    `select pg_notify('x', 'y')`,
    `select set_config('search_path', '{{schema}}_evil', false)`,
    `select set_config('default_transaction_read_only', 'off', false)`,
    `select set_config('role', 'none', false)`,
    'select pg_export_snapshot()',
    `select E'\\'; commit; --'`,
    'select 1 -- ; commit',
    'select 1;',
    '(select 1) union (select 2);',
    'table {{schema}}.ports',
    'with one as (select now()) select clock_timestamp() > now from one',
  ].map((text) => [text, 'answered'] as const),
  ['select body from {{schema}}_sync.webhook_notifications', RIGHT, RIGHT, 'answered'],
  ['select payload from {{schema}}_sync.quarantine', RIGHT, RIGHT, 'answered'],
  ['select salt from {{schema}}_sync.source_account', RIGHT, RIGHT, 'answered'],
  // Accepted, see docs/security.md: it is in the log of changes, and changes nothing.
  [`select pg_logical_emit_message(false, 'x', 'y')`, 'answered'],
  // Left, and in docs/security.md: a role that is set may be given back, and then the login reads
  // what it may read itself.
  [
    `select set_config('role', 'none', true),
        query_to_xml('select body from {{schema}}_sync.webhook_notifications', true, true, '')`,
    RIGHT,
    'answered',
  ],
]

describe('own SQL', { tags: ['JD1'] }, () => {
  it.each(WHO)('only reads, asked by the %s', { tags: ['JD1', 'release'] }, async (who) => {
    const [row] = await scene.run<{ me: string; pid: number }>(
      'select current_user as me, pg_backend_pid() as pid',
    )
    const before = await look()
    const found: unknown[] = []
    for (const [what, reader, owner = reader, writer = owner] of ATTACKS) {
      // No login makes a statement of another kind into one.
      if (reader === SYNTAX && who !== 'reader') continue
      const text = what
        .replaceAll('{{schema}}', schema)
        .replaceAll('{{me}}', nameOf(who))
        .replaceAll('{{admin}}', String(row?.pid))
        .replaceAll('{{admin_name}}', row?.me ?? '')
      const outcome = await outcomeOf(who, text)
      const wanted = { reader, owner, writer }[who]
      if (outcome !== wanted) found.push({ what, outcome, wanted })
    }
    expect(found).toEqual([])
    await vi.waitFor(async () => {
      expect(await look()).toEqual(before)
    })
  })

  it('logs in as the reader, who may write nowhere else', { tags: ['JD1'] }, async () => {
    const answer = await ask('reader', 'select session_user, current_user')
    expect(answer.rows).toEqual([[nameOf('reader'), nameOf('reader')]])
    const [found] = await scene.run<{ tables: number; writable: string[] | null }>(
      `select count(*)::int as tables, array_agg(relname::text) filter (
          where has_table_privilege($2, pg_class.oid, 'insert, update, delete, truncate')
          or has_schema_privilege($2, pg_namespace.oid, 'create')) as writable
      from pg_class inner join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = any ($1::text[]) and relkind in ('r', 'p')`,
      [Object.values(scene.warehouse.names), nameOf('reader')],
    )
    expect(found!.tables).toBeGreaterThan(50)
    expect(found!.writable).toBeNull()
  })

  it.each(['superuser', ...OTHERS])(
    'is refused to a login that reaches the files of the server: %s',
    { tags: ['JD1'] },
    async (who) => {
      await expect(ask(who, 'select 1')).rejects.toThrow(ConfigError)
      const url = who === 'superuser' ? scene.url : scene.urlOf(who)
      const { exitCode, stdout, stderr } = await query(url, undefined, 'select 1')
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
      expect(stderr).toContain(`set TRACKING_READER_URL=postgres://${schema}_query:<password>@`)
      expect(stderr).toContain(
        `create role "${schema}_query" login password '<password>' in role "${schema}_reader"`,
      )
    },
  )

  it('is told to be too much for one that reads all tables', { tags: ['JD1'] }, async () => {
    const describe = (): Promise<string> =>
      withWarehouse({ url: scene.urlOf('reader'), schema }, (reader) =>
        describeReader(reader, { url: scene.urlOf('owner'), isOwn: true }),
      )
    expect(await describe()).toMatch(/, which may read and nothing else$/)
    await scene.run(`grant pg_read_all_data to ${nameOf('reader')}`)
    const told = await describe()
    await scene.run(`revoke pg_read_all_data from ${nameOf('reader')}`)
    expect(told).toContain('and the verifiers of all passwords')
    // As the program reaches the server, which need not be the server's own address.
    const { host, pathname } = new URL(scene.url)
    expect(told).toContain(`_query:<password>@${host}${pathname} and run`)
  })

  it('is bounded in every piece, with any settings made by a row', { tags: ['JD1'] }, async () => {
    const sql = `select case
        when n = 1 then set_config('statement_timeout', '0', true)
        when n > 1500 then pg_sleep(20)::text
      end
      from generate_series(1, 2000) as n`
    await expect(ask('reader', sql, 500)).rejects.toMatchObject({ context: { code: '57014' } })
  })
})

/** The program as its owner, with the address of the reader where there is one. */
function query(url: string, reader: string | undefined, ...args: string[]): Promise<CliCall> {
  return scene.call(undefined, ['query', ...args], {
    DATABASE_URL: url,
    ...(reader === undefined ? {} : { TRACKING_READER_URL: reader }),
  })
}

describe('functions and tables of others', { tags: ['JD1'] }, () => {
  it('are taken for none of PostgreSQL’s or ours', { tags: ['JD1', 'release'] }, async () => {
    const places = ['public', schema, `${schema}_analytics`, `${schema}_parts`, 'pg_temp']
    await withClient(scene.url, async (client) => {
      for (const place of places) {
        await client.query(
          `create function ${place}.now() returns timestamptz language sql volatile
          as $$ select timestamptz '2001-01-01' $$;
          create function ${place}.now(text) returns int language sql volatile as $$ select 1 $$;
          create function ${place}.lower(text) returns text language sql as $$ select 'shadow' $$`,
        )
      }
      const sql = `select extract(year from now()) > 2001, lower('X')`
      expect((await ask('reader', sql)).rows).toEqual([[true, 'x']])
      expect((await ask('writer', sql)).rows).toEqual([[true, 'x']])
      expect(await query(scene.url, scene.urlOf('reader'), sql)).toMatchObject({ exitCode: 0 })
      expect(await query(scene.url, undefined, 'data_quality')).toMatchObject({ exitCode: 0 })
      for (const place of places) {
        await client.query(`drop function ${place}.now(), ${place}.now(text), ${place}.lower(text)`)
      }
    })
  })

  it('and temporary ones in the session come last', { tags: ['JD1'] }, async () => {
    const { names } = scene.warehouse
    const another = async (action: string) => {
      const connection = await scene.warehouse.another(action)
      const hostile = async (session: pg.ClientBase) => {
        // As a pooler would hand on a session.
        await session.query('create temp table ports as select 1 as shadow')
        await session.query('create temp table pg_roles as select 1 as shadow')
        return connection.prepare(session)
      }
      return { ...connection, prepare: hostile }
    }
    const pieces = streamTable({ names, another }, 'ask', sql`select port_id from ports`)
    expect((await pieces.next()).value).toMatchObject({ columns: ['port_id'], rows: [] })
    await pieces.return()
  })
})
