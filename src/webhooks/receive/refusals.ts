import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'

/**
 * Adds to the deliveries that were refused for a reason, so that `check` tells of them when the log
 * is gone.
 */
export async function noteRefusal(session: Session, reason: string, count: number): Promise<void> {
  const refusals = session.names.table('delivery_refusals')
  await session.query(
    'note refused deliveries',
    `insert into ${refusals} as noted (reason, refused) values ($1, $2)
on conflict (reason) do update
set refused = noted.refused + excluded.refused, last_at = excluded.last_at`,
    [reason, count],
  )
}

/** The cause and fix of each reason. Senders refused for another reason are not the service. */
const FIXES: Readonly<Record<string, string>> = {
  length: 'its sender announced no length and sent more than 64 KiB: have the proxy send a length',
  too_large: 'it was larger than 1 MiB',
  timeout: 'its body did not come within ten seconds',
  signature: 'the secret that signed it is not ours: compare TRACKING_WEBHOOK_SECRET',
  sender: 'its address is not one of the service: look at TRACKING_TRUSTED_PROXY_HOPS',
  path: 'it came to another path than TRACKING_WEBHOOK_PATH',
}

/**
 * One sentence for each reason of the last seven days, with the fix where there is one; empty
 * without any, and where the warehouse is not laid out.
 */
export async function describeRefusals(warehouse: Warehouse): Promise<string> {
  const refusals = warehouse.names.table('delivery_refusals')
  const [found] = await warehouse.query<{ is_there: boolean }>(
    'look for refused deliveries',
    'select to_regclass($1) is not null as is_there',
    [refusals],
  )
  if (found?.is_there !== true) return ''
  const rows = await warehouse.query<{
    reason: string
    refused: string
    since: string
    last: string
  }>(
    'read refused deliveries',
    `select
    reason, refused::text, to_char(first_at at time zone 'UTC', 'YYYY-MM-DD') as since,
    to_char(last_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as last
from ${refusals}
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
