import { silentLogger } from '../../src/base/logger.js'
import type { World } from '../../src/extensions/simulator/world/world.js'
import { createWarehouse, type Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, type CompareOptions } from './compare-warehouse.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

/** Connects to what a command has written, looks, and disconnects. */
export async function lookAt<Result>(
  url: string,
  look: (warehouse: Warehouse) => Promise<Result>,
  schema = 'tracking',
): Promise<Result> {
  const warehouse = createWarehouse({ url, schema, logger: silentLogger })
  try {
    return await look(warehouse)
  } finally {
    await warehouse.close()
  }
}

export async function selectRows<Row = Record<string, unknown>>(
  url: string,
  sqlText: string,
): Promise<Row[]> {
  return lookAt(url, (warehouse) => warehouse.query('look at the rows', rawStatement<Row>(sqlText)))
}

/** How the rows differ from the world at an instant; empty when they are equal. */
export async function differencesFrom(
  world: World,
  at: Date,
  url: string,
  options: CompareOptions = {},
): Promise<string[]> {
  // The worlds of the programs charge nothing yet.
  const lacking = { mayLack: ['container_fees'], ...options }
  return lookAt(url, (warehouse) => compareWarehouse(warehouse, world, at, lacking))
}
