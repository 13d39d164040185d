import { sql } from 'kysely'
import { compareKeys, lookUp, tableRef } from '../connection/typed-database.js'
import type { Session } from '../connection/warehouse.js'

/** All transport events that the service has for one container at one instant. */
export interface TransportEventList {
  readonly containerId: string
  readonly transportEventIds: readonly string[]
  readonly observedAt: Date
}

/**
 * A list that lacks a stored transport event, and how much later than the list the event was seen.
 */
export interface ListBehindEvent {
  readonly containerId: string
  readonly behindMs: number
}

export interface Withdrawals {
  /** How many transport events were marked. */
  readonly count: number
  /**
   * Lists that are older than a stored transport event which they lack: another reader was faster,
   * or the service's clock went back. Such a list must be read again after `behindMs`, even if its
   * container equals its row by then.
   */
  readonly behind: readonly ListBehindEvent[]
}

/**
 * Marks transport events that are no longer in their container's complete list: the service
 * withdrew them. Deletes nothing; the next sighting of an event revives it.
 */
export async function tombstoneWithdrawnEvents(
  session: Session,
  lists: readonly TransportEventList[],
  syncRunId: number | null,
): Promise<Withdrawals> {
  if (lists.length === 0) return { count: 0, behind: [] }
  const sorted = [...lists].sort((one, two) => compareKeys(one.containerId, two.containerId))
  const kept = sorted.flatMap(({ containerId, transportEventIds }) =>
    transportEventIds.map((id) => ({ containerId, id })),
  )
  const table = tableRef('data.transport_events')
  // Sets, and an index look-up for the events of each container: a planner without statistics would
  // turn joins into a read of all events for every page.
  const rows = await session.query(
    'tombstone withdrawn transport events',
    sql<{ container_id: string | null; value: number }>`with listed as (
    select * from unnest(${sorted.map(({ containerId }) => containerId)}::text[],
        ${sorted.map(({ observedAt }) => observedAt.toISOString())}::timestamptz[]) as listed (container_id, observed_at)
),

unlisted as (
    select stored.container_id, stored.transport_event_id
    from listed
    cross join lateral (
        select candidate.container_id, candidate.transport_event_id
        from ${table} as candidate
        where candidate.container_id = listed.container_id and candidate._deleted_at is null
        offset 0
    ) as stored
    except
    select * from unnest(${kept.map(({ containerId }) => containerId)}::text[],
        ${kept.map(({ id }) => id)}::text[])
),

missing as (
    select
        stored.container_id,
        stored.transport_event_id,
        listed.observed_at,
        extract(epoch from stored._observed_at - listed.observed_at) * 1000 as ahead_ms
    from unlisted
    cross join ${lookUp(table, ['container_id', 'transport_event_id'], 'unlisted')} as stored
    inner join listed
        on listed.container_id = stored.container_id
),

withdrawn as (
    update ${table} as stored
    set
        _deleted_at = missing.observed_at,
        _changed_at = missing.observed_at,
        _observed_at = missing.observed_at,
        _sync_run_id = ${syncRunId}
    from missing
    where stored.container_id = missing.container_id
        and stored.transport_event_id = missing.transport_event_id
        and stored._deleted_at is null
        and stored._observed_at <= missing.observed_at
    returning stored.transport_event_id
)

select null as container_id, count(*)::float8 as value
from withdrawn
union all
select container_id, max(ahead_ms)::float8 as value
from missing
where ahead_ms > 0
group by container_id`,
  )
  const [{ value: count } = { value: 0 }, ...rest] = rows
  return {
    count,
    behind: rest.map(({ container_id, value }) => ({
      containerId: container_id ?? '',
      behindMs: value,
    })),
  }
}

/** The given containers whose row names a transport event without a live row. */
export async function findIncompleteEventLists(
  session: Session,
  containerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await session.query(
    'look for missing transport events',
    sql<{ container_id: string }>`select container.container_id
from ${tableRef('data.containers')} as container
where container.container_id = any(${containerIds}::text[])
    and exists (
        select from unnest(container.transport_event_ids) as named (id)
        where not exists (
            select from ${tableRef('data.transport_events')} as stored
            where stored.container_id = container.container_id
                and stored.transport_event_id = named.id
                and stored._deleted_at is null
        )
    )`,
  )
  return new Set(rows.map(({ container_id }) => container_id))
}

/** The ids of transport events in the row of a container; none without a live row. */
export async function loadListedEventIds(
  session: Session,
  containerId: string,
): Promise<readonly string[]> {
  const [row] = await session.query(
    'look up the list of transport events',
    session.db
      .selectFrom('data.containers')
      .select('transport_event_ids as ids')
      .where('container_id', '=', containerId)
      .where('_deleted_at', 'is', null),
  )
  return row?.ids ?? []
}

/** The containers of transport events, by event; unknown events are absent. */
export async function findContainersOfEvents(
  session: Session,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (eventIds.length === 0) return new Map()
  const rows = await session.query(
    'look for the containers of transport events',
    sql<{ event_id: string; container_ids: string[] }>`select
    transport_event_id as event_id,
    array_agg(container_id order by container_id) as container_ids
from ${tableRef('data.transport_events')}
where transport_event_id = any(${eventIds}::text[])
group by transport_event_id`,
  )
  return new Map(rows.map((row) => [row.event_id, row.container_ids]))
}
