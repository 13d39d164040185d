import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { Atlas } from '../world/atlas.js'
import { INSERTED_SERIALS, type Census } from '../world/census.js'
import { containerRecord } from './container-record.js'
import { correctedRecord } from './corrected-record.js'
import {
  CUSTOM_FIELDS,
  customFieldRecord,
  definitionRecords,
  drawnCustomValue,
  ENTITY_TYPES,
  optionRecords,
} from './custom-field-record.js'
import type { IdParts, Ids } from '../world/ids.js'
import type { Overlay } from '../world/overlay.js'
import type { PlanBook, PlannedContainer } from '../world/plan-book.js'
import { rawEventIds } from './raw-events.js'
import { metroAreaRecord, portRecord, terminalRecord } from './reference-records.js'
import { shipmentRecord } from './shipment-record.js'
import {
  REQUEST_VARIANTS,
  requestVariantsOf,
  trackingRequestRecord,
} from '../plans/tracking-requests.js'
import type { PlannedEvent } from '../plans/transport-event-plan.js'
import { transportEventRecord } from './transport-event-record.js'
import { vesselRecord } from './vessel-record.js'

/** All that records are drawn from. Instants here are epoch milliseconds. */
export interface WorldSources {
  readonly seed: number
  readonly startAt: number
  readonly hasExtras: boolean
  readonly ids: Ids
  readonly atlas: Atlas
  readonly census: Census
  readonly book: PlanBook
  readonly overlay: Overlay
}

/** The record with this id; undefined when there is none at the instant. */
export function writeRecord(
  world: WorldSources,
  parts: IdParts,
  at: number,
): ResourceObject | undefined {
  switch (parts.kind) {
    case 'shipment':
      return writeShipment(world, parts.serial, at)
    case 'container': {
      const planned = findContainer(world, parts, at)
      return planned && writeContainer(world, planned, at)
    }
    case 'transport_event': {
      const planned = findContainer(world, parts, at)
      const { serial, ordinal, slot, revision } = parts
      const id = world.ids.encode('transport_event', serial, ordinal, slot, revision)
      const event = planned && standingEvents(world, planned, at).find((one) => one.id === id)
      return event && writeEvent(world, planned, event)
    }
    case 'tracking_request':
      return writeRequest(world, parts, at)
    case 'custom_field':
      return writeCustomField(world, parts, at)
    case 'custom_field_definition': {
      const definition = definitionRecords(world.ids)[parts.serial]
      if (definition === undefined) return undefined
      const { overlay } = world
      return overlay.isGone(definition.type, definition.id) ? undefined : overlay.revise(definition)
    }
    case 'custom_field_option':
      return optionRecords(world.ids, parts.serial)[parts.slot]
    case 'port':
    case 'metro_area':
    case 'terminal':
    case 'rail_terminal':
    case 'vessel':
      return writeReference(world, parts, at)
    case 'raw_event':
    case 'user':
    case 'party':
    case 'webhook':
    case 'webhook_notification':
    case 'webhook_notification_log':
    case 'container_updated_event':
    case 'container_created_event':
    case 'estimated_event':
      // Ids that are only named, or kept elsewhere.
      return undefined
    default:
      return parts.kind satisfies never
  }
}

/** `hasPositions` is about vessels; see `vesselRecord`. */
export function writeReference(
  { seed, startAt, atlas, overlay, hasExtras }: WorldSources,
  { kind, serial }: IdParts,
  at: number,
  hasPositions = false,
): ResourceObject | undefined {
  const draw = (): ResourceObject | undefined => {
    const port = kind === 'port' ? atlas.ports[serial] : undefined
    if (port !== undefined) return portRecord(port, hasExtras)
    const metroArea = kind === 'metro_area' ? atlas.metroAreas[serial] : undefined
    if (metroArea !== undefined) return metroAreaRecord(metroArea)
    const places = { terminal: atlas.terminals, rail_terminal: atlas.railTerminals }
    const terminal =
      kind === 'terminal' || kind === 'rail_terminal' ? places[kind][serial] : undefined
    if (terminal !== undefined) return terminalRecord(terminal, atlas, hasExtras)
    const vessel = kind === 'vessel' ? atlas.vessels[serial] : undefined
    return vessel && vesselRecord(seed, vessel, atlas, at, hasPositions)
  }
  const record = draw()
  if (record === undefined || overlay.isGone(record.type, record.id)) return undefined
  return overlay.revise(correctedRecord(record, startAt, at))
}

/** The container with its shipment, unless one of them is deleted or not yet there. */
export function findContainer(
  { book, overlay }: WorldSources,
  { serial, ordinal }: Pick<IdParts, 'serial' | 'ordinal'>,
  at: number,
): PlannedContainer | undefined {
  const planned = book.container(serial, ordinal, at)
  if (planned === undefined) return undefined
  if (overlay.isGone('shipment', planned.shipment.id)) return undefined
  return overlay.isGone('container', planned.plan.id) ? undefined : planned
}

/** The transport events that are listed at the instant, newest `created_at` first. */
export function standingEvents(
  { book, overlay }: WorldSources,
  planned: PlannedContainer,
  at: number,
): PlannedEvent[] {
  const until = Math.min(at, planned.shipment.ending.frozenAt)
  return book
    .transportEvents(planned)
    .filter(
      ({ id, createdAt, withdrawnAt }) =>
        createdAt <= until && until < withdrawnAt && !overlay.isWithdrawn(planned.plan.id, id),
    )
}

