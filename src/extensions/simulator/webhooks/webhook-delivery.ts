import { isoSeconds } from '../world/local-time.js'
import type { Ids } from '../world/ids.js'
import {
  SIGNATURE_HEADER,
  writeNotificationBody,
  type NotificationBody,
} from '../notifications/notification-body.js'
import { includedRecords } from '../notifications/notification-records.js'
import {
  notificationAttributes,
  notificationRelationships,
  type NotificationEntry,
  type Subscription,
} from './webhook-desk.js'
import type { PostOutcome, WebhookPost } from './webhook-post.js'
import type { DisturbanceInForce } from './webhook-script.js'
import type { World } from '../world/world.js'

/** One notification on its way, over all of its attempts. */
export interface Delivery {
  readonly entry: NotificationEntry
  readonly inForce: readonly DisturbanceInForce[]
  /** Made so far. */
  attempts: number
  /** Kept from one attempt to the next, so that a retry has the same bytes. */
  body: { readonly written: NotificationBody; readonly disturbed: number } | undefined
}

export interface DeliveryScene {
  readonly world: World
  /** `http://host:port` of the simulator. */
  readonly origin: string
  readonly rerenderRetries: boolean
  /** Virtual epoch milliseconds. */
  readonly now: number
}

/** The next request of a delivery. Throws the error of a `transform`. */
export function composePost(
  delivery: Delivery,
  subscription: Subscription,
  scene: DeliveryScene,
): WebhookPost {
  const { written } = (delivery.body = composeBody(delivery, subscription, scene))
  const own = subscription.headers.map(({ name, value }) => [name, value] as const)
  return {
    url: subscription.url,
    headers: {
      'content-type': 'application/json',
      accept: '*/*',
      ...Object.fromEntries(own),
      ...(written.signature === undefined ? {} : { [SIGNATURE_HEADER]: written.signature }),
    },
    body: written.bytes,
  }
}

function composeBody(
  { entry, inForce, attempts, body }: Delivery,
  { secret }: Subscription,
  { world, origin, rerenderRetries, now }: DeliveryScene,
): NonNullable<Delivery['body']> {
  const disturbances = inForce.filter((one) => attempts < one.attempts)
  const isRetryAnew = rerenderRetries && attempts > 0
  if (body?.disturbed === disturbances.length && !isRetryAnew) return body
  const { occurrence, referenceId } = entry
  const included = isRetryAnew
    ? includedRecords(world, occurrence, referenceId, new Date(now))
    : (entry.included ?? recordsOf(world, entry))
  const data = {
    id: entry.id,
    type: 'webhook_notification',
    attributes: notificationAttributes(entry, 'pending'),
    relationships: notificationRelationships(entry, isRetryAnew ? entry.logs : []),
  }
  const self = `${origin}/v2/webhook_notifications/${entry.id}`
  const written = writeNotificationBody(
    { data, included, self, secret },
    disturbances.map(({ disturbance }) => disturbance),
  )
  return { written, disturbed: disturbances.length }
}

/** The records of a notification at its own instant. */
export function recordsOf(
  world: World,
  { occurrence, referenceId }: Pick<NotificationEntry, 'occurrence' | 'referenceId'>,
): ReturnType<typeof includedRecords> {
  return includedRecords(world, occurrence, referenceId, new Date(occurrence.at))
}

/** The statuses that count as received; everything else, a redirect included, is retried. */
const RECEIVED: ReadonlySet<number | null> = new Set([200, 201, 202, 204])

export function isReceived({ status }: PostOutcome): boolean {
  return RECEIVED.has(status)
}

/** Writes down an attempt as a record of its own, under the notification. */
export function logAttempt(
  ids: Ids,
  entry: NotificationEntry,
  outcome: PostOutcome,
  now: number,
): void {
  const index = entry.logs.length
  const id = ids.encode(
    'webhook_notification_log',
    entry.number,
    (index >>> 8) & 0xff,
    index & 0xff,
  )
  entry.logs.push({
    id,
    type: 'webhook_notification_log',
    attributes: {
      created_at: isoSeconds(now),
      http_status: outcome.status,
      error: outcome.error,
      succeeded: isReceived(outcome),
    },
    relationships: {
      webhook_notification: { data: { id: entry.id, type: 'webhook_notification' } },
    },
  })
}
