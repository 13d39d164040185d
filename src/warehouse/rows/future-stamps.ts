import { resources } from '../../source/records/index.js'
import { containerChildren } from './container-children.js'
import type { SchemaNames } from '../connection/schema-names.js'
import { together } from '../connection/together.js'
import type { Session } from '../connection/warehouse.js'

/** As far as a stamp may be ahead of the database's clock; see `boundStamp`. */
const TOLERANCE = `interval '1 minute'`

/** Of the database, as texts: nodes take no function of the time in a `case`. */
interface Clock {
  readonly now: string
  readonly latest: string
}

/**
 * Puts stamps that lie in the future back to now, by the database's clock, so that what is seen
 * from now on is newer: a clock was wrong when they were given, or the database's own was put back.
 * Versions and intervals that began in the future begin now, and those that were over again before
 * they began go. Returns how many rows were put back. Looks through each table once;
 * only where one has such a stamp are all of them put right.
 */
export async function putBackFutureStamps(session: Session, names: SchemaNames): Promise<number> {
  const tables = [
    ...resources.map(({ stream, historyTable }) => ({ table: stream, historyTable, own: OWN })),
    ...containerChildren.map(({ table, historyTable }) => ({
      table,
      historyTable,
      own: ['_observed_at', '_first_seen_at'],
    })),
  ]
  const histories = tables.flatMap(({ historyTable }) => historyTable ?? [])
  const passes = names.table('checkpoints')
  const [clock] = await session.query<Clock>(
    'ask for the time',
    `select now()::text as now, (now() + ${TOLERANCE})::text as latest`,
  )
  if (clock === undefined) throw new Error('a select without a table has one row')
  const isAhead = [
    ...tables.map(({ table, own }) => `${session.names.in('data', table)} where ${anyLate(own)}`),
    ...histories.map((table) => `${session.names.in('data', table)} where ${anyLate(INTERVAL)}`),
  ]
  const look = (places: readonly string[]): Promise<{ is_ahead: boolean }[]> =>
    session.query(
      'look for stamps that lie in the future',
      `select ${places.map((rows) => `exists (select from ${rows})`).join('\n    or ')} as is_ahead`,
      [clock.latest],
    )
  // Of a distributed warehouse the passes stand on another node than the rows.
  const found = await together([
    look(isAhead),
    look([`${passes} where ${anyLate(['completed_pass_started_at'])}`]),
  ])
  if (!found.flat().some(({ is_ahead }) => is_ahead)) return 0
  const [rows] = await together([
    together(tables.map(({ table, own }) => putBack(session, clock, table, own))),
    together(histories.map((table) => putBackIntervals(session, clock, table))),
    session.query(
      'put back passes that lie in the future',
      `update ${passes}
set completed_pass_started_at = $2
where ${anyLate(['completed_pass_started_at'])}`,
      [clock.latest, clock.now],
    ),
  ])
  return rows.reduce((sum, count) => sum + count, 0)
}

const OWN = ['_observed_at', '_first_seen_at', '_changed_at', '_deleted_at']
const INTERVAL = ['valid_from', 'valid_to']

function anyLate(stamps: readonly string[]): string {
  return stamps.map((stamp) => `${stamp} > $1::timestamptz`).join(' or ')
}

/** Returns how many rows had such a stamp. */
async function putBack(
  session: Session,
  { now, latest }: Clock,
  name: string,
  stamps: readonly string[],
): Promise<number> {
  const table = session.names.in('data', name)
  const [row] = await session.query<{ count: number }>(
    'put back stamps that lie in the future',
    `with stored as (
    update ${table}
    set ${stamps.map(putBackSql).join(', ')}
    where ${anyLate(stamps)}
    returning 1
)

select count(*)::int as count from stored`,
    [latest, now],
  )
  return row?.count ?? 0
}

async function putBackIntervals(
  session: Session,
  { now, latest }: Clock,
  name: string,
): Promise<void> {
  const table = session.names.in('data', name)
  const action = 'put back intervals that lie in the future'
  await together([
    session.query(
      action,
      `delete from ${table} where ${anyLate(['valid_from'])} and valid_to is not null`,
      [latest],
    ),
    session.query(
      action,
      `update ${table}
set ${INTERVAL.map(putBackSql).join(', ')}
where ${anyLate(INTERVAL)}`,
      [latest, now],
    ),
  ])
}

function putBackSql(stamp: string): string {
  return `${stamp} = case when ${anyLate([stamp])} then $2::timestamptz else ${stamp} end`
}
