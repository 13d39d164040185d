import { sql } from 'kysely'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'

/** A PostgreSQL server that stores tables for the coordinator, or the coordinator itself. */
export interface Node {
  /** `host:port`, as Citus knows it. */
  readonly name: string
  /** Whether Citus may put new tables there. */
  readonly takesTables: boolean
}

/** The Citus extension in the database of the connection. */
export interface Citus {
  /** As `13.2-1`. */
  readonly version: string
  readonly nodes: readonly Node[]
}

/** Undefined if the database lacks the extension. */
export async function readCitus({
  query,
}: Pick<CatalogReader, 'query'>): Promise<Citus | undefined> {
  const [extension] = await query(
    'look at the extensions of the database',
    sql<{
      version: string
    }>`select extversion as version from pg_extension where extname = 'citus'`,
  )
  if (extension === undefined) return undefined
  const nodes = await query(
    'list the nodes',
    sql<Node>`select nodename || ':' || nodeport as name, shouldhaveshards as "takesTables"
from pg_dist_node
where isactive and noderole::text = 'primary'
order by groupid`,
  )
  return { version: extension.version, nodes }
}
