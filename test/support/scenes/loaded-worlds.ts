import { createHash } from 'node:crypto'
import { inject } from 'vitest'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { DISTRIBUTED } from '../distributed-database.js'
import { borrowTestWarehouse } from '../reused-warehouse.js'
import { createTestWarehouse, type TestWarehouse } from '../test-warehouse.js'
import { withClient } from '../with-client.js'

/** By world, the database of this run that holds it; the global setup drops them at the end. */
const loaded = new Map<string, Promise<string>>()

/**
 * A warehouse of a test's own with a world in it. The first of a run is filled by `load`, and all
 * later ones are copies: a fifth of the time that a run takes. The world must be the same whenever
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
  const template = loaded.get(world) ?? findTemplate(world, load)
  loaded.set(world, template)
  return createTestWarehouse({ template: await template, isMigrated: false })
}

/** A database on several nodes, and one that a pooler stays connected to, cannot be copied. */
function mayBeCopied(): boolean {
  const isPooled = inject('warehouseServerUrl') !== inject('databaseServerUrl')
  return !isPooled && inject('migratedDatabase') !== DISTRIBUTED
}

/** Workers side by side may want the same world: one of them loads it, and the others wait here. */
async function findTemplate(
  world: string,
  load: (warehouse: Warehouse) => Promise<void>,
): Promise<string> {
  const digest = createHash('md5').update(world).digest('hex')
  const name = `test_${inject('testRun')}_${digest}`
  return withClient(inject('databaseServerUrl'), async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      const { warehouse, url } = await createTestWarehouse()
      await load(warehouse).finally(() => warehouse.close())
      await client.query(`alter database ${new URL(url).pathname.slice(1)} rename to ${name}`)
    }
    return name
  })
}
