import { sql } from 'kysely'
import { WarehouseSchemaError } from '../../../base/errors.js'
import { quoteIdentifier } from '../../../warehouse/connection/schema-names.js'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'

/** A table of our schemas that Citus manages. */
export interface CitusTable {
  /** Quoted, with its schema. */
  readonly name: string
  /** The whole table is on one node; otherwise it is distributed another way. */
  readonly isWhole: boolean
  /** The rows are spread over the nodes by container, as an early build did it. */
  readonly isSpread: boolean
  /** Tables of one group are on the same node. */
  readonly group: number
  /** `host:port` of the node; null for several nodes. */
  readonly node: string | null
}

/** Our tables that Citus manages. The database must have Citus. */
export async function readCitusTables({
  query,
  names,
}: CatalogReader): Promise<readonly CitusTable[]> {
  const rows = await query(
    'list the distributed tables',
    sql<Omit<CitusTable, 'name'> & { schema: string; table: string }>`select
    nspname::text as schema,
    relname::text as table,
    part.partmethod = 'n' and part.repmodel = 's' as "isWhole",
    part.partmethod = 'h'
        and column_to_column_name(part.logicalrelid, part.partkey) = 'container_id' as "isSpread",
    part.colocationid as "group",
    case when count(*) = 1 then min(node.nodename || ':' || node.nodeport) end as node
from pg_dist_partition as part
inner join pg_class
    on pg_class.oid = part.logicalrelid
inner join pg_namespace
    on pg_namespace.oid = relnamespace
left join pg_dist_shard as shard
    on shard.logicalrelid = part.logicalrelid
left join pg_dist_placement as placement
    on placement.shardid = shard.shardid
left join pg_dist_node as node
    on node.groupid = placement.groupid and node.noderole::text = 'primary'
where nspname = any(${Object.values(names)}::text[])
group by 1, 2, 3, 4, 5
order by 1, 2`,
  )
  return rows.map(({ schema, table, ...rest }) => ({ name: quotedName(schema, table), ...rest }))
}

export function quotedName(schema: string, table: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
}

/**
 * Whether the rows are on other nodes than the one that is asked. One small query if the database
 * lacks Citus. Throws WarehouseSchemaError if they are spread by container.
 */
export async function isDistributed(reader: CatalogReader): Promise<boolean> {
  const kept = (await hasCitus(reader)) ? await readCitusTables(reader) : []
  const sentence = describeSpread(reader, kept)
  if (sentence !== undefined) throw new WarehouseSchemaError(sentence)
  return kept.length > 0
}

/** A sentence if rows are spread by container, else undefined. */
export function describeSpread(
  { names }: Pick<CatalogReader, 'names'>,
  kept: readonly CitusTable[],
): string | undefined {
  if (!kept.some(({ isSpread }) => isSpread)) return undefined
  return (
    `the rows of ${names.data} are spread over nodes by container; this version cannot read ` +
    'them. Bring them back with `tracking-sync distribute --undo` of the version that spread ' +
    'them (docs/distribute.md)'
  )
}

async function hasCitus(reader: Pick<CatalogReader, 'query'>): Promise<boolean> {
  const [row] = await reader.query(
    'look at the extensions of the database',
    sql<{
      isThere: boolean
    }>`select exists (select from pg_extension where extname = 'citus') as "isThere"`,
  )
  return row?.isThere === true
}
