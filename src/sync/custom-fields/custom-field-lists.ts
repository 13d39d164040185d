import { ConnectorError } from '../../base/errors.js'
import {
  customFieldDefinitions,
  customFieldOptions,
  customFields,
} from '../../source/records/index.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** Lists that an account may lack; the warehouse is complete without them. */
export const OPTIONAL_LISTS: readonly string[] = [
  customFieldDefinitions.stream,
  customFieldOptions.stream,
  customFields.stream,
]

/** A refused list answers 403, or 404. */
export function isNotOurs(thrown: unknown): thrown is ConnectorError {
  return thrown instanceof ConnectorError && [403, 404, 410].includes(Number(thrown.context.status))
}

/**
 * A partial sync reads the list of values only up to this many pages: the service cannot filter
 * changed values.
 */
export const MOST_PAGES_IN_A_SYNC = 10

/** Whether a sync that does not read the whole lists still reads the custom fields. */
export async function areCustomFieldsFew(warehouse: Warehouse, pageSize: number): Promise<boolean> {
  const live = await countLiveRows(warehouse, customFields.stream)
  return live <= MOST_PAGES_IN_A_SYNC * pageSize
}
