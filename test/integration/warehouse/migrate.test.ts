import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { MigrationError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator } from '../../../src/extensions/simulator/server.js'
import { describeSchema } from '../../../src/extensions/doctor/schema/describe-schema.js'
import {
  migrate,
  readMigrations,
  readSchemaVersion,
  type Migration,
} from '../../../src/warehouse/schema/run-migrations.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { withClient } from '../../support/with-client.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const options = { sleep: () => Promise.resolve() }
let migrations: readonly Migration[] = []
beforeAll(async () => {
  migrations = await readMigrations()
})

async function openDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  return database
}

function open(url: string): Warehouse {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger, poolSize: 2 })
  closers.push(() => warehouse.close())
  return warehouse
}

/** As the server of the tests keeps one, views and all. */
async function openMigrated(): Promise<TestWarehouse> {
  const opened = await createTestWarehouse()
  closers.push(opened.drop)
  return opened
}

async function openEmpty(): Promise<Warehouse> {
  return open((await openDatabase()).url)
}

async function onServer(...statements: string[]): Promise<void> {
  await withClient(inject('databaseServerUrl'), async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

async function appliedNames(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.db
    .selectFrom('sync.migrations')
    .select('name')
    .orderBy('version')
    .execute()
  return rows.map(({ name }) => name)
}

describe('starting together', () => {
  it('of twenty starters each migration runs once', { tags: ['G1', 'release'] }, async () => {
    const { url } = await openDatabase()
    const starters = Array.from({ length: 20 }, () => open(url))
    const reports = await Promise.all(
      starters.map((warehouse) => migrate(warehouse, migrations, options)),
    )
    const names = migrations.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
    for (const { sqlText, checksum } of migrations) {
      expect(checksum).toBe(createHash('sha256').update(sqlText).digest('hex'))
    }
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(names)
    expect(new Set(reports.map(({ version }) => version))).toEqual(new Set([migrations.length]))
    expect(await appliedNames(starters[0]!)).toEqual(names)
    const before = await describeSchema(starters[0]!)
    const second = await migrate(starters[1]!, migrations, options)
    expect(second).toEqual({ applied: [], version: migrations.length })
    expect(await describeSchema(starters[0]!)).toBe(before)
  })
})

describe('a migration that fails', () => {
  it('with its record leaves nothing, and can be repeated', { tags: ['G2'] }, async () => {
    const warehouse = await openEmpty()
    await migrate(warehouse, migrations.slice(0, 2), options)
    await warehouse.query(
      'refuse the record',
      sql`alter table tracking_sync.migrations add constraint poison check (version < 3)`,
    )
    const before = await describeSchema(warehouse)
    await expect(migrate(warehouse, migrations.slice(0, 3), options)).rejects.toThrow('poison')
    expect(await describeSchema(warehouse)).toBe(before)
    expect(await appliedNames(warehouse)).toEqual(migrations.slice(0, 2).map(({ name }) => name))
    await warehouse.query(
      'let it be written',
      sql`alter table tracking_sync.migrations drop constraint poison`,
    )
    const { applied } = await migrate(warehouse, migrations.slice(0, 3), options)
    expect(applied).toEqual([migrations[2]!.name])
  })

  it('waits for a long reader in pieces, then applies itself', { tags: ['G5'] }, async () => {
    const { warehouse, url } = await openMigrated()
    const reader = open(url)
    // A piece is three seconds; this test does not wait for as long.
    const sqlText = `select 1 / (current_setting('lock_timeout') = '3s')::int;
        set local lock_timeout = '50ms';
        alter table {{data}}.ports add column added text;`
    const added = { version: migrations.length + 1, name: 'added', sqlText, checksum: 'added' }
    const { client } = await reader.another('read for long')
    await client.query('begin')
    await client.query('select from tracking.ports')
    const report = await migrate(warehouse, [...migrations, added], { sleep: () => client.end() })
    expect(report.applied).toEqual(['added'])
  })
})

describe('a database that does not fit the program', () => {
  it('is told from both versions when it is older or newer', { tags: ['G3', 'G4'] }, async () => {
    const warehouse = await openEmpty()
    for (const version of [0, 2]) {
      await migrate(warehouse, migrations.slice(0, version), options)
      expect(await readSchemaVersion(warehouse, migrations)).toEqual({
        version,
        expected: migrations.length,
      })
    }
    const older = migrations.slice(0, 1)
    const attempt = migrate(warehouse, older, options)
    await expect(attempt).rejects.toThrow(MigrationError)
    await expect(attempt).rejects.toThrow('at migration 2 and this program knows 1')
    await expect(readSchemaVersion(warehouse, older)).rejects.toThrow(MigrationError)
  })

  test('is refused when edited after it was applied', { tags: ['FG6', 'G7'] }, async () => {
    const { warehouse } = await openMigrated()
    const before = await describeSchema(warehouse)
    const changes = [{ checksum: 'another' }, { name: '0002_another' }, { version: 7 }]
    for (const change of changes) {
      const changed = migrations.map((one, index) => (index === 1 ? { ...one, ...change } : one))
      await expectAWayOn(warehouse, changed, change.name ?? migrations[1]!.name)
    }
    // Also when this program knows fewer of them: it is not the older one of two releases.
    await expectAWayOn(warehouse, [{ ...migrations[0]!, name: '0001_other' }], '0001_other')
    expect(await describeSchema(warehouse)).toBe(before)
  })

  async function expectAWayOn(
    warehouse: Warehouse,
    shipped: readonly Migration[],
    name: string,
  ): Promise<void> {
    const attempt = migrate(warehouse, shipped, options)
    await expect(attempt).rejects.toThrow(MigrationError)
    for (const words of [
      name,
      'another build',
      'Nothing was changed',
      'TRACKING_SCHEMA',
      'drop the schemas tracking, tracking_sync',
      '`tracking-sync backfill`',
    ]) {
      await expect(attempt).rejects.toThrow(words)
    }
  }

  // The exact sentence: without the check, a migration fails too, at the first letter that such a
  // database cannot hold.
  it('is refused when its encoding is another', { tags: ['G13'] }, async () => {
    const name = `test_encoding_${process.pid}`
    await onServer(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    closers.push(() => onServer(`drop database ${name} with (force)`))
    const url = new URL(inject('databaseServerUrl'))
    url.pathname = `/${name}`
    const warehouse = open(url.href)
    await expect(migrate(warehouse, migrations, options)).rejects.toThrow(
      new MigrationError('the database has encoding LATIN1; create it with encoding UTF8'),
    )
    expect(
      await warehouse.query('look', sql`select from pg_namespace where nspname ~ 'tracking'`),
    ).toEqual([])
  })
})

// Neither a right that a function of the server may lack, nor a table or function of the same name on
// the search path of the database.
it('a role with CREATE alone migrates, and hits no name', { tags: ['G9', 'G11'] }, async () => {
  const { url, name } = await openDatabase()
  const tables = await (
    await openMigrated()
  ).rows<{ table: string }>`
    select tablename as table from pg_tables where schemaname in ('tracking', 'tracking_sync')`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  closers.push(() => admin.end())
  const role = `role_of_${name}`
  await admin.query(
    `create role ${role} login password 'only-for-this-test';
      grant create on database ${name} to ${role};
      create schema decoy; create table decoy.hits (what text);
      grant usage on schema decoy to public`,
  )
  closers.splice(0, 0, () => onServer(`drop role ${role}`))
  for (const { table } of tables) {
    await admin.query(`create table decoy.${table} (); create table public.${table} ();`)
  }
  for (const call of ['hashtext(text)', 'getdatabaseencoding()', 'to_regclass(text)', 'now()']) {
    await admin.query(
      `create function decoy.${call} returns text language sql security definer
        as $$ insert into decoy.hits values ('${call}') returning what $$`,
    )
  }
  await admin.query(
    `grant all on all tables in schema decoy, public to ${role};
      alter database ${name} set search_path = decoy, public, pg_catalog`,
  )

  const own = new URL(url)
  own.username = role
  own.password = 'only-for-this-test'
  const warehouse = open(own.href)
  expect((await migrate(warehouse, migrations, options)).version).toBe(migrations.length)
  const simulator = await startSimulator({ shipments: 5, speed: 0, rateLimitPerMinute: null })
  closers.push(() => simulator.close())
  for (let run = 0; run < 2; run += 1) {
    expect(await runTestSync({ warehouse, source: simulator })).toMatchObject({ exitCode: 0 })
  }
  const { world, clock } = simulator
  expect(await compareWarehouse(warehouse, world, clock.now())).toEqual([])
  const filled: string[] = []
  for (const table of ['hits', ...tables.map((one) => one.table)]) {
    for (const schema of table === 'hits' ? ['decoy'] : ['decoy', 'public']) {
      const { rowCount } = await admin.query(`select from ${schema}.${table}`)
      if (rowCount !== 0) filled.push(`${schema}.${table}`)
    }
  }
  expect([tables.length > 40, filled]).toEqual([true, []])
})
