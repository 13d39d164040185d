import { isoSeconds } from '../world/local-time.js'
import type { Occurrence } from '../notifications/occurrence.js'
import { recordsOf } from './webhook-delivery.js'
import type { DeliveryStatus, NotificationEntry, SendingDesk } from './webhook-desk.js'
import type { World } from '../world/world.js'

/**
 * Turns occurrences into notifications, numbered in the order they are made, and keeps each until
 * it has ended.
 */
export interface NotificationMaker {
  /**
   * One for each webhook that is active and subscribed to the event at this moment. Before a
   * webhook changes, its caller makes the notifications of all earlier occurrences.
   */
  make(occurrence: Occurrence): NotificationEntry[]
  /**
   * Fixes the records of the unfinished notifications about a shipment, its containers or requests.
   */
  fix(shipmentSerial: number | undefined): void
  end(entry: NotificationEntry, status: DeliveryStatus): void
}

export interface MakerParts {
  readonly world: World
  readonly desk: SendingDesk
  readonly onMade: (entry: NotificationEntry) => void
}

export function createNotificationMaker({ world, desk, onMade }: MakerParts): NotificationMaker {
  const { ids } = world
  const unfinished = new Set<NotificationEntry>()
  let made = 0
  let told = 0

  const serialOf = ({ occurrence: { reference } }: NotificationEntry): number | undefined =>
    ids.decode('id' in reference ? reference.id : reference.shipmentId)?.serial
  return {
    make: (occurrence) => {
      const { event, at, reference } = occurrence
      const wanted = desk
        .subscriptions()
        .filter(({ active, events }) => active && events.includes(event))
      if (wanted.length === 0) return []
      // One record for all subscribed webhooks.
      const referenceId = 'id' in reference ? reference.id : ids.encode(reference.type, told)
      told += 1
      const entries = wanted.map(({ id: webhookId }, place): NotificationEntry => ({
        number: made + place,
        id: ids.encode('webhook_notification', made + place),
        webhookId,
        occurrence,
        referenceId,
        createdAt: isoSeconds(at),
        status: 'pending',
        logs: [],
        included: undefined,
      }))
      made += entries.length
      for (const entry of entries) {
        desk.keep(entry)
        unfinished.add(entry)
        onMade(entry)
      }
      return entries
    },
    fix: (shipmentSerial) => {
      if (shipmentSerial === undefined) return
      for (const entry of unfinished) {
        if (serialOf(entry) === shipmentSerial) entry.included ??= recordsOf(world, entry)
      }
    },
    end: (entry, status) => {
      entry.status = status
      entry.included = undefined
      unfinished.delete(entry)
    },
  }
}
