import { sql, type RawBuilder } from 'kysely'
import { resources } from '../../source/records/index.js'
import { containerChildren } from './container-children.js'
import type { DataTable } from '../connection/schema-names.js'
import { pipeline, type Session } from '../connection/warehouse.js'
import { anyTrue, type Database, tableRef } from '../connection/typed-database.js'

/** The database's clock, as texts: Citus refuses a function of the time in a `case`. */
interface Clock {
  readonly now: string
  /** The latest stamp that is allowed; see `boundStamp`. */
  readonly latest: string
}

/**
 * Sets stamps that lie in the future back to now, on the database's clock. Such stamps come from a
 * wrong clock, and until then no new observation would be newer. Versions and intervals that began
 * in the future begin now; if they also ended in the future, they are deleted. Returns how many
 * rows were changed. Looks through each table once, and writes only if one has such a stamp.
 */
export async function putBackFutureStamps(session: Session): Promise<number> {
  const tables = [
    ...resources.map(({ stream, historyTable }) => ({ table: stream, historyTable, own: OWN })),
    ...containerChildren.map(({ table, historyTable }) => ({
      table,
      historyTable,
      own: ['_observed_at', '_first_seen_at'],
    })),
  ]
  const histories = tables.flatMap(({ historyTable }) => historyTable ?? [])
  const [clock] = await session.query(
    'ask for the time',
    sql<Clock>`select now()::text as now, (now() + interval '1 minute')::text as latest`,
  )
  if (clock === undefined) throw new Error('a select without a table has one row')
  const isAhead = [
    ...tables.map(({ table, own }) => existsLate(`data.${table}`, own, clock)),
    ...histories.map((table) => existsLate(`data.${table}`, INTERVAL, clock)),
  ]
  const look = (places: readonly RawBuilder<boolean>[]): Promise<{ is_ahead: boolean }[]> =>
    session.query(
      'look for stamps that lie in the future',
      sql<{ is_ahead: boolean }>`select ${anyTrue(places)} as is_ahead`,
    )
  // In a distributed warehouse the checkpoints are on another node than the rows.
  const found = await pipeline([
    look(isAhead),
    look([existsLate('sync.checkpoints', ['completed_pass_started_at'], clock)]),
  ])
  if (!found.flat().some(({ is_ahead }) => is_ahead)) return 0
  const [rows] = await pipeline([
    pipeline(tables.map(({ table, own }) => putBack(session, clock, table, own))),
    pipeline(histories.map((table) => putBackIntervals(session, clock, table))),
    session.query(
      'put back passes that lie in the future',
      session.db
        .updateTable('sync.checkpoints')
        .set({ completed_pass_started_at: clock.now })
        .where('completed_pass_started_at', '>', clock.latest),
    ),
  ])
  return rows.reduce((sum, count) => sum + count, 0)
}

const OWN = ['_observed_at', '_first_seen_at', '_changed_at', '_deleted_at']
const INTERVAL = ['valid_from', 'valid_to']

function anyLate(stamps: readonly string[], { latest }: Clock): RawBuilder<boolean> {
  return anyTrue(stamps.map((stamp) => sql`${sql.id(stamp)} > ${latest}::timestamptz`))
}

function existsLate(
  table: keyof Database,
  stamps: readonly string[],
  clock: Clock,
): RawBuilder<boolean> {
  return sql`exists (select from ${tableRef(table)} where ${anyLate(stamps, clock)})`
}

/** Returns how many rows had a stamp in the future. */
async function putBack(
  session: Session,
  clock: Clock,
  name: DataTable,
  stamps: readonly string[],
): Promise<number> {
  const [row] = await session.query(
    'put back stamps that lie in the future',
    sql<{ count: number }>`with stored as (
    update ${tableRef(`data.${name}`)}
    set ${setBack(stamps, clock)}
    where ${anyLate(stamps, clock)}
    returning 1
)

select count(*)::int as count from stored`,
  )
  return row?.count ?? 0
}

async function putBackIntervals(session: Session, clock: Clock, name: DataTable): Promise<void> {
  const table = tableRef(`data.${name}`)
  const action = 'put back intervals that lie in the future'
  await pipeline([
    session.query(
      action,
      sql`delete from ${table} where ${anyLate(['valid_from'], clock)} and valid_to is not null`,
    ),
    session.query(
      action,
      sql`update ${table} set ${setBack(INTERVAL, clock)} where ${anyLate(INTERVAL, clock)}`,
    ),
  ])
}

function setBack(stamps: readonly string[], clock: Clock): RawBuilder<unknown> {
  return sql.join(
    stamps.map((stamp) => {
      const name = sql.id(stamp)
      const { now } = clock
      return sql`${name} = case when ${anyLate([stamp], clock)} then ${now}::timestamptz else ${name} end`
    }),
  )
}
