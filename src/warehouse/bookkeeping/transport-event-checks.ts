import { givenRows } from '../connection/given-rows.js'
import { compareKeys } from '../rows/sighting.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/**
 * The live containers whose transport events were read longest ago and may still change, the
 * longest first: by their last check, else by when they were first seen, because their events were
 * read then. What came back empty is finished. Reads the containers' keys, some tens of
 * milliseconds for 60,000.
 */
export async function chooseContainersToCheck(
  warehouse: Warehouse,
  limit: number,
): Promise<string[]> {
  const rows = await warehouse.query<{ container_id: string }>(
    'choose containers whose transport events are due for a check',
    `select stored.container_id
from ${warehouse.names.table('containers')} as stored
left join ${warehouse.names.table('transport_event_checks')} as made
    on made.container_id = stored.container_id
where stored._deleted_at is null and stored.empty_terminated_at is null
order by coalesce(made.checked_at, stored._first_seen_at), stored.container_id
limit $1`,
    [limit],
  )
  return rows.map((row) => row.container_id)
}

/**
 * Notes that the transport events of these containers were read just now. One row each, replaced by
 * the next check.
 */
export async function noteTransportEventChecks(
  session: Session,
  containerIds: readonly string[],
): Promise<void> {
  const sorted = [...containerIds].sort(compareKeys)
  await session.sync
    .insertInto('transport_event_checks')
    .columns(['container_id'])
    .expression((build) =>
      build
        .selectFrom(givenRows<{ container_id: string }>({ container_id: ['text', sorted] }))
        .select('given.container_id'),
    )
    .onConflict((conflict) =>
      conflict
        .column('container_id')
        .doUpdateSet((set) => ({ checked_at: set.ref('excluded.checked_at') })),
    )
    .execute()
}
