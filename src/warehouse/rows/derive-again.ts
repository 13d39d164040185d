import { sql, type RawBuilder } from 'kysely'
import {
  containerChildren,
  madeFrom,
  replaceStanding,
  type ChildTable,
} from './container-children.js'
import { fillTimeZones } from './time-zones.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { columnList, tableRef } from '../connection/typed-database.js'

/** The name of this derivation in the bookkeeping. */
const DERIVATION = 'container_children'

/** A batch locks its rows for some milliseconds, the longest that a webhook waits. */
const CONTAINERS_AT_ONCE = 500

export interface DeriveOptions {
  readonly syncRunId: number
  readonly signal: AbortSignal
  /** Containers per transaction. */
  readonly containersAtOnce?: number
}

/** Whether the stored rows come from other functions or other zone data. Reads only. */
async function isOutdated(warehouse: Warehouse, textHash: string): Promise<boolean> {
  const deadlines = tableRef('data.container_import_deadlines')
  const zones = tableRef('analytics.time_zones')
  const [made] = await warehouse.query(
    'look at what was derived',
    sql<{ is_made: boolean }>`select exists (
    select from ${tableRef('sync.derivations')} as made
    where made.derivation = ${DERIVATION} and made.text_hash = ${textHash} and made.finished_at is not null
) as is_made`,
  )
  if (made?.is_made !== true) return true
  const [row] = await warehouse.query(
    'look at what was derived',
    sql<{ is_outdated: boolean }>`select
    exists (
        select from ${deadlines} as standing
        inner join ${zones} as zone
            on zone.name = standing.time_zone
        where standing.local_date <> (standing.deadline_at at time zone zone.name)::date
    )
    -- Listing the zones takes long, and an unknown zone is rare.
    or case
        when exists (
            select from ${deadlines} as standing
            where not standing.is_zone_known and standing.time_zone is not null
        )
            then exists (
                select from ${deadlines} as standing
                inner join pg_timezone_names as known
                    on known.name = standing.time_zone
                where not standing.is_zone_known
            )
        else false
    end as is_outdated`,
  )
  return row?.is_outdated === true
}

/** A hash of the installed functions, independent of who installed them. */
async function readTextHash({ names, ...session }: Warehouse): Promise<string> {
  const [row] = await session.query(
    'look at what derives',
    sql<{
      hash: string | null
    }>`select md5(string_agg(proname || prosrc, '' order by proname)) as hash
from pg_proc
inner join pg_namespace
    on pg_namespace.oid = pronamespace
where nspname = ${names.sync} and proname <> 'ask_for_request'`,
  )
  return row?.hash ?? ''
}

/**
 * Derives deadlines, holds, fees and their intervals again from the stored rows and versions, where
 * they come from other functions or other zone data. Sends no request. Works in batches and resumes
 * where an earlier run stopped. Writes only differences. Returns how many containers it went
 * through: 0 when nothing had changed. For the one writer.
 */
export async function deriveAgain(warehouse: Warehouse, options: DeriveOptions): Promise<number> {
  const { names } = warehouse
  const textHash = await readTextHash(warehouse)
  if (!(await isOutdated(warehouse, textHash))) return 0
  let last = await warehouse.transaction('begin to derive again', async (session) => {
    await fillTimeZones(session, names)
    return begin(session, textHash)
  })
  let containers = 0
  for (;;) {
    options.signal.throwIfAborted()
    const { ids, isLast } = await warehouse.transaction('derive again', (session) =>
      deriveBatch(session, last, options),
    )
    containers += ids.length
    if (isLast) return containers
    last = ids.at(-1) ?? null
  }
}

/** Returns the last container of an unfinished derivation; null to begin at the first. */
async function begin(session: Session, textHash: string): Promise<string | null> {
  const [row] = await session.query(
    'begin to derive again',
    sql<{
      derived_up_to: string | null
    }>`insert into ${tableRef('sync.derivations')} as made (derivation, text_hash)
values (${DERIVATION}, ${textHash})
on conflict (derivation) do update
set
    text_hash = excluded.text_hash,
    begun_at = excluded.begun_at,
    finished_at = null,
    derived_up_to = case when made.text_hash = excluded.text_hash then made.derived_up_to end
returning derived_up_to`,
  )
  return row?.derived_up_to ?? null
}

