import { sql } from 'kysely'
import type { Warehouse } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

/** A list that the service can filter to records that can still change. */
export type ChangingStream = 'shipments' | 'tracking_requests'

/**
 * Keys of records that the filter of a list should have kept off the page: shipments whose tracking
 * has stopped, and tracking requests last updated before `updatedFrom`. Judged by the rows as the
 * page left them; rows that a later answer changed are left out.
 */
export async function findUnwanted(
  warehouse: Warehouse,
  stream: ChangingStream,
  keys: readonly string[],
  { observedAt, updatedFrom }: { readonly observedAt: Date; readonly updatedFrom: string | null },
): Promise<string[]> {
  const seenUntil = observedAt.toISOString()
  const statements = {
    shipments: sql<{ key: string }>`select shipment_id as key
from ${tableRef('data.shipments')}
where shipment_id = any(${keys}::text[])
    and line_tracking_stopped_at is not null
    and _observed_at <= ${seenUntil}::timestamptz
    and ${updatedFrom}::timestamptz is null`,
    tracking_requests: sql<{ key: string }>`select tracking_request_id as key
from ${tableRef('data.tracking_requests')}
where tracking_request_id = any(${keys}::text[])
    and updated_at < ${updatedFrom}::timestamptz
    and _observed_at <= ${seenUntil}::timestamptz`,
  }
  const rows = await warehouse.query('look whether the filter was obeyed', statements[stream])
  return rows.map(({ key }) => key)
}

/**
 * Live shipments that were still tracked when they were last seen, at `observedUntil` or before.
 */
export async function findTrackedShipments(
  warehouse: Warehouse,
  observedUntil: Date,
): Promise<string[]> {
  const rows = await warehouse.query(
    'look for shipments that are still tracked',
    sql<{ key: string }>`select shipment_id as key
from ${tableRef('data.shipments')}
where _deleted_at is null
    and line_tracking_stopped_at is null
    and _observed_at <= ${observedUntil.toISOString()}::timestamptz`,
  )
  return rows.map(({ key }) => key)
}
