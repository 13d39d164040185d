import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MigrationError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { describeSchema } from '../../../src/extensions/doctor/schema/describe-schema.js'
import {
  migrate,
  readMigrations,
  type Migration,
} from '../../../src/warehouse/schema/run-migrations.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
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

async function tablesOf(warehouse: Warehouse): Promise<Map<string, string[]>> {
  const { names } = warehouse
  const rows = await warehouse.query(
    'list the tables',
    sql<{ table: string; columns: string[] }>`select
        case schemaname when ${names.data} then 'data.' else 'sync.' end || tablename as table,
        array(
            select attname::text from pg_attribute
            where attrelid = format('%I.%I', schemaname, tablename)::regclass
                and attnum > 0 and not attisdropped
            order by attnum
        ) as columns
    from pg_tables
    where schemaname in (${names.data},
        ${names.sync}) and tablename not in ('migrations', 'installed_views')
    order by 1`,
  )
  return new Map(rows.map(({ table, columns }) => [table, columns]))
}

/**
 * Rows of the warehouse of today as a program of that version had them: in the tables and columns
 * there were.
 */
async function fillFromToday(older: Warehouse): Promise<Map<string, number>> {
  const today = await tablesOf(opened.warehouse)
  const counts = new Map<string, number>()
  await older.transaction('fill', async (session) => {
    // References are in order when all tables are full.
    await session.query('fill', sql`set local session_replication_role = replica`)
    for (const [table, columns] of await tablesOf(older)) {
      const common = columns.filter((column) => today.get(table)?.includes(column))
      if (common.length === 0) continue
      const [kind, name] = table.split('.') as ['data' | 'sync', string]
      const list = common.map((column) => `"${column}"`).join(', ')
      const rows = await session.query(
        'fill',
        sql`insert into "${sql.raw(older.names[kind])}"."${sql.raw(name)}" (${sql.raw(list)}) overriding system value
        select ${sql.raw(list)} from "${sql.raw(opened.warehouse.names[kind])}"."${sql.raw(name)}" returning 1`,
      )
      counts.set(table, rows.length)
    }
    // A program without the typed columns did not have them in its hash either.
    const has = (await tablesOf(older)).get('data.custom_fields') ?? []
    if (has.length > 0 && !has.includes('data_type')) {
      await session.query(
        'fill',
        sql`update "${sql.raw(older.names.data)}".custom_fields set _fingerprint = 'of that version'`,
      )
      // Its key allowed a value twice, under two slugs: the later one stays. Not counted.
      const twice = await session.query(
        'fill',
        sql`insert into "${sql.raw(older.names.data)}".custom_fields
            (entity_id, api_slug, custom_field_id, _observed_at, _first_seen_at, _changed_at)
        select entity_id, api_slug || suffix, nullif(custom_field_id, without),
            _observed_at - interval '1 hour', _first_seen_at, _changed_at
        from "${sql.raw(older.names.data)}".custom_fields
        cross join lateral (values ('-older', null), ('-nameless', custom_field_id)) as more (suffix, without)
        returning 1`,
      )
      expect(twice.length).toBeGreaterThan(2)
    }
    // As if the rows had got their numbers here.
    await session.query(
      'count on',
      sql`select setval(
          pg_get_serial_sequence(format('%I.%I', nspname, relname), attname), 1000
      )
      from pg_attribute
      inner join pg_class
          on pg_class.oid = attrelid
      inner join pg_namespace
          on pg_namespace.oid = relnamespace
      where nspname in (${older.names.data}, ${older.names.sync}) and attidentity != ''`,
    )
  })
  return counts
}

/**
 * One row in each table that a backfill leaves empty: with something in what must be given, by its
 * type. Returns those tables.
 */
async function fillEmptyTables(older: Warehouse, filled: Map<string, number>): Promise<string[]> {
  const empty = [...filled].filter(([, count]) => count === 0).map(([table]) => table)
  for (const table of empty) {
    const [kind, name] = table.split('.') as ['data' | 'sync', string]
    const needed = await older.query(
      'look what is needed',
      sql<{
        column: string
        type: string
      }>`select column_name::text as column, data_type::text as type
      from information_schema.columns
      where table_schema = ${older.names[kind]} and table_name = ${name}
          and is_nullable = 'NO' and column_default is null and is_identity = 'NO'`,
    )
    const values = needed.map(
      ({ column, type }) => CHECKED[`${name}.${column}`] ?? VALUES[type] ?? `'{}'`,
    )
    await older.transaction('fill', async (session) => {
      await session.query('fill', sql`set local session_replication_role = replica`)
      await session.query(
        'fill',
        sql`insert into "${sql.raw(older.names[kind])}"."${sql.raw(name)}"
        (${sql.raw(needed.map(({ column }) => `"${column}"`).join(', '))}) values (${sql.raw(values.join(', '))})`,
      )
    })
    filled.set(table, 1)
  }
  return empty
}

