import { quoteIdentifier } from './schema-names.js'
import type { Warehouse } from './warehouse.js'

/** Removes all schemas of a warehouse with everything in them. For the demo, whose schemas are its own. */
export async function dropSchemas(warehouse: Warehouse): Promise<void> {
  const schemas = Object.values(warehouse.names).map((name) => quoteIdentifier(name as string))
  await warehouse.query('drop schemas', `drop schema if exists ${schemas.join(', ')} cascade`)
}
