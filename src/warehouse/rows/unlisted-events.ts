import { sql } from 'kysely'
import type { Sighting } from '../../source/records/resource.js'
import { containers, transportEvents } from '../../source/records/index.js'
import { compareKeys, tableRef } from '../connection/typed-database.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { isConfirming, type Mode } from './incoming-rows.js'

/**
 * Live transport events that neither their container nor another live one lists: a pass must leave
 * none. Finding them everywhere reads every transport event. So a writer of an event without its
 * list notes the container in `event_lists_in_doubt`, and a run looks there.
 */

/** Containers per statement: a second or two of work, for an account of any size. */
const CONTAINERS_AT_ONCE = 5_000

const LIST = containers.columnIndex.get('transport_event_ids') ?? -1
const EVENT_ID = transportEvents.columnIndex.get('transport_event_id') ?? -1
const CONTAINER_ID = transportEvents.columnIndex.get('container_id') ?? -1

/** The events that one batch wrote, and the lists it has seen. */
export interface WrittenEvents {
  readonly sightings: readonly Sighting[]
  /** Containers whose complete list has been compared with the stored events. */
  readonly compared: ReadonlySet<string>
  readonly mode: Mode
}

/**
 * The containers with a transport event whose list this batch has not seen, sorted. For writers
 * beside the runs every such container counts: a run may be writing another list at this moment.
 */
export function listsInDoubt({ sightings, compared, mode }: WrittenEvents): string[] {
  const inDoubt = new Set<string>()
  const lists = new Map<string, string>()
  for (const { resource, key, values } of sightings) {
    if (resource === containers) lists.set(key, values[LIST] ?? '')
  }
  for (const { resource, values } of sightings) {
    if (resource !== transportEvents) continue
    const containerId = values[CONTAINER_ID] ?? ''
    if (inDoubt.has(containerId)) continue
    // The list of a container is one text, with the ids in quotes.
    const isListed =
      !isConfirming(mode) &&
      (compared.has(containerId) ||
        lists.get(containerId)?.includes(`"${values[EVENT_ID] ?? ''}"`) === true)
    if (!isListed) inDoubt.add(containerId)
  }
  return [...inDoubt].sort(compareKeys)
}

/**
 * Records that containers may have live transport events that they do not list. Call it once per
 * transaction, so that two transactions lock the same rows in the same order. Idempotent.
 */
export async function doubtLists(session: Session, containerIds: readonly string[]): Promise<void> {
  if (containerIds.length === 0) return
  await session.query(
    'doubt lists of transport events',
    // The update waits for a run that is settling the row, and then inserts it again.
    sql`insert into ${tableRef('sync.event_lists_in_doubt')} (container_id)
select distinct container_id
from unnest(${containerIds}::text[]) as doubted (container_id)
order by container_id
on conflict (container_id) do update
set doubted_at = excluded.doubted_at`,
  )
}

/** Whether `settleListsInDoubt` has work. Usually it has none, and the run needs no transaction. */
export async function areListsInDoubt(warehouse: Warehouse): Promise<boolean> {
  const rows = await warehouse.query(
    'look for lists of transport events in doubt',
    warehouse.db.selectFrom('sync.event_lists_in_doubt').select('container_id').limit(1),
  )
  return rows.length > 0
}

/**
 * Returns the containers in doubt that do have such events, and clears the others, except those
 * without a row: see `findContainersWithoutRow`. Leaves a container that another transaction is
 * putting in doubt to the next run.
 */
export async function settleListsInDoubt(
  transact: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>,
): Promise<string[]> {
  const table = tableRef('sync.event_lists_in_doubt')
  const found: string[][] = []
  for (let after = ''; ;) {
    const { last, unlisted } = await transact(async (session) => {
      // Lock first: the next statement then sees all that was written before the locks.
      const rows = await session.query(
        'lock lists of transport events in doubt',
        sql<{ container_id: string }>`select container_id
from ${table}
where container_id > ${after}
order by container_id
limit ${CONTAINERS_AT_ONCE}
for update skip locked`,
      )
      const ids = rows.map(({ container_id }) => container_id)
      if (ids.length === 0) return { last: undefined, unlisted: [] }
      const { containerIds } = await findUnlisted(session, ids)
      await session.query(
        'settle lists of transport events',
        sql`delete from ${table} as doubted
where doubted.container_id = any(${ids}::text[])
    and doubted.container_id <> all (${containerIds}::text[])
    and (
        exists (
            select from ${tableRef('data.containers')} as owner
            where owner.container_id = doubted.container_id
        )
        or not exists (
            select from ${tableRef('data.transport_events')} as report
            where report.container_id = doubted.container_id and report._deleted_at is null
        )
    )`,
      )
      return { last: ids.at(-1), unlisted: containerIds }
    })
    found.push(unlisted)
    if (last === undefined) return found.flat()
    after = last
  }
}