async function deriveBatch(
  session: Session,
  after: string | null,
  { syncRunId, containersAtOnce = CONTAINERS_AT_ONCE }: DeriveOptions,
): Promise<{ readonly ids: readonly string[]; readonly isLast: boolean }> {
  const rows = await session.query(
    'look at containers',
    sql<{ container_id: string }>`select stored.container_id
from ${tableRef('data.containers')} as stored
where ${after}::text is null or stored.container_id > ${after}
order by stored.container_id
limit ${containersAtOnce}
for no key update`,
  )
  const ids = rows.map(({ container_id }) => container_id)
  // A new warehouse is empty: skip the statements.
  for (const table of ids.length > 0 ? containerChildren : []) {
    await replaceStanding(session, table, ids, { syncRunId })
    await remakeIntervals(session, table, ids)
  }
  const isLast = ids.length < containersAtOnce
  await session.query(
    'note what was derived',
    sql`update ${tableRef('sync.derivations')}
set derived_up_to = ${isLast ? null : (ids.at(-1) ?? null)}, finished_at = case when ${isLast}::boolean then clock_timestamp() end
where derivation = ${DERIVATION}`,
  )
  return { ids, isLast }
}

/**
 * Rebuilds intervals from the versions of the containers: an interval begins with the first version
 * that has a value and ends with the last one, without a gap. Deadlines that came as a bare date
 * stay as they are: they need no zone, and versions do not keep them. So do intervals that began
 * before the first version.
 */
async function remakeIntervals(
  session: Session,
  child: ChildTable,
  containerIds: readonly string[],
): Promise<void> {
  const { keyColumn, material } = child
  const history = tableRef(`data.${child.historyTable}`)
  const versions = tableRef('data.container_history')
  const key = sql.id(keyColumn)
  const values = (side: string): RawBuilder<unknown> => columnList(material, side)
  const hasInstant = keyColumn === 'kind' ? sql`and interval.deadline_at is not null` : sql``
  const before = sql.join(material.map((name) => sql`lag(${sql.id('stated', name)}) over per_key`))
  const made = sql`stated as (
    select version.container_id, child.${key}, version.valid_from, version.valid_to,
        ${values('child')}, version.source, version._sync_run_id
    from ${versions} as version
    cross join lateral ${madeFrom(child, 'version')} as child
    where version.container_id = any(${containerIds}::text[])
),
marked as (
    select stated.*,
        (lag(stated.valid_to) over per_key, ${before})
        is distinct from (stated.valid_from, ${values('stated')}) as is_start
    from stated
    window per_key as (partition by stated.container_id, stated.${key} order by stated.valid_from)
),
numbered as (
    select marked.*,
        count(*) filter (where marked.is_start)
            over (partition by marked.container_id, marked.${key} order by marked.valid_from) as nth
    from marked
),
made as (
    select numbered.container_id, numbered.${key}, min(numbered.valid_from) as valid_from,
        case when not bool_or(numbered.valid_to is null) then max(numbered.valid_to) end as valid_to,
        ${values('numbered')},
        (array_agg(numbered.source order by numbered.valid_from))[1] as source,
        (array_agg(numbered._sync_run_id order by numbered.valid_from))[1] as _sync_run_id
    from numbered
    group by numbered.container_id, numbered.${key}, numbered.nth, ${values('numbered')}
)`
  const action = `write ${child.historyTable}`
  await session.query(
    action,
    sql`with ${made}
delete from ${history} as interval
where interval.container_id = any(${containerIds}::text[])
    and not exists (
        select from made
        where interval.container_id = made.container_id
            and interval.${key} = made.${key}
            and (interval.valid_from, interval.valid_to, ${values('interval')})
                is not distinct from (made.valid_from, made.valid_to, ${values('made')})
    )
    and interval.valid_from >= (
        select min(version.valid_from)
        from ${versions} as version
        where version.container_id = interval.container_id
    )
    ${hasInstant}`,
  )
  // The table of derivations is read although its row always exists: it is on no node. So the rows
  // are read first and then inserted; a node would refuse both in one statement.
  await session.query(
    action,
    sql`with ${made}
insert into ${history}
    (container_id, ${key}, valid_from, valid_to, ${columnList(material)}, source, _sync_run_id)
select made.container_id, made.${key}, made.valid_from, made.valid_to, ${values('made')},
    made.source, made._sync_run_id
from made
where exists (select derivation from ${tableRef('sync.derivations')})
on conflict do nothing`,
  )
}
