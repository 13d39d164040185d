import type { Relationship, ResourceObject } from '../../../source/jsonapi/document.js'
import { createDice } from '../world/dice.js'
import { DAY, HOUR, isoWithOffset, toSecond } from '../world/local-time.js'
import { reference } from '../records/reference-records.js'
import { SHIPPING_LINES } from '../world/shipping-lines.js'

/**
 * Tracking requests in the order of their creation. Each shipment has one. A failed request
 * precedes every twelfth shipment; every fortieth follows a request that waits for a manifest for
 * days and then fails.
 */
export type RequestVariant = 'tracked' | 'failed' | 'waiting'

export interface RequestSeat {
  readonly serial: number
  readonly variant: RequestVariant
}

/** An id's `ordinal` is the index of the variant in this list. */
export const REQUEST_VARIANTS: readonly RequestVariant[] = ['tracked', 'failed', 'waiting']

const FAILED = { every: 12, offset: 7 }
const WAITING = { every: 40, offset: 13 }
const WAITS_FOR = 6 * DAY
const FAILS_AFTER = HOUR / 6
const FAILED_REASONS = [
  'not_found',
  'invalid_number',
  'duplicate',
  'booking_cancelled',
  'data_unavailable',
  'expired',
] as const
/** Tracking requests come with a numeric offset, all others with a `Z`. */
const OFFSET_HOURS = -7

export function requestVariantsOf(serial: number): RequestVariant[] {
  const variants: RequestVariant[] = []
  if (serial % FAILED.every === FAILED.offset) variants.push('failed')
  if (serial % WAITING.every === WAITING.offset) variants.push('waiting')
  variants.push('tracked')
  return variants
}

/** Requests that belong to smaller serials. */
export function requestsBefore(serial: number): number {
  const multiples = ({ every, offset }: typeof FAILED): number =>
    Math.floor((serial + every - 1 - offset) / every)
  return serial + multiples(FAILED) + multiples(WAITING)
}

export function requestAt(position: number): RequestSeat {
  const share = 1 + 1 / FAILED.every + 1 / WAITING.every
  let serial = Math.max(0, Math.floor(position / share) - 2)
  while (requestsBefore(serial + 1) <= position) serial += 1
  const variant = requestVariantsOf(serial)[position - requestsBefore(serial)]
  return { serial, variant: variant ?? 'tracked' }
}

export interface TrackingRequestFacts {
  readonly id: string
  readonly seat: RequestSeat
  readonly createdAt: number
  /** Attributes that published payloads carry and the interface does not name. */
  readonly hasExtras: boolean
  readonly userId: string
  readonly customerId: string
  /** The shipment it led to; undefined while it does not exist, or no longer does. */
  readonly shipment:
    | {
        readonly id: string
        readonly createdAt: number
        readonly billOfLading: string
        readonly scac: string
        readonly refNumbers: readonly string[]
        readonly tags: readonly string[]
        /** A user let it be stopped at this instant. */
        readonly cancelledAt: number | undefined
      }
    | undefined
}

export function trackingRequestRecord(
  seed: number,
  facts: TrackingRequestFacts,
  at: number,
): ResourceObject {
  const { id, seat, createdAt, shipment, hasExtras } = facts
  const dice = createDice(seed, 0x7e9, seat.serial, REQUEST_VARIANTS.indexOf(seat.variant))
  const drawnLine = dice.pick(SHIPPING_LINES)
  const outcome = decideOutcome(facts, at, dice.pick(FAILED_REASONS))
  const bolNumber = `${drawnLine.scac}${dice.text('0123456789', 9)}`
  return {
    id,
    type: 'tracking_request',
    attributes: {
      request_number: shipment?.billOfLading ?? bolNumber,
      request_type: dice.pick(['bill_of_lading', 'bill_of_lading', 'booking_number', 'container']),
      scac: shipment?.scac ?? drawnLine.scac,
      ref_numbers: shipment?.refNumbers ?? [],
      created_at: isoWithOffset(createdAt, OFFSET_HOURS),
      updated_at: isoWithOffset(outcome.updatedAt, OFFSET_HOURS),
      status: outcome.status,
      failed_reason: outcome.failedReason,
      ...(hasExtras ? extrasOf(outcome, shipment?.tags ?? []) : {}),
    },
    relationships: {
      tracked_object:
        (outcome.status === 'created' || outcome.status === 'tracking_stopped') &&
        shipment !== undefined
          ? reference('shipment', shipment.id)
          : { data: null },
      ...(hasExtras ? { customer: customerOf(facts), user: reference('user', facts.userId) } : {}),
    },
    links: { self: `/v2/tracking_requests/${id}` },
  }
}

/** One in three is made for a customer that the account knows. */
function customerOf({ seat, customerId }: TrackingRequestFacts): Relationship {
  return seat.serial % 3 === 0 ? reference('party', customerId) : { data: null }
}

function extrasOf({ status }: Outcome, tags: readonly string[]): Readonly<Record<string, unknown>> {
  const isRetrying = status === 'awaiting_manifest'
  return {
    tags,
    shipment_tags: tags,
    is_retrying: isRetrying,
    retry_count: isRetrying ? 1 : status === 'failed' ? 3 : null,
  }
}

interface Outcome {
  readonly status: 'pending' | 'awaiting_manifest' | 'created' | 'failed' | 'tracking_stopped'
  readonly updatedAt: number
  readonly failedReason: string | null
}

/**
 * The instants from which a request has another status, in order; the one it is made with included.
 */
export function requestChanges(
  variant: RequestVariant,
  createdAt: number,
  shipmentCreatedAt: number | undefined,
): { readonly at: number; readonly status: Outcome['status'] }[] {
  const made = { at: createdAt, status: 'pending' } as const
  switch (variant) {
    case 'tracked':
      return shipmentCreatedAt === undefined
        ? [made]
        : [made, { at: shipmentCreatedAt, status: 'created' }]
    case 'failed':
      return [made, { at: createdAt + FAILS_AFTER, status: 'failed' }]
    case 'waiting':
      return [
        { at: createdAt, status: 'awaiting_manifest' },
        { at: toSecond(createdAt + WAITS_FOR), status: 'failed' },
      ]
    default:
      return variant satisfies never
  }
}

function decideOutcome(
  { seat, createdAt, shipment }: TrackingRequestFacts,
  at: number,
  reason: string,
): Outcome {
  const failed = (updatedAt: number): Outcome => ({
    status: 'failed',
    updatedAt,
    failedReason: reason,
  })
  const pending: Outcome = { status: 'pending', updatedAt: createdAt, failedReason: null }
  switch (seat.variant) {
    case 'tracked':
      if (shipment === undefined || at < shipment.createdAt) return pending
      if (shipment.cancelledAt !== undefined && at >= shipment.cancelledAt) {
        const { cancelledAt: updatedAt } = shipment
        return { status: 'tracking_stopped', updatedAt, failedReason: null }
      }
      return { status: 'created', updatedAt: shipment.createdAt, failedReason: null }
    case 'failed': {
      const failedAt = createdAt + FAILS_AFTER
      return at < failedAt ? pending : failed(failedAt)
    }
    case 'waiting': {
      const days = Math.max(0, Math.floor((at - createdAt) / DAY))
      if (at >= createdAt + WAITS_FOR) return failed(toSecond(createdAt + WAITS_FOR))
      const updatedAt = createdAt + days * DAY
      return { status: 'awaiting_manifest', updatedAt, failedReason: null }
    }
    default:
      return seat.variant satisfies never
  }
}
