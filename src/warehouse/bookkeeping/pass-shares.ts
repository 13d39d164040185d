import { resources } from '../../resources/index.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'

/** What a complete pass showed of a table. */
export interface PassShare {
  readonly table: string
  /** Records; undefined where the table has no list of its own: its live rows. */
  readonly shown?: number | undefined
  /**
   * Of columns that records lacked, which share of those that were read did: their rows keep what
   * came before.
   */
  readonly absent: ReadonlyMap<string, number>
}

const KEPT = "interval '90 days'"

/** Counts the values of each column: one look at the table, and none within an hour of the last. */
export async function recordPassShare(
  session: Session,
  { table, shown, absent }: PassShare,
): Promise<void> {
  const resource = resources.find(({ stream }) => stream === table)
  if (resource === undefined) return
  const { names } = session
  const shares = names.table('pass_shares')
  const columns = resource.columns.map(({ name }) => name)
  const counts = columns.map((name) => `count(${quoteIdentifier(name)})`)
  await session.query(
    'count the values of a table',
    `with counted as materialized (
    select count(*) as records, array[${counts.join(', ')}] as filled
    from ${names.table(resource.stream)}
    where _deleted_at is null
        and not exists (
            select from ${shares}
            where table_name = $1 and passed_at > now() - interval '1 hour'
        )
)
insert into ${shares} (table_name, column_name, records, filled)
select $1, value.name, counted.records, round(value.filled * (1 - value.absent))::bigint
from counted
cross join lateral unnest($2::text[], counted.filled, $3::float8[]) as value (name, filled, absent)
where counted.records > 0
union all
select $1, '', coalesce($4::bigint, counted.records), coalesce($4::bigint, counted.records)
from counted
where not exists (
        select from ${shares} where table_name = $1 and passed_at > now() - interval '1 hour'
    )`,
    [table, columns, columns.map((name) => absent.get(name) ?? 0), shown ?? null],
  )
  await session.query(
    'forget old counts of values',
    `delete from ${shares} where table_name = $1 and passed_at < now() - ${KEPT}`,
    [table],
  )
}

/** A column that stopped coming, or where `column` is empty a table that shrank. */
export interface Silence {
  readonly table: string
  readonly column: string
  /** Values, or records. */
  readonly now: number
  /** As many would be normal. */
  readonly usual: number
}

/** Fewer are too few to tell a fall from chance. */
const LEAST_RECORDS = 50
const LEAST_VALUES = 20
/** Of a table that is empty. */
const LEAST_OF_SMALL = 5
const LEAST_PASSES = 3

/**
 * What fell by more than half of the median of the last ten passes, as of the last one: the share of
 * the values of a column, or the records of a table.
 */
export function findSilences(session: Session): Promise<Silence[]> {
  return session.query<Silence>(
    'look for what stopped coming',
    `with ranked as (
    select table_name, column_name, records, filled,
        row_number() over (partition by table_name, column_name order by passed_at desc) as nth
    from ${session.names.table('pass_shares')}
    where passed_at > now() - ${KEPT}
),
usual as (
    select table_name, column_name,
        percentile_cont(0.5) within group (order by filled::float8 / nullif(records, 0)) as share,
        percentile_cont(0.5) within group (order by records::float8) as records
    from ranked
    where nth between 2 and 11
    group by table_name, column_name
    having count(*) >= ${LEAST_PASSES}
)
select latest.table_name as "table", latest.column_name as "column",
    latest.filled::integer as now,
    round(case latest.column_name
        when '' then usual.records
        else usual.share * latest.records
    end)::integer as usual
from ranked as latest
inner join usual using (table_name, column_name)
where latest.nth = 1
    and case latest.column_name
        when ''
            then usual.records >= ${LEAST_RECORDS} and latest.records < usual.records / 2
                or usual.records >= ${LEAST_OF_SMALL} and latest.records = 0
        else usual.records >= ${LEAST_RECORDS}
            and latest.records >= ${LEAST_RECORDS}
            and usual.share * latest.records >= ${LEAST_VALUES}
            and latest.filled < usual.share * latest.records / 2
    end
order by 1, 2`,
  )
}

/** Tables that no complete pass found a row in; none before the first. */
export async function findNeverFilled(session: Session): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    'look for tables that were never filled',
    `select table_name as name
from ${session.names.table('pass_shares')}
where column_name = ''
group by table_name
having max(records) = 0
order by 1`,
  )
  return rows.map(({ name }) => name)
}