/** Columns that do not take any value of their type. */
const CHECKED: Readonly<Record<string, string>> = {
  'access_tokens.questions': `'{pickups}'`,
  'access_tokens.secret_hash': `sha256('something')`,
  'alerts.kind': `'operations'`,
  'alert_messages.event': `'opened'`,
}

const VALUES: Readonly<Record<string, string>> = {
  text: `'something'`,
  bytea: `'something'`,
  integer: '1',
  bigint: '1',
  numeric: '1',
  boolean: 'true',
  'timestamp with time zone': 'now()',
  date: 'current_date',
}

async function countRows(warehouse: Warehouse, tables: Iterable<string>) {
  const counts = new Map<string, number>()
  for (const table of tables) {
    const [kind, name] = table.split('.') as ['data' | 'sync', string]
    const [row] = await warehouse.query(
      'count',
      sql<{
        count: number
      }>`select count(*) as count from "${sql.raw(warehouse.names[kind])}"."${sql.raw(name)}"`,
    )
    counts.set(table, row!.count)
  }
  return counts
}

describe('an upgrade', { tags: ['G6', 'JC1'] }, () => {
  // Before the third not all tables were there that a program writes to.
  const versions = Array.from({ length: migrations.length - 3 }, (_, at) => at + 3)
  const [oldest] = versions

  async function upgradeFrom(version: number): Promise<void> {
    const fresh = await describeSchema(opened.warehouse)
    const schema = `tracking_from_${version}`
    const warehouse = openSchema(schema)
    await migrate(warehouse, migrations.slice(0, version), options)
    const filled = await fillFromToday(warehouse)
    expect(filled.get('data.containers')).toBeGreaterThan(0)
    expect(filled.get('sync.sync_runs')).toBe(1)
    const madeUp = await fillEmptyTables(warehouse, filled)
    expect(madeUp).toContain('sync.quarantine')

    const { applied } = await migrate(warehouse, migrations, options)
    expect(applied).toEqual(migrations.slice(version).map(({ name }) => name))
    const dump = (await describeSchema(warehouse)).replaceAll(schema, 'tracking')
    expect({ version, isEqual: dump === fresh }).toEqual({ version, isEqual: true })
    expect(await countRows(warehouse, filled.keys())).toEqual(filled)
    expect(
      await warehouse.query(
        'look for what is older',
        sql`select api_slug from "${sql.raw(warehouse.names.data)}".custom_fields
            where api_slug ~ '-(older|nameless)$'`,
      ),
    ).toEqual([])

    // They also go on working: each takes a run of its own.
    if (version !== oldest && version !== versions.at(-1)) return
    for (const table of madeUp) {
      const [kind, name] = table.split('.') as ['data' | 'sync', string]
      await warehouse.query(
        'empty',
        sql`delete from "${sql.raw(warehouse.names[kind])}"."${sql.raw(name)}"`,
      )
    }
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
    const sqlText = `
      create table {{sync}}.of_tomorrow (note text);
      create index of_tomorrow_idx on {{data}}.containers (container_id, _observed_at);
      ${['containers', 'shipments', 'transport_events', 'ports']
        .map(
          (table) => `alter table {{data}}.${table}
            add column tomorrow text, add column is_of_tomorrow boolean not null default true;`,
        )
        .join('\n')}
      ${['sync_runs', 'sync_run_streams', 'checkpoints', 'webhook_notifications', 'quarantine']
        .map(
          (table) =>
            `alter table {{sync}}.${table} add column tomorrow integer not null default 0;`,
        )
        .join('\n')}`
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
    const next = await runTestSync({
      warehouse: older,
      source: simulator,
      command: 'sync',
      areChecksDue: true,
    })
    expect(next.exitCode).toBe(0)
    expect(await differencesOfToday(older)).toEqual([])
    const [rows] = await newer.query(
      'look',
      sql<{ changed: number; kept: number; lost: number }>`select
          count(*) filter (where _changed_at > ${new Date(simulator.clock.now().getTime() - 24 * 3_600_000)}::timestamptz) as changed,
          count(*) filter (where tomorrow = 'kept') as kept,
          count(*) filter (where tomorrow is null and _first_seen_at <= ${new Date(simulator.clock.now().getTime() - 24 * 3_600_000)}::timestamptz) as lost
      from rolling.containers`,
    )
    expect(rows?.changed).toBeGreaterThan(0)
    expect(rows?.kept).toBeGreaterThan(0)
    expect(rows?.lost).toBe(0)
  })

  it('back to the version before, what is started is refused with both versions, and writes nothing', async () => {
    const warehouse = openSchema('rolled_back')
    await prepareSchemas(warehouse, options)
    await migrate(warehouse, [...migrations, nextMigration()], options)
    const dump = await describeSchema(warehouse)
    const start = prepareSchemas(warehouse, options)
    await expect(start).rejects.toThrow(MigrationError)
    await expect(start).rejects.toThrow(
      `at migration ${migrations.length + 1} and this program knows ${migrations.length}`,
    )
    expect(await describeSchema(warehouse)).toBe(dump)
  })
})
