import { sql } from 'kysely'
import { resources } from '../../source/records/index.js'
import { pipeline, type Session } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

/** The counts of a complete pass over a table. */
export interface PassShare {
  readonly table: string
  /** Records of the list; undefined for a table without a list: its live rows are counted. */
  readonly shown?: number | undefined
  /**
   * By column, the share of the records read that lacked it: their rows keep their earlier value.
   */
  readonly absent: ReadonlyMap<string, number>
}

const KEPT = sql`interval '90 days'`

/**
 * Counts the values of each column of the given tables: one query per table, all sent at once, and
 * none within an hour of the last count. The counts are kept 90 days.
 */
export async function recordPassShares(
  session: Session,
  passes: readonly PassShare[],
): Promise<void> {
  const shares = tableRef('sync.pass_shares')
  const recent = await session.query(
    'look for recent counts of values',
    sql<{ name: string }>`select distinct table_name as name from ${shares}
where passed_at > now() - interval '1 hour'`,
  )
  const isRecent = new Set(recent.map(({ name }) => name))
  const due = passes.filter(({ table }) => !isRecent.has(table))
  if (due.length === 0) return
  const rows = (await pipeline(due.map((pass) => countValues(session, pass)))).flat()
  await session.query(
    'keep the counts of values',
    sql`insert into ${shares} (table_name, column_name, records, filled)
select * from unnest(
    ${rows.map(({ table }) => table)}::text[],
    ${rows.map(({ column }) => column)}::text[],
    ${rows.map(({ records }) => records)}::bigint[],
    ${rows.map(({ filled }) => filled)}::bigint[]
)`,
  )
  await session.query(
    'forget old counts of values',
    sql`delete from ${shares} where passed_at < now() - ${KEPT}`,
  )
}

interface CountedColumn {
  readonly table: string
  /** Empty for the count of the table's records. */
  readonly column: string
  readonly records: number
  readonly filled: number
}

async function countValues(
  session: Session,
  { table, shown, absent }: PassShare,
): Promise<CountedColumn[]> {
  const resource = resources.find(({ stream }) => stream === table)
  if (resource === undefined) return []
  const columns = resource.columns.map(({ name }) => name)
  const counts = columns.map((name) => sql`count(${sql.id(name)})`)
  const [counted] = await session.query(
    'count the values of a table',
    sql<{
      records: number
      filled: readonly number[]
    }>`select count(*)::float8 as records, array[${sql.join(counts)}]::float8[] as filled
from ${tableRef(`data.${resource.stream}`)}
where _deleted_at is null`,
  )
  const { records = 0, filled = [] } = counted ?? {}
  const whole = { table, column: '', records: shown ?? records, filled: shown ?? records }
  if (records === 0) return [whole]
  return [
    whole,
    ...columns.map((column, at) => ({
      table,
      column,
      records,
      filled: Math.round((filled[at] ?? 0) * (1 - (absent.get(column) ?? 0))),
    })),
  ]
}

/** A column that stopped coming, or, with an empty `column`, a table that shrank. */
export interface Silence {
  readonly table: string
  readonly column: string
  /** Values, or records of the table. */
  readonly now: number
  /** The normal number. */
  readonly usual: number
}

/** With fewer, chance could explain a fall. */
const LEAST_RECORDS = 50
const LEAST_VALUES = 20
/** The least for a table that is empty now. */
const LEAST_OF_SMALL = 5
const LEAST_PASSES = 3

/**
 * Counts of the last pass that are below half of the median of the ten passes before: the share of
 * the values of a column, or the records of a table.
 */
export function findSilences(session: Session): Promise<Silence[]> {
  return session.query(
    'look for what stopped coming',
    sql<Silence>`with ranked as (
    select table_name, column_name, records, filled,
        row_number() over (partition by table_name, column_name order by passed_at desc) as nth
    from ${tableRef('sync.pass_shares')}
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
