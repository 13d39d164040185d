import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { describeSchema } from '../../../src/extensions/doctor/schema/describe-schema.js'
import {
  migrate,
  readMigrations,
  type Migration,
} from '../../../src/warehouse/schema/run-migrations.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { atScale } from '../../support/test-scale.js'

/** Six thousand make more than 100,000 rows. */
const SHIPMENTS = atScale(6, 6_000)

const options = { sleep: () => Promise.resolve() }
const closers: (() => Promise<void>)[] = []
let simulator: Simulator
let opened: TestWarehouse
const migrations: readonly Migration[] = await readMigrations()

beforeAll(async () => {
  simulator = await startSameWorld({ shipments: SHIPMENTS })
  holdOldest(simulator)
  opened = await createTestWarehouse()
  await opened.warehouse.query('make the functions', rawStatement(FILL))
  expect(await runTestSync({ warehouse: opened.warehouse, source: simulator })).toMatchObject({
    exitCode: 0,
  })
}, 600_000)
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await simulator.close()
  await opened.drop()
})

function openSchema(schema: string): Warehouse {
  const warehouse = createWarehouse({ url: opened.url, schema, logger: silentLogger })
  closers.push(() => warehouse.close())
  return warehouse
}

/**
 * Fills a warehouse of an older version with the rows of the one of today, in the tables and columns
 * there were, and a table that a backfill leaves empty with one row: something in what must be
 * given. Says of each table how many rows it has, and whether they are made up.
 */
const FILL = `
create function public.fill(older text) returns table (name text, filled bigint, is_made_up boolean)
language plpgsql
-- References are in order when all tables are full.
set session_replication_role = replica
as $fill$
declare
    own record;
    today text;
    columns text;
    given text;
begin
    for own in
        select schemaname, tablename from pg_tables
        where schemaname in (older, older || '_sync')
            and tablename not in ('migrations', 'installed_views')
    loop
        name := own.schemaname || '.' || own.tablename;
        today := replace(own.schemaname, older, 'tracking');
        select string_agg(quote_ident(there.column_name), ', ') into columns
        from information_schema.columns as there
        inner join information_schema.columns as now
            on now.table_name = there.table_name and now.column_name = there.column_name
                and now.table_schema = today
        where there.table_schema = own.schemaname and there.table_name = own.tablename;
        continue when columns is null;
        execute format('insert into %1$I.%2$I (%3$s) overriding system value select %3$s from %4$I.%2$I',
            own.schemaname, own.tablename, columns, today);
        get diagnostics filled = row_count;
        is_made_up := filled = 0;
        if is_made_up then
            filled := 1;
            select string_agg(quote_ident(column_name), ', '), string_agg(case
                when column_name = 'questions' then $$'{pickups}'$$
                when column_name = 'secret_hash' then $$sha256('something')$$
                when table_name = 'alerts' and column_name = 'kind' then $$'operations'$$
                when table_name = 'alert_messages' and column_name = 'event' then $$'opened'$$
                when data_type in ('text', 'bytea') then $$'something'$$
                when data_type in ('integer', 'bigint', 'numeric') then '1'
                when data_type = 'boolean' then 'true'
                when data_type ~ 'timestamp|date' then 'now()'
                else $$'{}'$$
            end, ', ')
            into columns, given
            from information_schema.columns
            where table_schema = own.schemaname and table_name = own.tablename
                and is_nullable = 'NO' and column_default is null and is_identity = 'NO';
            execute format('insert into %I.%I (%s) values (%s)',
                own.schemaname, own.tablename, columns, given);
        end if;
        return next;
    end loop;
    -- As if the rows had got their numbers here.
    perform setval(pg_get_serial_sequence(format('%I.%I', nspname, relname), attname), 1000)
    from pg_attribute
    inner join pg_class on pg_class.oid = attrelid
    inner join pg_namespace on pg_namespace.oid = relnamespace
    where nspname in (older, older || '_sync') and attidentity != '';
end $fill$;

create function public.count_rows(older text) returns table (name text, filled bigint)
language plpgsql as $count$
declare
    own record;
begin
    for own in
        select schemaname, tablename from pg_tables where schemaname in (older, older || '_sync')
    loop
        name := own.schemaname || '.' || own.tablename;
        execute format('select count(*) from %I.%I', own.schemaname, own.tablename) into filled;
        return next;
    end loop;
end $count$`

interface Filled {
  readonly name: string
  readonly filled: number
  readonly is_made_up: boolean
}

