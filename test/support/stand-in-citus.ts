import { sql } from 'kysely'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

/**
 * In place of Citus, in a database of plain PostgreSQL: the catalogues and functions that
 * `distribute` uses, under their names. The functions move nothing and write down how they were
 * called. For a superuser.
 */
export async function installStandIn(
  warehouse: Warehouse,
  { version = '13.2-1', nodes = 2 }: { readonly version?: string; readonly nodes?: number } = {},
): Promise<void> {
  await warehouse.transaction('install the stand-in', async (session) => {
    const run = (text: string, parameters: readonly unknown[] = []) =>
      session.query('install the stand-in', rawStatement(text, [...parameters]))
    await run('set local allow_system_table_mods = on')
    await run(
      `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'citus', 10, oid, false, $1 from pg_namespace where nspname = 'pg_catalog'`,
      [version],
    )
    for (const statement of STATEMENTS) await run(statement)
    await run(
      `insert into pg_catalog.pg_dist_node
      select at, at, 'node-' || at, 5432, 'primary', true, at > 0
      from generate_series(0, $1::integer) as at`,
      [nodes],
    )
  })
}

const STATEMENTS = [
  `create table pg_catalog.pg_dist_node (
      nodeid integer, groupid integer, nodename text, nodeport integer, noderole text,
      isactive boolean, shouldhaveshards boolean
  )`,
  `create table pg_catalog.pg_dist_partition (
      logicalrelid regclass primary key, partmethod "char", repmodel "char", colocationid integer,
      partkey text
  )`,
  `create function pg_catalog.column_to_column_name(name regclass, key text) returns text
  language sql as 'select key'`,
  `create table pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint)`,
  `create table pg_catalog.pg_dist_placement (shardid bigint, groupid integer)`,
  `create table pg_catalog.citus_calls (
      at integer generated always as identity, call text not null
  )`,
  `create view pg_catalog.citus_shards as
  select nodename, nodeport, pg_relation_size(logicalrelid) as shard_size
  from pg_catalog.pg_dist_shard
  inner join pg_catalog.pg_dist_placement using (shardid)
  inner join pg_catalog.pg_dist_node using (groupid)`,
  `create function pg_catalog.create_distributed_table(
      name regclass, column_name text, colocate_with text default 'default'
  ) returns void language plpgsql as $$
  begin
      insert into pg_catalog.citus_calls (call)
      values (format('create_distributed_table %s %s %s', name, coalesce(column_name, 'null'), colocate_with));
      insert into pg_catalog.pg_dist_partition
      values (name, 'n', 's', 1, null);
      insert into pg_catalog.pg_dist_shard values (name, name::oid::bigint);
      insert into pg_catalog.pg_dist_placement values (name::oid::bigint, 1);
  end $$`,
  `create function pg_catalog.undistribute_table(name regclass) returns void
  language plpgsql as $$
  begin
      insert into pg_catalog.citus_calls (call) values (format('undistribute_table %s', name));
      delete from pg_catalog.pg_dist_partition where logicalrelid = name;
  end $$`,
  `create function pg_catalog.truncate_local_data_after_distributing_table(name regclass)
  returns void language plpgsql as $$
  begin
      insert into pg_catalog.citus_calls (call) values (format('truncate_local_data %s', name));
  end $$`,
  `create function pg_catalog.create_distributed_function(name regprocedure) returns void
  language plpgsql as $$
  begin
      insert into pg_catalog.citus_calls (call)
      values (format('create_distributed_function %s', name));
  end $$`,
  `create function pg_catalog.run_command_on_workers(command text)
  returns table (nodename text, nodeport integer, success boolean, result text)
  language plpgsql as $$
  begin
      for nodename, nodeport in select node.nodename, node.nodeport
          from pg_catalog.pg_dist_node as node where node.groupid > 0
      loop
          success := true;
          execute command into result;
          return next;
      end loop;
  end $$`,
]

/** The calls of the imitated Citus so far, in order, with schemas as in the statement. */
export async function standInCalls(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.query(
    'list the calls',
    sql<{ call: string }>`select call from pg_catalog.citus_calls order by at`,
  )
  return rows.map(({ call }) => call)
}
