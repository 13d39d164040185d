import { createHmac } from 'node:crypto'
import type { WebhookChannel } from '../alert-channels.js'
import type { Delivery, Message } from '../message.js'
import { postJson } from './post-json.js'

const SIGNATURE_HEADER = 'x-tracking-sync-signature'

/**
 * Signs the raw body with an HMAC. The body contains the instant of sending: a receiver that
 * refuses old instants and known ids accepts no message twice.
 */
export function postToWebhook(
  channel: WebhookChannel,
  message: Message,
  sentAt: Date,
): Promise<Delivery> {
  const { id, event, createdAt, warehouse, content } = message
  const body = JSON.stringify({
    id,
    event,
    sent_at: sentAt.toISOString(),
    created_at: createdAt,
    warehouse,
    title: content.title,
    lines: content.lines,
    ...content.data,
  })
  const digest = createHmac('sha256', channel.secret).update(body).digest('hex')
  return postJson(channel, body, {
    [SIGNATURE_HEADER]: `sha256=${digest}`,
    'idempotency-key': id,
  })
}
