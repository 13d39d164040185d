import { WarehouseSchemaError } from '../../base/errors.js'
import { readSyncFreshness } from '../../status/read-vitals.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** The age of the data. Customers do not see the bookkeeping. */
export async function readAge(warehouse: Warehouse) {
  try {
    const { beganAt, ageSeconds } = await readSyncFreshness(warehouse)
    if (beganAt === null) return { last_complete_sync: 'none yet' }
    return { last_complete_sync: beganAt, age_minutes: Math.round((ageSeconds ?? 0) / 60) }
  } catch (thrown) {
    if (!(thrown instanceof WarehouseSchemaError)) throw thrown
    return { last_complete_sync: 'not shown to this login' }
  }
}
