import { resources } from '../../resources/index.js'
import { containerChildren } from './container-children.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'

/** As far as a stamp may be ahead of the database's clock; see `boundStamp`. */
const LATEST = `now() + interval '1 minute'`

/**
 * Puts stamps that lie in the future back to now, by the database's clock, so that what is seen
 * from now on is newer: a clock was wrong when they were given, or the database's own was put back.
 * Versions and intervals that began in the future begin now, and those that were over again before
 * they began go. Returns how many rows were put back. Reads each table once.
 */
export async function putBackFutureStamps(session: Session, names: SchemaNames): Promise<number> {
  let rows = 0
  for (const { stream, historyTable } of resources) {
    rows += await putBack(session, names, stream, '_observed_at')
    for (const stamp of ['_first_seen_at', '_changed_at', '_deleted_at']) {
      await putBack(session, names, stream, stamp)
    }
    if (historyTable !== undefined) await putBackIntervals(session, names, historyTable)
  }
  for (const { table, historyTable } of containerChildren) {
    await putBack(session, names, table, '_observed_at')
    await putBack(session, names, table, '_first_seen_at')
    await putBackIntervals(session, names, historyTable)
  }
  await session.query(
    'put back passes that lie in the future',
    `update ${names.table('checkpoints')}
set completed_pass_started_at = now()
where completed_pass_started_at > ${LATEST}`,
  )
  return rows
}

async function putBack(
  session: Session,
  names: SchemaNames,
  name: string,
  stamp: string,
): Promise<number> {
  const table = names.in('data', name)
  const [row] = await session.query<{ count: number }>(
    'put back stamps that lie in the future',
    `with stored as (
    update ${table}
    set ${quoteIdentifier(stamp)} = now()
    where ${quoteIdentifier(stamp)} > ${LATEST}
    returning 1
)

select count(*)::int as count from stored`,
  )
  return row?.count ?? 0
}

async function putBackIntervals(session: Session, names: SchemaNames, name: string): Promise<void> {
  const table = names.in('data', name)
  const action = 'put back intervals that lie in the future'
  await session.query(
    action,
    `delete from ${table} where valid_from > ${LATEST} and valid_to is not null`,
  )
  await session.query(
    action,
    `update ${table}
set
    valid_from = case when valid_from > ${LATEST} then now() else valid_from end,
    valid_to = case when valid_to > ${LATEST} then now() else valid_to end
where valid_from > ${LATEST} or valid_to > ${LATEST}`,
  )
}
