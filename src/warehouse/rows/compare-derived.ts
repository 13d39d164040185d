import type { ColumnDifference } from './compare-rows.js'
import { containerChildren, madeFrom, qualified } from './container-children.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Warehouse } from '../connection/warehouse.js'

/**
 * Where deadlines, holds and fees of a container differ from what its row makes of them now: table
 * by table, as JSON texts. Reads only.
 */
export async function compareDerived(
  warehouse: Warehouse,
  containerId: string,
): Promise<ColumnDifference[]> {
  const { names } = warehouse
  const differences: ColumnDifference[] = []
  for (const child of containerChildren) {
    const key = quoteIdentifier(child.keyColumn)
    const columns = [child.keyColumn, ...child.material, ...child.immaterial].map(quoteIdentifier)
    const rowsOf = (relation: string): string =>
      `(select jsonb_agg(to_jsonb(one) order by one.${key})::text from (${relation}) as one)`
    const list = (side: string): string => columns.map((name) => `${side}.${name}`).join(', ')
    const [row] = await warehouse.query<{ stored: string | null; made: string | null }>(
      `compare ${child.table}`,
      `select
    ${rowsOf(`select ${list('standing')}
        from ${qualified(names, child.table)} as standing
        where standing.container_id = $1`)} as stored,
    ${rowsOf(`select ${list('child')}
        from ${qualified(names, 'containers')} as parent
        cross join lateral ${madeFrom(names, child, 'parent')} as child
        where parent.container_id = $1 and parent._deleted_at is null`)} as made`,
      [containerId],
    )
    const { stored = null, made = null } = row ?? {}
    if (stored !== made) differences.push({ column: child.table, warehouse: stored, service: made })
  }
  return differences
}
