import { INSERTED_SERIALS } from '../world/census.js'
import { valueAt } from '../plans/estimates.js'
import { toSecond } from '../world/local-time.js'
import type { PlannedContainer } from '../world/plan-book.js'
import {
  writeContainerAttributes,
  writeRecord,
  type WorldSources,
} from '../records/record-writer.js'
import type { ShipmentPlan } from '../plans/shipment-plan.js'
import { REQUEST_VARIANTS, requestChanges, requestVariantsOf } from '../plans/tracking-requests.js'
import { containerChangeInstants, shipmentStirInstants } from './change-instants.js'
import { containerChangeset } from './container-changeset.js'
import { compareOccurrences, type Occurrence } from './occurrence.js'

/**
 * The occurrences of one shipment, its containers and its tracking requests at instants in `(from,
 * to]`, in order. A pure function of the world and its edits. Drawing the plan costs about a
 * millisecond, each change some tens of microseconds.
 *
 * A deleted record gives nothing, nor does a withdrawn transport event or an attribute of a
 * shipment other than its estimated arrival: the service knows no event for them.
 */
export function occurrencesOf(
  sources: WorldSources,
  serial: number,
  from: number,
  to: number,
): Occurrence[] {
  const { book, overlay } = sources
  const isDue = (at: number): boolean => from < at && at <= to
  const occurrences = requestOccurrences(sources, serial, isDue)
  const shipment = book.shipment(serial, to)
  if (shipment === undefined || overlay.isGone('shipment', shipment.id)) {
    return occurrences.sort(compareOccurrences)
  }
  occurrences.push(...arrivalOccurrences(sources, shipment, isDue))
  for (const plan of shipment.containers) {
    if (overlay.isGone('container', plan.id)) continue
    occurrences.push(...containerOccurrences(sources, { shipment, plan }, isDue))
  }
  return occurrences.sort(compareOccurrences)
}

/**
 * The occurrences of the whole world at instants in `(from, to]`, in order. Looks at every shipment
 * there is: a thousand of them cost about a second. A caller that asks repeatedly keeps an agenda.
 */
export function occurrencesBetween(sources: WorldSources, from: number, to: number): Occurrence[] {
  const { census, overlay } = sources
  const occurrences: Occurrence[] = []
  for (let serial = 0; serial < census.requestedAt(to); serial++) {
    occurrences.push(...occurrencesOf(sources, serial, from, to))
  }
  for (const { serial } of overlay.inserted) {
    occurrences.push(...occurrencesOf(sources, serial, from, to))
  }
  return occurrences.sort(compareOccurrences)
}

/**
 * The next instant after `from` at which `occurrencesOf` may give something; infinite after the
 * last one.
 */
export function nextStirAfter(sources: WorldSources, serial: number, from: number): number {
  const { book } = sources
  const after = (instants: readonly number[]): number =>
    instants.find((at) => at > from) ?? Number.POSITIVE_INFINITY
  const shipment = book.shipment(serial, Number.POSITIVE_INFINITY)
  const requests = requestSeats(sources, serial).flatMap(({ changes }) =>
    changes.map(({ at }) => at),
  )
  const stirs = shipment === undefined ? [] : shipmentStirInstants(shipment, book)
  return Math.min(after(requests.sort((one, other) => one - other)), after(stirs))
}

type RequestStatus = ReturnType<typeof requestChanges>[number]['status']

interface RequestSeatChanges {
  readonly id: string
  readonly isTracked: boolean
  readonly changes: ReturnType<typeof requestChanges>
}

function requestSeats({ ids, census, book }: WorldSources, serial: number): RequestSeatChanges[] {
  const isInserted = serial >= INSERTED_SERIALS
  const shipmentCreatedAt = book.createdAt(serial)
  const createdAt = isInserted ? shipmentCreatedAt : census.requestCreatedAt(serial)
  if (createdAt === undefined || !Number.isFinite(createdAt)) return []
  const variants = isInserted ? (['tracked'] as const) : requestVariantsOf(serial)
  return variants.map((variant) => ({
    id: ids.encode('tracking_request', serial, REQUEST_VARIANTS.indexOf(variant)),
    isTracked: variant === 'tracked',
    changes: requestChanges(variant, createdAt, shipmentCreatedAt),
  }))
}

