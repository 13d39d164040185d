import { LeaseHeldError } from '../../base/errors.js'
import type { Warehouse } from '../connection/warehouse.js'

/** Any constant of our own: the first key of these advisory locks. */
const LOCK_CLASS = 820_312

/**
 * Runs `work` while no other process in this database does under this name, or throws
 * LeaseHeldError with `refusal` at once. A killed process leaves nothing behind. Takes a connection
 * meanwhile.
 */
export async function runAlone<Result>(
  warehouse: Warehouse,
  name: string,
  refusal: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return warehouse.transaction('keep others away', async (session) => {
    await session.query('keep others away', 'set local idle_in_transaction_session_timeout = 0')
    const [row] = await session.query<{ isTaken: boolean }>(
      'keep others away',
      'select pg_try_advisory_xact_lock($1, hashtext($2)) as "isTaken"',
      [LOCK_CLASS, name],
    )
    if (row?.isTaken !== true) throw new LeaseHeldError(refusal)
    return work()
  })
}
