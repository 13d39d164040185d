import { writeNotificationBody, SIGNATURE_HEADER } from '../notifications/notification-body.js'
import { includedRecords } from '../notifications/notification-records.js'
import type { SampleWorld } from '../notifications/sample-notification.js'
import { isoSeconds } from '../world/local-time.js'
import {
  notificationAttributes,
  notificationRelationships,
  type TriggerRequest,
} from './webhook-desk.js'
import type { WebhookPost } from './webhook-post.js'

/**
 * The one request of a trigger: a notification like any other, but its records, its webhook and
 * itself exist nowhere; it is signed with the secret the caller gave.
 */
export function samplePost(
  sample: SampleWorld,
  { url, event, secret }: TriggerRequest,
  { origin, at }: { readonly origin: string; readonly at: number },
): WebhookPost {
  const { world } = sample
  const occurrence = sample.find(event)
  const number = Math.floor(at / 1000) % 2 ** 32
  const { reference } = occurrence
  const referenceId = 'id' in reference ? reference.id : world.ids.encode(reference.type, number)
  const entry = {
    number,
    id: world.ids.encode('webhook_notification', number),
    webhookId: world.ids.encode('webhook', number),
    occurrence,
    referenceId,
    createdAt: isoSeconds(at),
    status: 'pending' as const,
    logs: [],
    included: undefined,
  }
  const written = writeNotificationBody(
    {
      data: {
        id: entry.id,
        type: 'webhook_notification',
        attributes: notificationAttributes(entry, 'pending'),
        relationships: notificationRelationships(entry, []),
      },
      included: includedRecords(world, occurrence, referenceId, new Date(occurrence.at)),
      self: `${origin}/v2/webhook_notifications/examples?event=${event}`,
      secret: secret ?? null,
    },
    [],
  )
  const { bytes: body, signature } = written
  return {
    url,
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { [SIGNATURE_HEADER]: signature }),
    },
    body,
  }
}
