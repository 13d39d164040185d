import { ConnectorError } from '../base/errors.js'
import type { Run } from '../ingest/run.js'
import { otherResources, resources } from '../source/records/index.js'
import { recordPassShares } from '../warehouse/bookkeeping/pass-shares.js'

/**
 * Saves how full each column is after a run that read all shipments, to notice values that stop
 * coming. Never fails a run.
 */
export async function recordShares(run: Run): Promise<void> {
  const { ledger, drift, logger } = run.notes
  if (!ledger.wholePasses.has('shipments')) return
  try {
    const passes = resources
      .filter((one) => one !== otherResources)
      .map(({ stream: table }) => {
        const shown = ledger.wholePasses.get(table)
        return { table, shown, absent: shown === undefined ? new Map() : drift.absent(table) }
      })
    await run.sink.transact('count the values of tables', (session) =>
      recordPassShares(session, passes),
    )
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('how full the columns are could not be recorded', { error: thrown })
  }
}
