import { ConnectorError } from '../../base/errors.js'
import {
  customFieldDefinitions,
  customFieldOptions,
  customFields,
} from '../../source/records/index.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** Lists that an account may lack; the warehouse is whole without them. */
export const OPTIONAL_LISTS: readonly string[] = [
  customFieldDefinitions.stream,
  customFieldOptions.stream,
  customFields.stream,
]

/** An account that may not read a list is answered 403, or 404. */
export function isNotOurs(thrown: unknown): thrown is ConnectorError {
  return thrown instanceof ConnectorError && [403, 404, 410].includes(Number(thrown.context.status))
}

/**
 * A sync that is not complete reads the list of values only while it has so few pages: the service
 * has no filter for those that changed.
 */
export const MOST_PAGES_IN_A_SYNC = 10

/** Whether a sync that does not read the whole lists reads the custom fields all the same. */
export async function areCustomFieldsFew(warehouse: Warehouse, pageSize: number): Promise<boolean> {
  const live = await countLiveRows(warehouse, customFields.stream)
  return live <= MOST_PAGES_IN_A_SYNC * pageSize
}
