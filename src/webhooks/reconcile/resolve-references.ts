import type { TrackingService } from '../../api/endpoints.js'
import type { Page } from '../../api/list-pages.js'
import type { Document, ResourceIdentifier } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'
import { resourceOfType } from '../../resources/index.js'
import { EVENT_LIST_ENTRY } from '../../warehouse/bookkeeping/refetch-queue.js'
import { findContainersOfEvents } from '../../warehouse/rows/transport-event-lists.js'
import { isNotOffered } from '../is-not-offered.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { readLinkage, readEnvelope, type Envelope } from '../receive/envelope.js'

export interface ResolveDependencies {
  readonly service: Pick<TrackingService, 'getRecord'>
  readonly warehouse: Warehouse
  readonly signal: AbortSignal
}

/**
 * By notification id: what to queue to be read again, records and lists of transport events;
 * nothing where it cannot be told.
 */
export type ResolvedReferences = ReadonlyMap<string, readonly ResourceIdentifier[]>

/** What the include is called that brings the record a notification is about. */
export const REFERENCE_INCLUDE = 'reference_object'

/** When so many reads in a row bring nothing, the rest of them would not either. */
const MOST_FRUITLESS_READS = 3

/**
 * Finds what to read by id so that the news of each notification gets into the warehouse: the
 * record it is about, where such records can be read, or the container (else the shipment) that the
 * record belongs to. It is looked for in the page, then in the warehouse, then in the notification
 * read by id: one request for each that is still open.
 */
export class ReferenceResolver {
  readonly #dependencies: ResolveDependencies
  #fruitlessReads = 0

  constructor(dependencies: ResolveDependencies) {
    this.#dependencies = dependencies
  }

  async resolve(
    notifications: readonly Envelope[],
    { document, includes }: Pick<Page, 'document' | 'includes'>,
  ): Promise<ResolvedReferences> {
    const owners = new Map<string, readonly ResourceIdentifier[]>()
    const included = indexIncluded(document)
    for (const notification of notifications) {
      owners.set(notification.notificationId, findInDocument(notification, included))
    }
    const isOpen = ({ notificationId }: Envelope): boolean =>
      owners.get(notificationId)?.length === 0
    const stored = await this.#findInWarehouse(notifications.filter(isOpen))
    for (const [id, containers] of stored) owners.set(id, containers)
    for (const notification of notifications.filter(isOpen)) {
      owners.set(notification.notificationId, await this.#findByReading(notification, includes))
    }
    return owners
  }

  /** Containers of the transport events that the warehouse has. */
  async #findInWarehouse(
    notifications: readonly Envelope[],
  ): Promise<Map<string, ResourceIdentifier[]>> {
    const eventIds = notifications.flatMap(({ reference }) =>
      reference?.type === 'transport_event' ? [reference.id] : [],
    )
    const found = new Map<string, ResourceIdentifier[]>()
    if (eventIds.length === 0) return found
    const { warehouse } = this.#dependencies
    const byEvent = await findContainersOfEvents(warehouse, warehouse.names, eventIds)
    for (const { notificationId, reference } of notifications) {
      const ids = byEvent.get(reference?.id ?? '') ?? []
      if (ids.length > 0) found.set(notificationId, ids.flatMap(withTransportEvents))
    }
    return found
  }

  /** Asked for what the list took as an include; it may send more by itself. */
  async #findByReading(
    notification: Envelope,
    includes: readonly string[],
  ): Promise<readonly ResourceIdentifier[]> {
    if (this.#fruitlessReads >= MOST_FRUITLESS_READS) return []
    const { service, signal } = this.#dependencies
    const found = await service
      .getRecord('webhook_notifications', notification.notificationId, { signal, includes })
      .then(({ document }) => findInAnswer(notification, document))
      .catch(asFruitless)
    this.#fruitlessReads = found.length === 0 ? this.#fruitlessReads + 1 : 0
    return found
  }
}

/** The interface does not promise that a notification can be read by id. */
function asFruitless(thrown: unknown): readonly ResourceIdentifier[] {
  if (isNotOffered(thrown)) return []
  throw thrown
}

function findInAnswer(asked: Envelope, document: Document): readonly ResourceIdentifier[] {
  const [record] = document.data
  const notification = readEnvelope(record)
  if (notification?.notificationId !== asked.notificationId) return []
  return findInDocument(notification, indexIncluded(document))
}

function findInDocument(
  { reference }: Envelope,
  included: ReadonlyMap<string, unknown>,
): readonly ResourceIdentifier[] {
  if (reference === null) return []
  if (isReadById(reference)) return [reference]
  const relationships = membersOf(membersOf(included.get(keyOf(reference))).relationships)
  const owner = readLinkage(relationships.container) ?? readLinkage(relationships.shipment)
  if (owner === undefined || !isReadById(owner)) return []
  const isOfContainer = reference.type === 'transport_event' && owner.type === 'container'
  return isOfContainer ? withTransportEvents(owner.id) : [owner]
}

/** An estimate that moves keeps its id, so that the container alone would not tell. */
function withTransportEvents(containerId: string): ResourceIdentifier[] {
  return [
    { type: 'container', id: containerId },
    { type: EVENT_LIST_ENTRY, id: containerId },
  ]
}

function isReadById({ type }: ResourceIdentifier): boolean {
  return resourceOfType(type).path !== undefined
}

function indexIncluded({ included }: Document): Map<string, unknown> {
  const index = new Map<string, unknown>()
  for (const record of included) {
    const { type, id } = membersOf(record)
    if (typeof type === 'string' && typeof id === 'string') index.set(keyOf({ type, id }), record)
  }
  return index
}

function keyOf({ type, id }: ResourceIdentifier): string {
  return `${type} ${id}`
}
