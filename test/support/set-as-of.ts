import pg from 'pg'
import type { Session } from '../../src/warehouse/connection/warehouse.js'

/**
 * Sets the instant that views answer for, for this transaction. By statement and not by
 * `set_config`, which does not reach the nodes of a distributed warehouse.
 */
export async function setAsOf(session: Session, instant: string): Promise<void> {
  await session.query('let it reach the nodes', `set local citus.propagate_set_commands = 'local'`)
  await session.query('set', `set local tracking_sync.as_of = ${pg.escapeLiteral(instant)}`)
}
