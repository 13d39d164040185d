import type { Warehouse } from './warehouse/connection/warehouse.js'

/** After migrations were applied: new tables of a distributed warehouse go to its nodes. */
export async function onMigrated(warehouse: Warehouse): Promise<void> {
  const { distributeAdded } =
    await import('./extensions/accounts/distribute/distribute-warehouse.js')
  await distributeAdded(warehouse)
}
