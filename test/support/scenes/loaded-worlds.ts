import { inject } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { DISTRIBUTED } from '../distributed-database.js'
import { createTestDatabase } from '../test-database.js'
import { borrowTestWarehouse } from '../reused-warehouse.js'
import type { TestWarehouse } from '../test-warehouse.js'

/** By world, the database of this worker that holds it; the global setup drops them at the end. */
const loaded = new Map<string, Promise<string>>()

/**
 * A warehouse of a test's own with a world in it. `load` fills the first one, and all later ones of
 * this worker are copies: a fifth of the time that a run takes. The world must be the same whenever
 * its name is.
 */
export async function openLoadedWarehouse(
  world: string,
  load: (warehouse: Warehouse) => Promise<void>,
): Promise<TestWarehouse> {
  if (!mayBeCopied()) {
    const target = await borrowTestWarehouse()
    await load(target.warehouse)
    return target
  }
  const template = loaded.get(world) ?? makeTemplate(load)
  loaded.set(world, template)
  const database = await createTestDatabase({ template: await template })
  const warehouse = open(database.url)
  return {
    warehouse,
    url: database.url,
    drop: async () => {
      await warehouse.close()
      await database.drop()
    },
  }
}

/** A database on several nodes, and one that a pooler stays connected to, cannot be copied. */
function mayBeCopied(): boolean {
  const isPooled = inject('warehouseServerUrl') !== inject('databaseServerUrl')
  return !isPooled && inject('migratedDatabase') !== DISTRIBUTED
}

async function makeTemplate(load: (warehouse: Warehouse) => Promise<void>): Promise<string> {
  const database = await createTestDatabase({ template: inject('migratedDatabase') })
  const warehouse = open(database.url)
  try {
    await load(warehouse)
  } finally {
    await warehouse.close()
  }
  return database.name
}

function open(url: string): Warehouse {
  return createWarehouse({ url, schema: 'tracking', logger: silentLogger })
}