/**
 * Containers with such events among all that existed before a run, for a backfill, which ignores
 * the noted doubts. The run inserted its own containers together with their lists. Reads only.
 */
export async function findContainersWithUnlistedEvents(
  session: Session,
  syncRunId: number,
): Promise<string[]> {
  const found: string[][] = []
  for await (const { containerIds } of lookEverywhere(session, syncRunId)) found.push(containerIds)
  return found.flat()
}

/** How many transport events are in no list. Reads every transport event, slice by slice. */
export async function countUnlistedEvents(session: Session): Promise<number> {
  let count = 0
  for await (const { events } of lookEverywhere(session, null)) count += events
  return count
}

/** The given containers whose transport events were checked longest ago, at most `limit`. */
export async function chooseLeastChecked(
  session: Session,
  containerIds: readonly string[],
  limit: number,
): Promise<string[]> {
  if (containerIds.length === 0) return []
  const rows = await session.query(
    'choose containers with transport events in no list',
    sql<{ container_id: string }>`select chosen.container_id
from unnest(${containerIds}::text[]) as chosen (container_id)
left join ${tableRef('sync.transport_event_checks')} as made
    on made.container_id = chosen.container_id
group by chosen.container_id, made.checked_at
order by made.checked_at nulls first, chosen.container_id
limit ${limit}`,
  )
  return rows.map(({ container_id }) => container_id)
}

interface Unlisted {
  readonly containerIds: string[]
  readonly events: number
}

/** Skips containers that `syncRunId` inserted, if it is given. */
async function* lookEverywhere(
  session: Session,
  syncRunId: number | null,
): AsyncGenerator<Unlisted, void> {
  let after = ''
  for (;;) {
    const rows = await session.query(
      'divide containers',
      sql<{ container_id: string }>`select container_id
from ${tableRef('data.containers')}
where container_id > ${after}
    and (${syncRunId}::bigint is null or _sync_run_id is distinct from ${syncRunId} or _first_seen_at <> _changed_at)
order by container_id
limit ${CONTAINERS_AT_ONCE}`,
    )
    const ids = rows.map(({ container_id }) => container_id)
    if (ids.length > 0) yield await findUnlisted(session, ids)
    if (ids.length < CONTAINERS_AT_ONCE) return
    after = ids.at(-1) ?? ''
  }
}

/** Skips containers whose list was never sent; a dead container lists nothing. */
async function findUnlisted(session: Session, containerIds: readonly string[]): Promise<Unlisted> {
  const [row] = await session.query(
    'look for transport events in no list',
    // Sets, so that each list is unpacked once and not for every event.
    sql<{ container_ids: string[] | null; events: number }>`with owner as materialized (
    select container_id, case when _deleted_at is null then transport_event_ids else '{}' end as ids
    from ${tableRef('data.containers')}
    where container_id = any(${containerIds}::text[])
        and (_deleted_at is not null or transport_event_ids is not null)
),

unlisted as materialized (
    select report.container_id, report.transport_event_id
    from owner
    cross join lateral (
        select candidate.container_id, candidate.transport_event_id
        from ${tableRef('data.transport_events')} as candidate
        where candidate.container_id = owner.container_id and candidate._deleted_at is null
        offset 0
    ) as report
    except
    select owner.container_id, named.id
    from owner
    cross join unnest(owner.ids) as named (id)
),

unnamed as (
    select unlisted.container_id
    from unlisted
    where unlisted.transport_event_id not in (
        select named.id
        from ${tableRef('data.containers')} as other
        cross join unnest(other.transport_event_ids) as named (id)
        where other._deleted_at is null
            and named.id in (select candidate.transport_event_id from unlisted as candidate)
    )
)

select array_agg(distinct container_id) as container_ids, count(*)::int as events
from unnamed`,
  )
  return { containerIds: row?.container_ids ?? [], events: row?.events ?? 0 }
}
