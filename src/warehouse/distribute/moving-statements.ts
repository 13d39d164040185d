import pg from 'pg'
import { quoteIdentifier } from '../connection/schema-names.js'
import { sessionSettings } from '../connection/session-settings.js'
import { containerChildren } from '../rows/container-children.js'
import type { CatalogueReader, Way } from './citus.js'

/** Nodes do one statement after the other, which a transaction that moves many tables needs. */
const SEQUENTIAL = `set local citus.multi_shard_modify_mode = 'sequential'`

/**
 * The statements that put the tables on one node, where the first of them goes; or by container,
 * each row where its container is, and of tables that have none a copy on every node.
 */
export async function distributing(
  reader: CatalogueReader,
  tables: readonly string[],
  way: Way,
): Promise<readonly string[]> {
  const first = reader.names.table('containers')
  const keys = await listKeys(reader, tables)
  const kept = way === 'container' ? await findKeptByContainer(reader, tables) : []
  const move = (name: string): string => {
    const beside = `colocate_with => ${pg.escapeLiteral(name === first ? 'none' : first)}`
    const moved = pg.escapeLiteral(name)
    if (way === 'schema') return `select create_distributed_table(${moved}, null, ${beside})`
    if (!kept.includes(name)) return `select create_reference_table(${moved})`
    return `select create_distributed_table(${moved}, 'container_id', ${beside})`
  }
  return [
    SEQUENTIAL,
    ...(await settingNodes(reader, way)),
    ...(await declaringFunctions(reader, way)),
    ...(await spreadingFunctions(reader)),
    ...keys.map(({ drop }) => drop),
    ...tables.map(move),
    ...keys.map(({ add }) => add),
  ]
}

/** Those of the tables whose key begins with the container. */
async function findKeptByContainer(
  { query }: CatalogueReader,
  tables: readonly string[],
): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    'look for the tables of containers',
    `select name
from unnest($1::text[]) as name
inner join pg_index
    on indrelid = name::regclass and indisprimary
inner join pg_attribute
    on attrelid = indrelid and attnum = indkey[0]
where attname = 'container_id'`,
    [tables],
  )
  return rows.map(({ name }) => name)
}

/**
 * Among nodes the functions that make rows of a container must be immutable. They are, under the
 * settings of our sessions; elsewhere they are declared stable, which lets PostgreSQL inline them.
 * Empty where they are declared so.
 */
export async function declaringFunctions(
  { query, names }: CatalogueReader,
  way: Way | undefined,
): Promise<string[]> {
  const volatility = way === 'container' ? 'immutable' : 'stable'
  const functions = await query<{ statement: string }>(
    'list the functions of containers',
    `select format('alter function %s %s', pg_proc.oid::regprocedure, $3::text) as statement
from pg_proc
inner join pg_namespace
    on pg_namespace.oid = pronamespace
where nspname = $1 and proname = any($2::text[]) and provolatile <> left($3, 1)::"char"
order by proname`,
    [names.sync, containerChildren.map(({ madeBy }) => madeBy), volatility],
  )
  return functions.map(({ statement }) => statement)
}

/** The statements that bring them back. */
export async function returning(
  reader: CatalogueReader,
  tables: readonly string[],
  way: Way,
): Promise<readonly string[]> {
  const keys = await listKeys(reader, tables)
  return [
    SEQUENTIAL,
    ...keys.map(({ drop }) => drop),
    ...(await declaringFunctions(reader, undefined)),
    ...(way === 'container' ? await resettingConnections(reader) : []),
    ...tables.map((name) => `select undistribute_table(${pg.escapeLiteral(name)})`),
    ...keys.map(({ add }) => add),
  ]
}

/** The statement that frees what the rows of a table took before they were moved. */
export function freeing(table: string): string {
  return `select truncate_local_data_after_distributing_table(${pg.escapeLiteral(table)})`
}

/** Of what a session sets for itself, what decides how values look, and how fast views are. */
export const ON_NODES = ['TimeZone', 'DateStyle', 'IntervalStyle', 'jit'] as const

/**
 * A transaction that wrote rows of a node over several connections is refused its next statement:
 * by container each session has one to a node.
 */
const ONE_CONNECTION: Readonly<Record<string, string>> = {
  'citus.max_adaptive_executor_pool_size': '1',
  'citus.multi_shard_modify_mode': 'sequential',
}

/** Nodes do not get the settings of our sessions: they become those of the login. */
async function settingNodes({ query }: CatalogueReader, way: Way): Promise<string[]> {
  const [here] = await query<{ database: string }>(
    'ask for the database',
    'select current_database()::text as database',
  )
  const settings =
    way === 'container' ? { ...sessionSettings({}), ...ONE_CONNECTION } : sessionSettings({})
  const names = way === 'container' ? [...ON_NODES, ...Object.keys(ONE_CONNECTION)] : ON_NODES
  const database = quoteIdentifier(here?.database ?? '')
  return names.map(
    (name) =>
      `alter role current_user in database ${database} set ${name} = ${pg.escapeLiteral(settings[name] ?? '')}`,
  )
}

/** What was set for rows by container would only slow down what comes after. */
async function resettingConnections({ query }: CatalogueReader): Promise<string[]> {
  const [here] = await query<{ database: string }>(
    'ask for the database',
    'select current_database()::text as database',
  )
  const database = quoteIdentifier(here?.database ?? '')
  return Object.keys(ONE_CONNECTION).map(
    (name) => `alter role current_user in database ${database} reset ${name}`,
  )
}

/** Functions that read no table run where the rows are. */
async function spreadingFunctions({ query, names }: CatalogueReader): Promise<string[]> {
  const functions = await query<{ signature: string }>(
    'list our functions',
    `select pg_proc.oid::regprocedure::text as signature
from pg_proc
inner join pg_namespace
    on pg_namespace.oid = pronamespace
inner join pg_language
    on pg_language.oid = prolang
where nspname = any($1::text[]) and lanname = 'sql'
order by pg_proc.oid`,
    [[names.sync, names.analytics, names.asOf]],
  )
  return functions.map(
    ({ signature }) => `select create_distributed_function(${pg.escapeLiteral(signature)})`,
  )
}

/** Foreign keys between the tables, which cannot stand while one of them has gone. */
async function listKeys(
  { query }: CatalogueReader,
  tables: readonly string[],
): Promise<readonly { readonly drop: string; readonly add: string }[]> {
  return query(
    'list the foreign keys',
    `select
    format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format(
        'alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)
    ) as add
from pg_constraint
where contype = 'f'
    and conrelid = any($1::regclass[])
    and confrelid = any($1::regclass[])
order by conname`,
    [tables],
  )
}
