import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'

/** A warehouse, one transaction of it, or another connection to its database. */
export interface CatalogueReader {
  readonly names: SchemaNames
  readonly query: <Row>(
    action: string,
    sqlText: string,
    parameters?: readonly unknown[],
  ) => Promise<Row[]>
}

/** A PostgreSQL server that keeps tables for the coordinator, or the coordinator itself. */
export interface Node {
  /** `host:port`, as Citus knows it. */
  readonly name: string
  /** Whether new tables may be put there. */
  readonly takesTables: boolean
}

/** The extension that distributes tables, as the database of the connection has it. */
export interface Citus {
  /** As `13.2-1`. */
  readonly version: string
  readonly nodes: readonly Node[]
}

/** Undefined where the database does not have the extension. */
export async function readCitus({
  query,
}: Pick<CatalogueReader, 'query'>): Promise<Citus | undefined> {
  const [extension] = await query<{ version: string }>(
    'look for Citus',
    `select extversion as version from pg_extension where extname = 'citus'`,
  )
  if (extension === undefined) return undefined
  const nodes = await query<Node>(
    'list the nodes',
    `select nodename || ':' || nodeport as name, shouldhaveshards as "takesTables"
from pg_dist_node
where isactive and noderole::text = 'primary'
order by groupid`,
  )
  return { version: extension.version, nodes }
}

/** How the rows of an account are distributed. */
export type Way = 'schema' | 'container'

/** A table of our schemas that Citus keeps. */
export interface CitusTable {
  /** Quoted, with its schema. */
  readonly name: string
  /**
   * `schema`: whole on one node. `container`: each row where its container is. `copy`: whole on
   * every node. `other`: somebody distributed it in another way.
   */
  readonly keptBy: 'schema' | 'container' | 'copy' | 'other'
  /** Rows of tables of one group that belong together stand on one node. */
  readonly group: number
  /** `host:port` where it stands; null where it stands on several. */
  readonly node: string | null
}

/** Our tables that Citus keeps. The database has Citus: see `readCitus`. */
export async function readCitusTables({
  query,
  names,
}: CatalogueReader): Promise<readonly CitusTable[]> {
  const rows = await query<Omit<CitusTable, 'name'> & { schema: string; table: string }>(
    'list the distributed tables',
    `select
    nspname::text as schema,
    relname::text as table,
    case
        when part.partmethod = 'n' and part.repmodel = 's' then 'schema'
        when part.partmethod = 'n' and part.repmodel = 't' then 'copy'
        when part.partmethod = 'h'
            and column_to_column_name(part.logicalrelid, part.partkey) = 'container_id'
            then 'container'
        else 'other'
    end as "keptBy",
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
where nspname = any($1::text[])
group by 1, 2, 3, 4
order by 1, 2`,
    [Object.values(names)],
  )
  return rows.map(({ schema, table, ...rest }) => ({ name: quotedName(schema, table), ...rest }))
}

export function quotedName(schema: string, table: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
}

/** How tables are distributed that stand as this command puts them; the first of them decides. */
export function wayOf(kept: readonly CitusTable[]): Way | undefined {
  const [first] = kept
  if (first === undefined) return undefined
  return kept.every(({ keptBy }) => keptBy === 'schema') ? 'schema' : 'container'
}

/** How a warehouse is distributed, if it is. One small query where the database has no Citus. */
export async function findWay(reader: CatalogueReader): Promise<Way | undefined> {
  return (await hasCitus(reader)) ? wayOf(await readCitusTables(reader)) : undefined
}

/** Whether its rows stand on other nodes than the one that is asked. */
export async function isDistributed(reader: CatalogueReader): Promise<boolean> {
  return (await findWay(reader)) !== undefined
}

/** So long an answer counts: syncs ask with every page. */
const COUNTS_MS = 60_000

interface Answer {
  readonly askedAt: number
  readonly isSpread: Promise<boolean>
}

/** By warehouse: each has an object of names of its own. */
const answers = new WeakMap<CatalogueReader['names'], Answer>()

/**
 * Whether its rows are spread over nodes by their container. What was found counts for a minute: a
 * process that runs while its warehouse is distributed is refused some statements until then, and
 * repeats them.
 */
export async function isSpread(reader: CatalogueReader): Promise<boolean> {
  const { names } = reader
  const askedAt = performance.now()
  const known = answers.get(names)
  if (known !== undefined && askedAt - known.askedAt < COUNTS_MS) return known.isSpread
  const asked = findWay(reader).then((way) => way === 'container')
  answers.set(names, { askedAt, isSpread: asked })
  // A failure is that of its transaction, and says nothing.
  asked.catch(() => answers.delete(names))
  return asked
}

/** After its rows have been put elsewhere. */
export function forgetWhetherSpread({ names }: Pick<CatalogueReader, 'names'>): void {
  answers.delete(names)
}

async function hasCitus(reader: Pick<CatalogueReader, 'query'>): Promise<boolean> {
  const [row] = await reader.query<{ isThere: boolean }>(
    'look for Citus',
    `select exists (select from pg_extension where extname = 'citus') as "isThere"`,
  )
  return row?.isThere === true
}
