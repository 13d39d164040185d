import { quoteIdentifier, type SchemaNames } from './schema-names.js'
import { compareKeys } from './sighting.js'
import type { Session } from './warehouse.js'

/** All transport events the service has of one container at one instant. */
export interface TransportEventList {
  readonly containerId: string
  readonly transportEventIds: readonly string[]
  readonly observedAt: Date
}

/**
 * Marks transport events that are no longer in their container's complete list: the service withdrew them. Never deletes; one
 * that returns is revived by its next sighting. Returns how many were marked.
 */
export async function tombstoneWithdrawnEvents(
  session: Session,
  names: SchemaNames,
  lists: readonly TransportEventList[],
  syncRunId: number | null,
): Promise<number> {
  if (lists.length === 0) return 0
  const sorted = [...lists].sort((one, two) => compareKeys(one.containerId, two.containerId))
  const containerIds = sorted.map(({ containerId }) => containerId)
  const stamps = sorted.map(({ observedAt }) => observedAt.toISOString())
  const kept = sorted.flatMap(({ containerId, transportEventIds }) =>
    transportEventIds.map((id) => ({ containerId, id })),
  )
  const rows = await session.query(
    'tombstone withdrawn transport events',
    `update ${quoteIdentifier(names.data)}.transport_events as stored
set
    _deleted_at = listed.observed_at,
    _changed_at = listed.observed_at,
    _observed_at = listed.observed_at,
    _sync_run_id = $5
from unnest($1::text[], $2::timestamptz[]) as listed (container_id, observed_at)
where stored.container_id = any($1::text[])
    and stored.container_id = listed.container_id
    and stored._deleted_at is null
    and stored._observed_at <= listed.observed_at
    and not exists (
        select from unnest($3::text[], $4::text[]) as kept (container_id, transport_event_id)
        where kept.container_id = stored.container_id
            and kept.transport_event_id = stored.transport_event_id
    )
returning stored.transport_event_id`,
    [
      containerIds,
      stamps,
      kept.map(({ containerId }) => containerId),
      kept.map(({ id }) => id),
      syncRunId,
    ],
  )
  return rows.length
}

/** Those of the given containers whose row names a transport event that has no live row. */
export async function findIncompleteEventLists(
  session: Session,
  names: SchemaNames,
  containerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const data = quoteIdentifier(names.data)
  const rows = await session.query<{ container_id: string }>(
    'look for missing transport events',
    `select container.container_id
from ${data}.containers as container
where container.container_id = any($1::text[])
    and exists (
        select from unnest(container.transport_event_ids) as named (id)
        where not exists (
            select from ${data}.transport_events as stored
            where stored.container_id = container.container_id
                and stored.transport_event_id = named.id
                and stored._deleted_at is null
        )
    )`,
    [containerIds],
  )
  return new Set(rows.map(({ container_id }) => container_id))
}

/** The ids of transport events that a container itself names, as its row has them; none where it has no row. */
export async function loadListedEventIds(
  session: Session,
  names: SchemaNames,
  containerId: string,
): Promise<readonly string[]> {
  const [row] = await session.query<{ ids: readonly string[] | null }>(
    'look up the list of transport events',
    `select transport_event_ids as ids
from ${quoteIdentifier(names.data)}.containers
where container_id = $1 and _deleted_at is null`,
    [containerId],
  )
  return row?.ids ?? []
}
