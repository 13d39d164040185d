import { sql } from 'kysely'
import { afterAll, beforeAll, inject } from 'vitest'
import { silentLogger } from '../../src/base/logger.js'
import { createWarehouse, type Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { USERS_TABLES } from '../../src/warehouse/connection/schema-names.js'
import { deleteRows, emptyWarehouse } from './empty-warehouse.js'
import { rowReader } from './row-reader.js'
import { createTestDatabase, type TestDatabase } from './test-database.js'
import type { TestWarehouse } from './test-warehouse.js'

/**
 * Emptied databases of tests that are over, for the next test or file of this worker. The global
 * setup drops them at the end.
 */
const idle: IdleDatabase[] = []

interface IdleDatabase {
  readonly database: TestDatabase
  /** Of its catalogue, as every test found it. */
  readonly digest: string
}

/**
 * A migrated and empty warehouse whose database may have served a test before: emptying one is
 * faster than making and dropping one. A database is dropped instead of reused if the test changed
 * tables, columns, functions or rights, or left a connection of another program.
 */
export async function borrowTestWarehouse(): Promise<TestWarehouse> {
  const used = idle.pop()
  const database =
    used?.database ?? (await createTestDatabase({ template: inject('migratedDatabase') }))
  const warehouse = createWarehouse({
    url: database.url,
    schema: 'tracking',
    logger: silentLogger,
  })
  const digest = used?.digest ?? (await digestCatalogue(warehouse))
  return {
    ...rowReader(warehouse),
    warehouse,
    url: database.url,
    drop: async () => {
      // A test may have closed the warehouse or dropped its database.
      const isReusable = await tidy(warehouse, digest).catch(() => false)
      await warehouse.close()
      if (isReusable) idle.push({ database, digest })
      else await database.drop()
    },
  }
}

/** The warehouse of a file: borrowed before its first test, given back after its last. */
export function useTestWarehouse(): Omit<TestWarehouse, 'drop'> {
  let opened: TestWarehouse | undefined
  const here = (): TestWarehouse => {
    if (opened === undefined) throw new Error('the warehouse is opened before the tests')
    return opened
  }
  beforeAll(async () => {
    opened = await borrowTestWarehouse()
  })
  afterAll(() => here().drop())
  return {
    ...rowReader({ query: (...statement) => here().warehouse.query(...statement) }),
    get warehouse() {
      return here().warehouse
    },
    get url() {
      return here().url
    },
  }
}

async function tidy(warehouse: Warehouse, before: string): Promise<boolean> {
  if ((await digestCatalogue(warehouse)) !== before) return false
  await emptyWarehouse(warehouse)
  await deleteRows(
    warehouse,
    USERS_TABLES.map((table) => warehouse.names.table(table)),
  )
  const [others] = await warehouse.query(
    'count the connections of others',
    sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
        and application_name != (select application_name from pg_stat_activity where pid = pg_backend_pid())`,
  )
  return others?.count === 0
}

/**
 * Changes with any row of a catalogue: a changed one has another transaction. A text for each would
 * take ten times as long.
 */
function rowsOf(catalogue: string): string {
  return `concat_ws(' ', '${catalogue}', count(*), sum(xmin::text::bigint))`
}

/** Changes when anything but rows does, and when those of the installation do. */
async function digestCatalogue(warehouse: Warehouse): Promise<string> {
  const { sync } = warehouse.names
  const [row] = await warehouse.query(
    'digest the catalogue',
    sql<{
      digest: string
    }>`with here as (select oid from pg_namespace where nspname not like 'pg\\_%' and nspname != 'information_schema'),
    things as (
        select concat_ws(' ', oid, relname, relkind, relnatts, relacl, reloptions, relpersistence, relrowsecurity) as thing
        from pg_class where relnamespace in (select oid from here)
        union all select ${sql.raw(rowsOf('constraint'))} from pg_constraint where connamespace in (select oid from here)
        union all select ${sql.raw(rowsOf('proc'))} from pg_proc where pronamespace in (select oid from here)
        union all select concat_ws(' ', oid, nspname, nspacl) from pg_namespace
        union all select ${sql.raw(rowsOf('trigger'))} from pg_trigger
        union all select ${sql.raw(rowsOf('rewrite'))} from pg_rewrite
        union all select ${sql.raw(rowsOf('attrdef'))} from pg_attrdef
        union all select ${sql.raw(rowsOf('attribute'))} from pg_attribute
        where attrelid in (select oid from pg_class where relnamespace in (select oid from here))
        union all select setconfig::text from pg_db_role_setting
        where setdatabase = (select oid from pg_database where datname = current_database())
        union all select installed::text from ${sql.raw(sync)}.migrations as installed
        union all select installed::text from ${sql.raw(sync)}.installed_views as installed
    )
    select md5(string_agg(thing, e'\\n' order by thing)) as digest from things`,
  )
  return row?.digest ?? ''
}
