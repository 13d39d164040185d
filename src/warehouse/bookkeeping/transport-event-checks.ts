import { sql } from 'kysely'
import { compareKeys, tableRef } from '../connection/typed-database.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/**
 * The live containers whose transport events may still change and were read longest ago: by their
 * last check, else by their first sighting, when their events were read too. A container that was
 * returned empty is finished. Reads the keys of all containers, some tens of milliseconds for
 * 60,000.
 */
export async function chooseContainersToCheck(
  warehouse: Warehouse,
  limit: number,
): Promise<string[]> {
  const rows = await warehouse.query(
    'choose containers whose transport events are due for a check',
    sql<{ container_id: string }>`select stored.container_id
from ${tableRef('data.containers')} as stored
left join ${tableRef('sync.transport_event_checks')} as made
    on made.container_id = stored.container_id
where stored._deleted_at is null and stored.empty_terminated_at is null
order by coalesce(made.checked_at, stored._first_seen_at), stored.container_id
limit ${limit}`,
  )
  return rows.map((row) => row.container_id)
}

/** Records that the transport events of these containers were just read. */
export async function recordTransportEventChecks(
  session: Session,
  containerIds: readonly string[],
): Promise<void> {
  await session.query(
    'record checks of transport events',
    // In order, so that two such statements cannot deadlock.
    sql`insert into ${tableRef('sync.transport_event_checks')} (container_id)
select container_id
from unnest(${[...containerIds].sort(compareKeys)}::text[]) as checked (container_id)
on conflict (container_id) do update
set checked_at = excluded.checked_at`,
  )
}
