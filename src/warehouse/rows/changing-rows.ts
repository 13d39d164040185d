import type { Warehouse } from '../connection/warehouse.js'

/** A list of which the service can be asked for what can still change. */
export type ChangingStream = 'shipments' | 'tracking_requests'

/**
 * Those of the records of a page that should not have been on it, because the list was asked for
 * without them, by the rows as the page left them: shipments whose tracking has stopped, and
 * tracking requests that were last updated before `updatedFrom`. What a later answer said since is
 * left out.
 */
export async function findUnwanted(
  warehouse: Warehouse,
  stream: ChangingStream,
  keys: readonly string[],
  { observedAt, updatedFrom }: { readonly observedAt: Date; readonly updatedFrom: string | null },
): Promise<string[]> {
  const texts = {
    shipments: `select shipment_id as key
from ${warehouse.names.table('shipments')}
where shipment_id = any($1::text[])
    and line_tracking_stopped_at is not null
    and _observed_at <= $2::timestamptz
    and $3::timestamptz is null`,
    tracking_requests: `select tracking_request_id as key
from ${warehouse.names.table('tracking_requests')}
where tracking_request_id = any($1::text[])
    and updated_at < $3::timestamptz
    and _observed_at <= $2::timestamptz`,
  }
  const rows = await warehouse.query<{ key: string }>(
    'look whether the filter was obeyed',
    texts[stream],
    [keys, observedAt.toISOString(), updatedFrom],
  )
  return rows.map(({ key }) => key)
}

/**
 * Live shipments that were still tracked when they were last seen, which was before the given
 * instant.
 */
export async function findTrackedShipments(
  warehouse: Warehouse,
  observedUntil: Date,
): Promise<string[]> {
  const rows = await warehouse.query<{ key: string }>(
    'look for shipments that are still tracked',
    `select shipment_id as key
from ${warehouse.names.table('shipments')}
where _deleted_at is null
    and line_tracking_stopped_at is null
    and _observed_at <= $1::timestamptz`,
    [observedUntil.toISOString()],
  )
  return rows.map(({ key }) => key)
}
