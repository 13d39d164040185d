import { rawStatement } from '../../src/warehouse/connection/typed-database.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'

const KEYS = {
  shipment_history: 'shipment_id',
  container_history: 'container_id',
  container_import_deadline_history: 'container_id, kind',
  container_hold_history: 'container_id, hold_key',
  container_fee_history: 'container_id, fee_key',
}

/** Keys with more than one version or interval that is open. */
export function doubledRows(warehouse: Pick<Warehouse, 'query'>): Promise<unknown[]> {
  const parts = Object.entries(KEYS).map(
    ([table, key]) => `select '${table}' as history, concat_ws(' ', ${key}) as key
    from tracking.${table} where valid_to is null group by ${key} having count(*) > 1`,
  )
  return warehouse.query('look for doubled rows', rawStatement(parts.join(' union all ')))
}
