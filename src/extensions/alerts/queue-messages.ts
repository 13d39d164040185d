import { sql } from 'kysely'
import type { Session } from '../../warehouse/connection/warehouse.js'
import type { ChannelName } from './alert-channels.js'
import type { MessageContent } from './message.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

interface Queued {
  readonly event: 'opened' | 'closed' | 'digest'
  /** For an alert, else null. */
  readonly alertId: number | null
  /** For a digest, else null. */
  readonly digestOn: string | null
  readonly content: MessageContent
}

/**
 * Queues one message for each channel. The same event of an alert, or the digest of a day, is
 * queued once for a channel, even if two processes ask.
 */
export async function queueMessages(
  session: Session,
  channels: readonly ChannelName[],
  messages: readonly Queued[],
  at: string | null,
): Promise<void> {
  if (messages.length === 0) return
  await session.query(
    'queue messages about alerts',
    sql`insert into ${tableRef('sync.alert_messages')}
    (channel, event, alert_id, digest_on, content, created_at, next_attempt_at)
select channel.name, message.event, message.alert_id, message.digest_on, message.content::jsonb,
    moment.at, moment.at
from unnest(${channels}::text[]) as channel (name)
cross join unnest(${messages.map(({ event }) => event)}::text[],
    ${messages.map(({ alertId }) => alertId)}::bigint[],
    ${messages.map(({ digestOn }) => digestOn)}::date[],
    ${messages.map(({ content }) => JSON.stringify(content))}::text[])
    as message (event, alert_id, digest_on, content)
cross join (select coalesce(${at}::timestamptz, now()) as at) as moment
on conflict do nothing`,
  )
}
