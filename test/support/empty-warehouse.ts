import { sql } from 'kysely'
import { quoteIdentifier } from '../../src/warehouse/connection/schema-names.js'
import type { RowReader } from './snapshot-tables.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

/**
 * Filled when the schemas are made, or by the first run: that looks through all zones of
 * PostgreSQL, which would take each test another twentieth of a second.
 */
const OF_THE_INSTALLATION = ['migrations', 'installed_views', 'derivations']

/** Rows that were deleted are still read over; from here on new files are cheaper than that. */
const WORTH_TRUNCATING_BYTES = 8 * 1024 * 1024

/**
 * Deletes every row of a migrated warehouse and resets its sequences: like creating it, but faster.
 * Deletes, because new files for a hundred small tables and indexes take many times as long, until
 * the deleted rows weigh more.
 */
export async function emptyWarehouse(warehouse: RowReader): Promise<void> {
  const { names } = warehouse
  const schemas = [names.data, names.sync]
  const tables = await warehouse.query(
    'list the tables',
    rawStatement<{ schema: string; name: string; bytes: number }>(
      `select schemaname as schema, tablename as name,
        pg_table_size(format('%I.%I', schemaname, tablename)::regclass)::float8 as bytes
    from pg_tables
    where schemaname in ($1, $2) and tablename != all ($3::text[])`,
      [...schemas, OF_THE_INSTALLATION],
    ),
  )
  const list = tables.map(
    ({ schema, name }) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
  )
  if (tables.reduce((sum, { bytes }) => sum + bytes, 0) > WORTH_TRUNCATING_BYTES) {
    await warehouse.query(
      'empty the tables',
      sql`truncate ${sql.raw(list.join(', '))} restart identity`,
    )
    return
  }
  await deleteRows(warehouse, list)
  await warehouse.query(
    'start the numbers anew',
    rawStatement(
      `select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname in ($1, $2)`,
      [...schemas],
    ),
  )
}

/**
 * Takes every row out of the named tables, in one statement, so that what refers to a row goes with
 * it. For tables with few rows.
 */
export async function deleteRows(
  warehouse: Pick<RowReader, 'query'>,
  tables: readonly string[],
): Promise<void> {
  if (process.env.TEST_CITUS_URL) {
    // Nodes process one table after the other; referenced tables come last.
    for (const table of [...tables].sort((one) =>
      /"sync_runs"|"alerts"|"alert_digests"/.test(one) ? 1 : -1,
    )) {
      await warehouse.query('empty tables', sql`delete from ${sql.raw(table)}`)
    }
    return
  }
  const deletions = tables.map((table, at) => `emptied_${at} as (delete from ${table})`)
  await warehouse.query('empty tables', sql`with ${sql.raw(deletions.join(', '))} select`)
}
