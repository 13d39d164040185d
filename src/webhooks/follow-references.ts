import type { ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import { NOTIFICATION_ENTRY, queueRefetches } from '../warehouse/refetch-queue.js'
import { quoteIdentifier, type SchemaNames } from '../warehouse/schema-names.js'
import type { Session } from '../warehouse/warehouse.js'
import type { ApplyOptions, News } from './apply-notifications.js'
import type { Settlement } from './claim-notifications.js'

const THIN = 'a notification came without what it is about'

/**
 * Queues to be read what notifications are about and do not hold: the record itself, the container of a transport event that the warehouse knows, or else the
 * notification, which the service may tell more fully. Returns what became of each: unresolved where only the notification could be asked for.
 */
export async function followReferences(
  session: Session,
  news: readonly News[],
  { names, rereadDelayMs }: Pick<ApplyOptions, 'names' | 'rereadDelayMs'>,
): Promise<Map<string, Settlement>> {
  const thin = news.filter((one) => !holdsReference(one))
  const containersOf = await findContainers(session, names, thin)
  const settlements = new Map<string, Settlement>()
  const rereads: ResourceIdentifier[] = []
  for (const one of news) {
    const { notificationId, reference, document } = one
    if (!thin.includes(one)) settlements.set(notificationId, 'processed')
    else if (!one.isNotification) {
      settlements.set(notificationId, document.included.length > 0 ? 'processed' : 'ignored')
    } else {
      const targets = targetsOf(reference, containersOf)
      rereads.push(...targets)
      if (targets.length === 0 && one.isReread !== true) {
        rereads.push({ type: NOTIFICATION_ENTRY, id: notificationId })
      }
      settlements.set(notificationId, targets.length === 0 ? 'unresolved' : 'processed')
    }
  }
  await queueRefetches(session, rereads, THIN, rereadDelayMs)
  return settlements
}

/** Without a reference, a notification that brings anything is about that. */
function holdsReference({ reference, document: { included } }: News): boolean {
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

/** Containers of the transport events that notifications are about, by event, as far as the warehouse has them. */
async function findContainers(
  session: Session,
  names: SchemaNames,
  news: readonly News[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const eventIds = news.flatMap(({ reference }) =>
    reference?.type === 'transport_event' ? [reference.id] : [],
  )
  if (eventIds.length === 0) return new Map()
  const rows = await session.query<{ event_id: string; container_ids: string[] }>(
    'look for the containers of transport events',
    `select transport_event_id as event_id, array_agg(container_id order by container_id) as container_ids
from ${quoteIdentifier(names.data)}.transport_events
where transport_event_id = any($1::text[])
group by transport_event_id`,
    [eventIds],
  )
  return new Map(rows.map((row) => [row.event_id, row.container_ids]))
}
