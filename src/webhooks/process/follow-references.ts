import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { resourceOfType } from '../../resources/index.js'
import { NOTIFICATION_ENTRY, queueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import { findContainersOfEvents } from '../../warehouse/rows/transport-event-lists.js'
import type { SchemaNames } from '../../warehouse/connection/schema-names.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import type { Outcome } from '../notification-states.js'
import type { ParsedNotification } from './parse-notification.js'
import type { PreparedNotification } from './prepare-notifications.js'

const THIN = 'a notification came without what it is about'

/**
 * Queues to be read what notifications are about and do not hold: the record itself, the container
 * of a transport event that the warehouse knows, or else the notification, which the service may
 * tell more fully; that one also where records had to be left out. Returns what became of each:
 * unresolved where only the notification could be asked for.
 */
export async function followReferences(
  session: Session,
  notifications: readonly PreparedNotification[],
  { names, refetchDelayMs }: { readonly names: SchemaNames; readonly refetchDelayMs: number },
): Promise<Map<string, Outcome>> {
  const thin = new Set(notifications.filter((one) => !one.isLacking && !holdsReference(one)))
  const containersOf = await findContainersOfEvents(session, names, eventIdsOf([...thin]))
  const outcomes = new Map<string, Outcome>()
  const refetches: ResourceIdentifier[] = []
  for (const one of notifications) {
    const { notificationId, reference, document } = one
    if (one.isLacking) {
      outcomes.set(notificationId, 'unresolved')
      if (one.isRefetched !== true) refetches.push({ type: NOTIFICATION_ENTRY, id: notificationId })
    } else if (!thin.has(one)) outcomes.set(notificationId, 'processed')
    else if (!one.isNotification) {
      outcomes.set(notificationId, document.included.length > 0 ? 'processed' : 'ignored')
    } else {
      const targets = targetsOf(reference, containersOf)
      for (const target of targets) refetches.push(target)
      if (targets.length === 0 && one.isRefetched !== true) {
        refetches.push({ type: NOTIFICATION_ENTRY, id: notificationId })
      }
      outcomes.set(notificationId, targets.length === 0 ? 'unresolved' : 'processed')
    }
  }
  await queueRefetches(session, refetches, THIN, refetchDelayMs)
  return outcomes
}

/** Without a reference, a notification that brings anything is about that. */
function holdsReference({ reference, document: { included } }: ParsedNotification): boolean {
  if (reference === null) return included.length > 0
  return (included as readonly (Partial<ResourceIdentifier> | null)[]).some(
    (record) => record?.id === reference.id && record.type === reference.type,
  )
}

function targetsOf(
  reference: ResourceIdentifier | null,
  containersOf: ReadonlyMap<string, readonly string[]>,
): ResourceIdentifier[] {
  if (reference === null) return []
  if (resourceOfType(reference.type).path !== undefined) return [reference]
  if (reference.type !== 'transport_event') return []
  return (containersOf.get(reference.id) ?? []).map((id) => ({ type: 'container', id }))
}

function eventIdsOf(notifications: readonly ParsedNotification[]): string[] {
  return notifications.flatMap(({ reference }) =>
    reference?.type === 'transport_event' ? [reference.id] : [],
  )
}
