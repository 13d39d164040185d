import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { channelsOf, type AlertChannels, type ChannelName } from './alert-channels.js'
import type { Delivery, Message, MessageContent } from './message.js'
import { sendMessage } from './send-message.js'

export interface DeliveryDependencies {
  readonly warehouse: Warehouse
  readonly channels: AlertChannels
  readonly logger: Logger
  /** A receiver may answer with the secret it was sent. */
  readonly redact: (text: string) => string
  readonly reachFailpoint: ReachFailpoint
  readonly signal: AbortSignal
  /** Null: the database's now. */
  readonly at: string | null
}

/** Sending takes at most half a minute: who claimed longer ago does not send any more. */
const CLAIM_SECONDS = 120
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 3_600
/** Some twenty hours. */
const MOST_ATTEMPTS = 25
/** A run that has ended does not wait longer for slow receivers; the next look goes on. */
const PATIENCE_MS = 45_000

/**
 * Sends what is due, each message once: it is claimed in a transaction of its own before it is
 * sent, and one whose fate is unknown is not sent again (docs/decisions/0041). The channels run
 * side by side; one that refuses rests until its pause is over.
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

/** Left by a process that was killed while it was sending. */
async function markDoubtful({ warehouse, logger, at }: DeliveryDependencies): Promise<void> {
  const rows = await warehouse.query<{ channel: string; id: string }>(
    'look for messages in doubt',
    `update ${warehouse.names.table('alert_messages')}
set state = 'in_doubt',
    error = 'the process that was sending it ended before it knew whether it arrived'
where state = 'sending'
    and claimed_at < coalesce($1::timestamptz, now()) - make_interval(secs => $2)
returning channel, message_id as id`,
    [at, CLAIM_SECONDS],
  )
  for (const { channel, id } of rows) {
    logger.warn('a message about an alert may have arrived and is not sent again', { channel, id })
  }
}

/** The closing of an alert waits for the message about its opening. */
async function claim(
  channel: ChannelName,
  { warehouse, at }: DeliveryDependencies,
): Promise<Message | undefined> {
  const table = warehouse.names.table('alert_messages')
  const [row] = await warehouse.query<{
    id: string
    event: Message['event']
    created: string
    content: MessageContent
  }>(
    'claim a message',
    `update ${table}
set state = 'sending', attempts = attempts + 1,
    claimed_at = coalesce($2::timestamptz, now())
where message_id = (
    select due.message_id
    from ${table} as due
    where due.channel = $1
        and due.state = 'waiting'
        and due.next_attempt_at <= coalesce($2::timestamptz, now())
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
    [channel, at],
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
  const [row] = await warehouse.query<{ state: string; attempts: number }>(
    'record what became of a message',
    `update ${warehouse.names.table('alert_messages')}
set state = case
        when $2 = 'refused' and attempts < $5 then 'waiting'
        when $2 = 'refused' then 'given_up'
        else $2
    end,
    sent_at = case when $2 = 'sent' then coalesce($4::timestamptz, now()) end,
    next_attempt_at = coalesce($4::timestamptz, now())
        + make_interval(secs => least($7::float8, $6 * 2 ^ least(attempts - 1, 20))),
    error = $3
where message_id = $1 and state = 'sending'
returning state, attempts`,
    [id, delivery.outcome, error, at, MOST_ATTEMPTS, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS],
  )
  const facts = { channel, event, id, ...row, ...(error === null ? {} : { reason: error }) }
  if (delivery.outcome === 'sent') logger.info('sent a message about an alert', facts)
  else logger.warn('a message about an alert was not sent', facts)
}
