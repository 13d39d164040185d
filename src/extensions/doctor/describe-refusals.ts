import { sql } from 'kysely'
import { tableRef } from '../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** The cause and fix of each reason. A sender refused for another reason is not the service. */
const FIXES: Readonly<Record<string, string>> = {
  length: 'its sender announced no length and sent more than 64 KiB: have the proxy send a length',
  too_large: 'it was larger than 1 MiB',
  timeout: 'its body did not come within ten seconds',
  signature: 'the secret that signed it is not ours: compare TRACKING_WEBHOOK_SECRET',
  sender: 'its address is not one of the service: look at TRACKING_TRUSTED_PROXY_HOPS',
  path: 'it came to another path than TRACKING_WEBHOOK_PATH',
}

/**
 * One sentence for each reason of the last seven days, with the fix if one is known; empty without
 * refusals or before the first migration.
 */
export async function describeRefusals(warehouse: Warehouse): Promise<string> {
  const refusals = warehouse.names.table('delivery_refusals')
  const [found] = await warehouse.query(
    'look for refused deliveries',
    sql<{ is_there: boolean }>`select to_regclass(${refusals}) is not null as is_there`,
  )
  if (found?.is_there !== true) return ''
  const rows = await warehouse.query(
    'read refused deliveries',
    sql<{
      reason: string
      refused: string
      since: string
      last: string
    }>`select
    reason, refused::text, to_char(first_at at time zone 'UTC', 'YYYY-MM-DD') as since,
    to_char(last_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as last
from ${tableRef('sync.delivery_refusals')}
where last_at > now() - interval '7 days'
order by last_at desc, reason`,
  )
  return rows
    .map(({ reason, refused, since, last }) => {
      const fix = FIXES[reason]
      const why = reason.replaceAll('_', ' ') + (fix === undefined ? '' : ` (${fix})`)
      return `warning: ${refused} refused since ${since}, the last at ${last} UTC: ${why}`
    })
    .join('; ')
}
