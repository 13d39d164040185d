import { sql } from 'kysely'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { channelsOf, type AlertChannels, type ChannelName } from './alert-channels.js'
import { sendMail } from './channels/mail.js'
import { postToSlack } from './channels/slack.js'
import { postToTeams } from './channels/teams.js'
import { postToWebhook } from './channels/webhook.js'
import type { Delivery, Message, MessageContent } from './message.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

export interface DeliveryDependencies {
  readonly warehouse: Warehouse
  readonly channels: AlertChannels
  readonly logger: Logger
  /** A receiver's answer may contain the secret that it was sent. */
  readonly redact: (text: string) => string
  readonly reachFailpoint: ReachFailpoint
  readonly signal: AbortSignal
  /** Null: the database's now. */
  readonly at: string | null
}

/** Sending takes at most half a minute: an older claim is dead. */
const CLAIM_SECONDS = 120
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 3_600
/** About twenty hours of attempts. */
const MOST_ATTEMPTS = 25
/** The end of a run waits no longer for slow receivers; the next look continues. */
const PATIENCE_MS = 45_000

/**
 * Sends each due message once: a transaction of its own claims it before it is sent, and a message
 * of unknown fate is not sent again (docs/decisions/0041). The channels run side by side; one that
 * refuses rests for its pause.
 */
export async function deliverMessages(dependencies: DeliveryDependencies): Promise<void> {
  await markDoubtful(dependencies)
  const names = channelsOf(dependencies.channels)
  await Promise.all(names.map((name) => deliverTo(name, dependencies)))
}

async function deliverTo(channel: ChannelName, dependencies: DeliveryDependencies): Promise<void> {
  const { channels, reachFailpoint, signal } = dependencies
  const until = performance.now() + PATIENCE_MS
  while (!signal.aborted && performance.now() < until) {
    const message = await claim(channel, dependencies)
    if (message === undefined) return
    reachFailpoint('alert_claimed')
    const delivery = await sendMessage(channels, channel, message)
    reachFailpoint('alert_sent')
    await record(channel, message, delivery, dependencies)
    if (delivery.outcome === 'refused') return
  }
}

/** Messages of a process that was killed while sending. */
async function markDoubtful({ warehouse, logger, at }: DeliveryDependencies): Promise<void> {
  const rows = await warehouse.query(
    'look for messages in doubt',
    sql<{ channel: string; id: string }>`update ${tableRef('sync.alert_messages')}
set state = 'in_doubt',
    error = 'the process that was sending it ended before it knew whether it arrived'
where state = 'sending'
    and claimed_at < coalesce(${at}::timestamptz, now()) - make_interval(secs => ${CLAIM_SECONDS})
returning channel, message_id as id`,
  )
  for (const { channel, id } of rows) {
    logger.warn('a message about an alert may have arrived and is not sent again', { channel, id })
  }
}

/** The message about an alert's end waits for the one about its beginning. */
async function claim(
  channel: ChannelName,
  { warehouse, at }: DeliveryDependencies,
): Promise<Message | undefined> {
  const table = tableRef('sync.alert_messages')
  const [row] = await warehouse.query(
    'claim a message',
    sql<{
      id: string
      event: Message['event']
      created: string
      content: MessageContent
    }>`update ${table}
set state = 'sending', attempts = attempts + 1,
    claimed_at = coalesce(${at}::timestamptz, now())
where message_id = (
    select due.message_id
    from ${table} as due
    where due.channel = ${channel}
        and due.state = 'waiting'
        and due.next_attempt_at <= coalesce(${at}::timestamptz, now())
        and not exists (
            select from ${table} as before
            where due.event = 'closed'
                and before.alert_id = due.alert_id
                and before.channel = due.channel
                and before.event = 'opened'
                and before.state in ('waiting', 'sending')
        )
    order by due.next_attempt_at, due.created_at, due.alert_id, due.message_id
    limit 1
    for update skip locked
)
returning message_id as id, event, content,
    to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created`,
  )
  if (row === undefined) return undefined
  const { id, event, content, created } = row
  return { id, event, content, createdAt: created, warehouse: warehouse.names.data }
}

async function record(
  channel: ChannelName,
  { id, event }: Message,
  delivery: Delivery,
  { warehouse, logger, redact, at }: DeliveryDependencies,
): Promise<void> {
  const said = delivery.outcome === 'sent' ? delivery.note : delivery.reason
  const error = said === undefined ? null : redact(said)
  const [row] = await warehouse.query(
    'record what became of a message',
    sql<{ state: string; attempts: number }>`update ${tableRef('sync.alert_messages')}
set state = case
        when ${delivery.outcome} = 'refused' and attempts < ${MOST_ATTEMPTS} then 'waiting'
        when ${delivery.outcome} = 'refused' then 'given_up'
        else ${delivery.outcome}
    end,
    sent_at = case when ${delivery.outcome} = 'sent' then coalesce(${at}::timestamptz, now()) end,
    next_attempt_at = coalesce(${at}::timestamptz, now())
        + make_interval(secs => least(${LONGEST_PAUSE_SECONDS}::float8,
            ${FIRST_PAUSE_SECONDS} * 2 ^ least(attempts - 1, 20))),
    error = ${error}
where message_id = ${id} and state = 'sending'
returning state, attempts`,
  )
  const facts = { channel, event, id, ...row, ...(error === null ? {} : { reason: error }) }
  if (delivery.outcome === 'sent') logger.info('sent a message about an alert', facts)
  else logger.warn('a message about an alert was not sent', facts)
}

/** Sends one message through one channel, within half a minute. Never throws. */
export async function sendMessage(
  channels: AlertChannels,
  channel: ChannelName,
  message: Message,
): Promise<Delivery> {
  const { webhook, slack, teams, mail } = channels
  if (channel === 'webhook' && webhook) return postToWebhook(webhook, message, new Date())
  if (channel === 'slack' && slack) return postToSlack(slack, message)
  if (channel === 'teams' && teams) return postToTeams(teams, message)
  if (channel === 'mail' && mail) return sendMail(mail, message)
  return { outcome: 'refused', reason: 'the channel is no longer set' }
}
