import { sql } from 'kysely'
import pg from 'pg'
import type { Session } from '../../src/warehouse/connection/warehouse.js'

/**
 * Sets the instant that views answer for, for this transaction. By statement and not by
 * `set_config`, which does not reach the nodes of a distributed warehouse.
 */
export async function setAsOf(session: Session, instant: string): Promise<void> {
  await session.query(
    'let it reach the nodes',
    sql`set local citus.propagate_set_commands = 'local'`,
  )
  await session.query(
    'set',
    sql`set local tracking_sync.as_of = ${sql.raw(pg.escapeLiteral(instant))}`,
  )
}
