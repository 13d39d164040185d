import type { Resource } from '../../resources/resource.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Warehouse } from '../connection/warehouse.js'

/** Ids of all rows of a small table that are not tombstoned, in order. */
export async function loadLiveKeys(warehouse: Warehouse, resource: Resource): Promise<string[]> {
  const key = quoteIdentifier(resource.idColumn)
  const table = warehouse.names.table(resource.stream)
  const rows = await warehouse.query<{ id: string }>(
    `list ${resource.stream}`,
    `select ${key} as id from ${table} where _deleted_at is null order by 1`,
  )
  return rows.map(({ id }) => id)
}