export function writeEvent(
  { overlay, hasExtras }: WorldSources,
  { shipment, plan }: PlannedContainer,
  event: PlannedEvent,
): ResourceObject {
  return overlay.revise(transportEventRecord(event, shipment.id, plan.id, hasExtras))
}

/**
 * The attributes alone, enough to see a change of a container; a tenth of the cost of the record.
 */
export function writeContainerAttributes(
  { hasExtras, overlay }: WorldSources,
  { shipment, plan }: PlannedContainer,
  at: number,
): Readonly<Record<string, unknown>> {
  const scene = { shipment, hasExtras, transportEventIds: [], rawEventIds: [] }
  const until = Math.min(at, shipment.ending.frozenAt)
  return overlay.revise(containerRecord(plan, scene, until)).attributes ?? {}
}

export function writeContainer(
  world: WorldSources,
  planned: PlannedContainer,
  at: number,
): ResourceObject {
  const { shipment, plan } = planned
  const until = Math.min(at, shipment.ending.frozenAt)
  const scene = {
    shipment,
    hasExtras: world.hasExtras,
    transportEventIds: standingEvents(world, planned, at).map(({ id }) => id),
    rawEventIds: rawEventIds(world.ids, plan, until),
  }
  return world.overlay.revise(containerRecord(plan, scene, until))
}

function writeShipment(
  { book, overlay, ids, hasExtras }: WorldSources,
  serial: number,
  at: number,
): ResourceObject | undefined {
  const plan = book.shipment(serial, at)
  if (plan === undefined || overlay.isGone('shipment', plan.id)) return undefined
  const containerIds = plan.containers
    .map(({ id }) => id)
    .filter((id) => !overlay.isGone('container', id))
  const scene = { hasExtras, containerIds, userId: ids.encode('user', 1) }
  return overlay.revise(shipmentRecord(plan, scene, at))
}

function writeRequest(
  { seed, ids, census, book, overlay, hasExtras }: WorldSources,
  { serial, ordinal }: IdParts,
  at: number,
): ResourceObject | undefined {
  const isInserted = serial >= INSERTED_SERIALS
  const variant = REQUEST_VARIANTS[ordinal]
  const variants: readonly string[] = isInserted ? ['tracked'] : requestVariantsOf(serial)
  if (variant === undefined || !variants.includes(variant)) return undefined
  const createdAt = isInserted ? book.createdAt(serial) : census.requestCreatedAt(serial)
  const id = ids.encode('tracking_request', serial, ordinal)
  if (createdAt === undefined || !(createdAt <= at) || overlay.isGone('tracking_request', id)) {
    return undefined
  }
  // A pending request has the number of the shipment to come.
  const plan = variant === 'tracked' ? book.shipment(serial, Number.POSITIVE_INFINITY) : undefined
  const shipment = plan && {
    id: plan.id,
    createdAt: plan.createdAt,
    billOfLading: plan.billOfLading,
    scac: plan.voyage.line.scac,
    refNumbers: plan.refNumbers ?? [],
    tags: plan.tags,
    cancelledAt: plan.ending.reason === 'cancelled_by_user' ? plan.ending.stoppedAt : undefined,
  }
  const facts = {
    id,
    seat: { serial, variant },
    createdAt,
    hasExtras,
    userId: ids.encode('user', 1),
    customerId: ids.encode('party', serial % 10),
    shipment,
  }
  const record = trackingRequestRecord(seed, facts, at)
  const isOrphan = plan !== undefined && overlay.isGone('shipment', plan.id)
  const { relationships: drawn } = record
  const relationships = isOrphan ? { ...drawn, tracked_object: { data: null } } : drawn
  return overlay.revise({ ...record, ...(relationships ? { relationships } : {}) })
}

/** The value that an entity has for the definition in `slot`; undefined without one. */
export function writeCustomField(
  world: WorldSources,
  { serial, ordinal, slot }: Pick<IdParts, 'serial' | 'ordinal' | 'slot'>,
  at: number,
): ResourceObject | undefined {
  const { seed, ids, overlay } = world
  const definition = CUSTOM_FIELDS[slot]
  if (definition === undefined || isFieldGone(world, { serial, ordinal, slot })) return undefined
  const kind = ENTITY_TYPES[definition.entity]
  const isThere =
    kind === 'container'
      ? findContainer(world, { serial, ordinal }, at)
      : writeRecord(world, { kind, serial, ordinal, slot: 0, revision: 0 }, at)
  const entityId = ids.encode(kind, serial, ordinal)
  const edited = overlay.customValue(entityId, definition.slug)
  const field = { serial, ordinal, slot }
  const value = edited === undefined ? drawnCustomValue(seed, field, at) : edited.value
  if (value === undefined || isThere === undefined) return undefined
  return overlay.revise(customFieldRecord(ids, entityId, field, value))
}

/** Deleted by hand, alone or with its definition. */
export function isFieldGone(
  { ids, overlay }: WorldSources,
  { serial, ordinal, slot }: Pick<IdParts, 'serial' | 'ordinal' | 'slot'>,
): boolean {
  return (
    overlay.isGone('custom_field', ids.encode('custom_field', serial, ordinal, slot)) ||
    overlay.isGone('custom_field_definition', ids.encode('custom_field_definition', slot))
  )
}