/** The event of a status; undefined for a request that was only made. */
export function requestEvent(status: unknown): string | undefined {
  const events: Partial<Record<RequestStatus, string>> = {
    created: 'tracking_request.succeeded',
    failed: 'tracking_request.failed',
    awaiting_manifest: 'tracking_request.awaiting_manifest',
  }
  return events[status as RequestStatus]
}

function requestOccurrences(
  sources: WorldSources,
  serial: number,
  isDue: (at: number) => boolean,
): Occurrence[] {
  const shipment = sources.book.shipment(serial, Number.POSITIVE_INFINITY)
  const isThere = (id: string, at: number): boolean => {
    const parts = sources.ids.decode(id)
    return parts !== undefined && writeRecord(sources, parts, at) !== undefined
  }
  return requestSeats(sources, serial).flatMap(({ id, isTracked, changes }) => {
    const shipmentId = isTracked ? shipment?.id : undefined
    const reference = { type: 'tracking_request', id, shipmentId } as const
    const told = changes.flatMap(({ at, status }): Occurrence[] => {
      const event = requestEvent(status)
      return event === undefined ? [] : [{ event, at, reference }]
    })
    if (isTracked && shipment !== undefined) {
      const at = toSecond(shipment.ending.stoppedAt)
      told.push({ event: 'tracking_request.tracking_stopped', at, reference })
    }
    return told.filter(({ at }) => isDue(at) && isThere(id, at))
  })
}

/** The first estimate is not a change: the event of the tracking request reports it. */
function arrivalOccurrences(
  sources: WorldSources,
  { id, serial, voyage, ending }: ShipmentPlan,
  isDue: (at: number) => boolean,
): Occurrence[] {
  const { etaRevisions } = voyage
  const etaAt = (at: number): unknown => {
    const parts = { kind: 'shipment', serial, ordinal: 0, slot: 0, revision: 0 } as const
    return writeRecord(sources, parts, at)?.attributes?.pod_eta_at
  }
  const instants = new Set(etaRevisions.slice(1).map((revision) => toSecond(revision.at)))
  return [...instants]
    .filter((at) => isDue(at) && at <= ending.frozenAt)
    .filter(
      (at) => valueAt(etaRevisions, at - 1000) !== undefined && etaAt(at - 1000) !== etaAt(at),
    )
    .map((at) => ({
      event: 'shipment.estimated.arrival',
      at,
      reference: { type: 'estimated_event', shipmentId: id },
    }))
}

function containerOccurrences(
  sources: WorldSources,
  planned: PlannedContainer,
  isDue: (at: number) => boolean,
): Occurrence[] {
  const { shipment, plan } = planned
  const { frozenAt } = shipment.ending
  const names = { containerId: plan.id, shipmentId: shipment.id }
  const occurrences: Occurrence[] = []
  const createdAt = toSecond(plan.createdAt)
  if (isDue(createdAt)) {
    const reference = { type: 'container_created_event', ...names } as const
    occurrences.push({ event: 'container.created', at: createdAt, reference })
  }
  for (const { id, event, createdAt: at, withdrawnAt } of sources.book.transportEvents(planned)) {
    const stands = isDue(at) && at <= frozenAt && at < withdrawnAt
    if (!stands || sources.overlay.isWithdrawn(plan.id, id)) continue
    occurrences.push({ event, at, reference: { type: 'transport_event', id, ...names } })
  }
  for (const at of containerChangeInstants(plan, frozenAt)) {
    if (!isDue(at)) continue
    const changeset = containerChangeset(
      writeContainerAttributes(sources, planned, at - 1000),
      writeContainerAttributes(sources, planned, at),
    )
    if (changeset === undefined) continue
    const reference = { type: 'container_updated_event', ...names, changeset } as const
    occurrences.push({ event: 'container.updated', at, reference })
  }
  return occurrences
}