describe('an upgrade', { tags: ['G6'] }, () => {
  // Before the third not all tables were there that a program writes to.
  const versions = Array.from({ length: migrations.length - 3 }, (_, at) => at + 3)
  const [oldest] = versions

  async function upgradeFrom(version: number): Promise<void> {
    const fresh = await describeSchema(opened.warehouse)
    const schema = `tracking_from_${version}`
    const warehouse = openSchema(schema)
    await migrate(warehouse, migrations.slice(0, version), options)
    const filled = await opened.rows<Filled>`select * from public.fill(${schema})`
    const rowsOf = (name: string) => filled.find((one) => one.name === name)?.filled
    expect(rowsOf(`${schema}.containers`)).toBeGreaterThan(0)
    expect(rowsOf(`${schema}_sync.sync_runs`)).toBe(1)
    const madeUp = filled.flatMap((one) => (one.is_made_up ? [one.name] : []))
    expect(madeUp).toContain(`${schema}_sync.quarantine`)
    // A program without the typed columns did not have them in its hash.
    const fields = sql.table(`${schema}.custom_fields`)
    await warehouse.query('fill', sql`update ${fields} set _fingerprint = 'of that version'`)

    const { applied } = await migrate(warehouse, migrations, options)
    expect(applied).toEqual(migrations.slice(version).map(({ name }) => name))
    const dump = (await describeSchema(warehouse)).replaceAll(schema, 'tracking')
    expect({ version, isEqual: dump === fresh }).toEqual({ version, isEqual: true })
    const counted = await opened.rows`select * from public.count_rows(${schema})`
    expect(counted).toEqual(
      expect.arrayContaining(filled.map(({ name, filled: rows }) => ({ name, filled: rows }))),
    )

    // They also go on working: each takes a run of its own.
    if (version !== oldest && version !== versions.at(-1)) return
    for (const name of madeUp) await opened.run`delete from ${sql.raw(name)}`
    const report = await runTestSync({ warehouse, source: simulator, command: 'sync' })
    expect(report.exitCode).toBe(0)
    expect(await compareWarehouse(warehouse, simulator.world, simulator.clock.now())).toEqual([])
  }

  // Tables are filled out of order, which takes a superuser.
  it.skipIf(isOnCitus)('from the oldest version, with rows, ends equal to a fresh install', () =>
    upgradeFrom(oldest!),
  )

  it.skipIf(isOnCitus).each(versions.slice(1))(
    'from version %i, with rows in it, ends equal to a fresh install',
    { tags: ['release'] },
    upgradeFrom,
  )
})

describe('a rolling upgrade', { tags: ['G4', 'release'] }, () => {
  /**
   * test/architecture/expanding-migrations.test.ts says which changes are allowed while programs of
   * the previous version run.
   */
  function nextMigration(): Migration {
    const add = (schema: string, tables: string, columns: string): string =>
      tables
        .split(' ')
        .map((table) => `alter table {{${schema}}}.${table} ${columns};`)
        .join('\n')
    const sqlText = `
      create table {{sync}}.of_tomorrow (note text);
      create index of_tomorrow_idx on {{data}}.containers (container_id, _observed_at);
      ${add('data', 'containers shipments transport_events ports', 'add column tomorrow text, add column is_of_tomorrow boolean not null default true')}
      ${add('sync', 'sync_runs sync_run_streams checkpoints webhook_notifications quarantine', 'add column tomorrow integer not null default 0')}`
    const version = migrations.length + 1
    return { version, name: `${version}_of_tomorrow`, sqlText, checksum: 'of tomorrow' }
  }

  /** But for the columns of tomorrow, which nobody sends. */
  async function differencesOfToday(warehouse: Warehouse): Promise<string[]> {
    const found = await compareWarehouse(warehouse, simulator.world, simulator.clock.now())
    return found.filter((line) => !/: (?:is_of_)?tomorrow is /.test(line))
  }

  it('programs of the version before go on, also in the middle of a run, and lose nothing of what the newer one wrote', async () => {
    const older = openSchema('rolling')
    await prepareSchemas(older, options)
    const newer = openSchema('rolling')
    let upgraded: Promise<unknown> | undefined
    const report = await runTestSync({
      warehouse: older,
      source: simulator,
      settings: { pageSize: 5 },
      onProgress: () => {
        upgraded ??= migrate(newer, [...migrations, nextMigration()], options)
      },
    })
    expect(await upgraded).toMatchObject({ applied: [nextMigration().name] })
    expect(report.exitCode).toBe(0)
    expect(await differencesOfToday(older)).toEqual([])

    await newer.query('write', sql`update rolling.containers set tomorrow = 'kept'`)
    simulator.clock.advance(30 * 24 * 3_600_000)
    const again = { warehouse: older, source: simulator, areChecksDue: true }
    const next = await runTestSync({ ...again, command: 'sync' })
    expect(next.exitCode).toBe(0)
    expect(await differencesOfToday(older)).toEqual([])
    const dayBefore = new Date(simulator.clock.now().getTime() - 24 * 3_600_000).toISOString()
    const rows = await opened.rows<{ changed: boolean; note: string | null }>`
      select _changed_at > ${dayBefore} as changed, tomorrow as note from rolling.containers
      where _first_seen_at <= ${dayBefore}`
    expect(rows.some(({ changed }) => changed)).toBe(true)
    expect(new Set(rows.map(({ note }) => note))).toEqual(new Set(['kept']))
  })
})
