import type { TrackingService } from '../../api/endpoints.js'
import type { Page } from '../../api/list-pages.js'
import type { Document, ResourceIdentifier } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'
import { resourceOfType } from '../../resources/index.js'
import { EVENT_LIST_ENTRY } from '../../warehouse/bookkeeping/refetch-queue.js'
import { findContainersOfEvents } from '../../warehouse/rows/transport-event-lists.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { isNotOffered } from '../is-not-offered.js'
import { readEnvelope, readLinkage, type Envelope } from '../receive/envelope.js'

export interface ResolveDependencies {
  readonly service: Pick<TrackingService, 'getRecord'>
  readonly warehouse: Warehouse
  readonly signal: AbortSignal
}

type Refetches = readonly ResourceIdentifier[]

/** The include that brings the record a notification is about. */
export const REFERENCE_INCLUDE = 'reference_object'

/** After so many reads in a row that bring nothing, no more are made. */
const MOST_FRUITLESS_READS = 3

/**
 * Finds what to refetch so that what each notification says gets into the warehouse: the record it
 * is about, where such records can be read by id, or the container (else the shipment) that the
 * record belongs to. Looks in the page, then in the warehouse, then in the notification read by id:
 * one request for each that is still open.
 */
export class ReferenceResolver {
  readonly #dependencies: ResolveDependencies
  #fruitlessReads = 0

  constructor(dependencies: ResolveDependencies) {
    this.#dependencies = dependencies
  }

  /** By notification id; nothing where it cannot be found out. */
  async resolve(
    notifications: readonly Envelope[],
    { document, includes }: Pick<Page, 'document' | 'includes'>,
  ): Promise<ReadonlyMap<string, Refetches>> {
    const stored = await this.#findContainers(notifications)
    const resolved = new Map<string, Refetches>()
    for (const notification of notifications) {
      const { notificationId, reference } = notification
      let found = findInDocument(notification, document)
      if (found.length === 0 && reference?.type === 'transport_event') {
        found = (stored.get(reference.id) ?? []).flatMap(withTransportEvents)
      }
      if (found.length === 0) found = await this.#read(notification, includes)
      resolved.set(notificationId, found)
    }
    return resolved
  }

  /** Of the transport events that the warehouse has. */
  async #findContainers(
    notifications: readonly Envelope[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { warehouse } = this.#dependencies
    const eventIds = notifications.flatMap(({ reference }) =>
      reference?.type === 'transport_event' ? [reference.id] : [],
    )
    if (eventIds.length === 0) return new Map()
    return findContainersOfEvents(warehouse, warehouse.names, eventIds)
  }

  /** With the includes that the list accepted. */
  async #read(asked: Envelope, includes: readonly string[]): Promise<Refetches> {
    if (this.#fruitlessReads >= MOST_FRUITLESS_READS) return []
    const { service, signal } = this.#dependencies
    const found = await service
      .getRecord('webhook_notifications', asked.notificationId, { signal, includes })
      .then(({ document }) => {
        const answer = readEnvelope(document.data[0])
        const isSame = answer?.notificationId === asked.notificationId
        return isSame ? findInDocument(answer, document) : []
      })
      .catch((thrown: unknown) => {
        // The interface does not promise that a notification can be read by id.
        if (isNotOffered(thrown)) return []
        throw thrown
      })
    this.#fruitlessReads = found.length === 0 ? this.#fruitlessReads + 1 : 0
    return found
  }
}

function findInDocument({ reference }: Envelope, { included }: Document): Refetches {
  if (reference === null) return []
  if (isReadById(reference)) return [reference]
  const record = included
    .map(membersOf)
    .find(({ type, id }) => type === reference.type && id === reference.id)
  const { container, shipment } = membersOf(record?.relationships)
  const owner = readLinkage(container) ?? readLinkage(shipment)
  if (owner === undefined || !isReadById(owner)) return []
  const isOfContainer = reference.type === 'transport_event' && owner.type === 'container'
  return isOfContainer ? withTransportEvents(owner.id) : [owner]
}

/** An estimate that moves keeps its id, so the container alone would not show the change. */
function withTransportEvents(containerId: string): ResourceIdentifier[] {
  return [
    { type: 'container', id: containerId },
    { type: EVENT_LIST_ENTRY, id: containerId },
  ]
}

function isReadById({ type }: ResourceIdentifier): boolean {
  return resourceOfType(type).path !== undefined
}
