import { sql } from 'kysely'
import pg from 'pg'
import { quoteIdentifier } from '../../../warehouse/connection/schema-names.js'
import { sessionSettings } from '../../../warehouse/connection/session-settings.js'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'

/** Nodes do one statement after the other: a transaction that moves many tables needs it. */
const SEQUENTIAL = `set local citus.multi_shard_modify_mode = 'sequential'`

/** The statements that put the tables on the node of the first. */
export async function distributing(
  reader: CatalogReader,
  tables: readonly string[],
): Promise<readonly string[]> {
  const first = reader.names.table('containers')
  const keys = await listKeys(reader, tables)
  return [
    SEQUENTIAL,
    ...(await settingNodes(reader)),
    ...(await spreadingFunctions(reader)),
    ...keys.map(({ drop }) => drop),
    ...tables.map(
      (name) =>
        `select create_distributed_table(${pg.escapeLiteral(name)}, null, ` +
        `colocate_with => ${pg.escapeLiteral(name === first ? 'none' : first)})`,
    ),
    ...keys.map(({ add }) => add),
  ]
}

/** The statements that bring the tables back. */
export async function returning(
  reader: CatalogReader,
  tables: readonly string[],
): Promise<readonly string[]> {
  const keys = await listKeys(reader, tables)
  return [
    SEQUENTIAL,
    ...keys.map(({ drop }) => drop),
    ...tables.map((name) => `select undistribute_table(${pg.escapeLiteral(name)})`),
    ...keys.map(({ add }) => add),
  ]
}

/** The statement that frees the room that a table's rows took before the move. */
export function freeing(table: string): string {
  return `select truncate_local_data_after_distributing_table(${pg.escapeLiteral(table)})`
}

/** Settings of a session that decide the look of values and the speed of views. */
export const ON_NODES = ['TimeZone', 'DateStyle', 'IntervalStyle', 'jit'] as const

/** Nodes do not get the settings of our sessions: the login gets them. */
async function settingNodes({ query }: CatalogReader): Promise<string[]> {
  const [here] = await query(
    'ask for the database',
    sql<{ database: string }>`select current_database()::text as database`,
  )
  const settings = sessionSettings({})
  const database = quoteIdentifier(here?.database ?? '')
  return ON_NODES.map(
    (name) =>
      `alter role current_user in database ${database} set ${name} = ${pg.escapeLiteral(settings[name] ?? '')}`,
  )
}

/** Functions that read no table run where the rows are. */
async function spreadingFunctions({ query, names }: CatalogReader): Promise<string[]> {
  const functions = await query(
    'list our functions',
    sql<{ signature: string }>`select pg_proc.oid::regprocedure::text as signature
from pg_proc
inner join pg_namespace
    on pg_namespace.oid = pronamespace
inner join pg_language
    on pg_language.oid = prolang
where nspname = any(${[names.sync, names.analytics, names.asOf]}::text[]) and lanname = 'sql'
order by pg_proc.oid`,
  )
  return functions.map(
    ({ signature }) => `select create_distributed_function(${pg.escapeLiteral(signature)})`,
  )
}

/** Foreign keys between the tables. They cannot exist while one of the tables is elsewhere. */
async function listKeys(
  { query }: CatalogReader,
  tables: readonly string[],
): Promise<readonly { readonly drop: string; readonly add: string }[]> {
  return query(
    'list the foreign keys',
    sql`select
    format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format(
        'alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)
    ) as add
from pg_constraint
where contype = 'f'
    and conrelid = any(${tables}::regclass[])
    and confrelid = any(${tables}::regclass[])
order by conname`,
  )
}
