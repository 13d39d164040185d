import { resources } from '../../resources/index.js'
import { containerChildren } from './container-children.js'
import type { SchemaNames } from '../connection/schema-names.js'
import { together } from '../connection/together.js'
import type { Session } from '../connection/warehouse.js'

/** As far as a stamp may be ahead of the database's clock; see `boundStamp`. */
const LATEST = `now() + interval '1 minute'`

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
  const isAhead = [
    ...tables.map(({ table, own }) => `${session.names.in('data', table)} where ${anyLate(own)}`),
    ...histories.map((table) => `${session.names.in('data', table)} where ${anyLate(INTERVAL)}`),
  ]
  const look = (places: readonly string[]): Promise<{ is_ahead: boolean }[]> =>
    session.query(
      'look for stamps that lie in the future',
      `select ${places.map((rows) => `exists (select true from ${rows})`).join('\n    or ')} as is_ahead`,
    )
  // Of a distributed warehouse the passes stand on another node than the rows.
  const found = await together([
    look(isAhead),
    look([`${passes} where ${anyLate(['completed_pass_started_at'])}`]),
  ])
  if (!found.flat().some(({ is_ahead }) => is_ahead)) return 0
  const [rows] = await together([
    together(tables.map(({ table, own }) => putBack(session, table, own))),
    together(histories.map((table) => putBackIntervals(session, table))),
    session.query(
      'put back passes that lie in the future',
      `update ${passes}
set completed_pass_started_at = now()
where completed_pass_started_at > ${LATEST}`,
    ),
  ])
  return rows.reduce((sum, count) => sum + count, 0)
}

const OWN = ['_observed_at', '_first_seen_at', '_changed_at', '_deleted_at']
const INTERVAL = ['valid_from', 'valid_to']

function anyLate(stamps: readonly string[]): string {
  return stamps.map((stamp) => `${stamp} > ${LATEST}`).join(' or ')
}

/** Returns how many rows had such a stamp. */
async function putBack(session: Session, name: string, stamps: readonly string[]): Promise<number> {
  const table = session.names.in('data', name)
  const [row] = await session.query<{ count: number }>(
    'put back stamps that lie in the future',
    `with stored as (
    update ${table}
    set ${stamps.map((stamp) => `${stamp} = case when ${stamp} > ${LATEST} then now() else ${stamp} end`).join(', ')}
    where ${anyLate(stamps)}
    returning 1
)

select count(*)::int as count from stored`,
  )
  return row?.count ?? 0
}

async function putBackIntervals(session: Session, name: string): Promise<void> {
  const table = session.names.in('data', name)
  const action = 'put back intervals that lie in the future'
  await together([
    session.query(
      action,
      `delete from ${table} where valid_from > ${LATEST} and valid_to is not null`,
    ),
    session.query(
      action,
      `update ${table}
set
    valid_from = case when valid_from > ${LATEST} then now() else valid_from end,
    valid_to = case when valid_to > ${LATEST} then now() else valid_to end
where ${anyLate(INTERVAL)}`,
    ),
  ])
}
