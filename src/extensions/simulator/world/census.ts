import { mix } from './dice.js'
import { DAY, HOUR, toSecond } from './local-time.js'

/**
 * The creation of every shipment, without a table: shipments have serials in the order of their
 * creation, one in each slot of equal length, somewhere in it. Sixteen shipments in a row always
 * have thirty-two containers, in an order of their own.
 */
export interface Census {
  /** Shipments created at or before the instant; their serials are 0 … n-1. */
  shipmentsAt(at: number): number
  shipmentCreatedAt(serial: number): number
  containerCountOf(serial: number): number
  /** Containers of all shipments with smaller serials. */
  containersBefore(serial: number): number
  /** The container at a position in the order of creation. */
  containerAt(position: number): { readonly serial: number; readonly ordinal: number }
  /**
   * Shipments whose tracking request was made at or before the instant: as many as exist, or one
   * more.
   */
  requestedAt(at: number): number
  requestCreatedAt(serial: number): number
}

/** Shipments inserted by hand have serials from here on. */
export const INSERTED_SERIALS = 0x8000_0000

const WINDOW = 120 * DAY
const COUNTS = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 6] as const
const BLOCK = COUNTS.length
const PER_BLOCK = 32

export function createCensus(seed: number, shipments: number, startAt: number): Census {
  const start = toSecond(startAt)
  const slot = shipments === 0 ? Number.POSITIVE_INFINITY : WINDOW / shipments
  const origin = start - WINDOW

  const shipmentCreatedAt = (serial: number): number => {
    const place = 0.05 + (0.9 * mix(seed, 0xce5, serial)) / 0x1_0000_0000
    return toSecond(origin + (serial + place) * slot)
  }
  // Within the slot of its shipment, so that requests have the same order as shipments.
  const lead = Math.min(0.045 * slot, HOUR / 2)
  const requestCreatedAt = (serial: number): number =>
    toSecond(shipmentCreatedAt(serial) - lead * (0.2 + (mix(seed, 0xce6, serial) % 80) / 100))

  const countUntil = (at: number, createdAt: (serial: number) => number): number => {
    if (shipments === 0 || at < origin) return 0
    let count = Math.floor((at - origin) / slot)
    while (createdAt(count) <= at) count += 1
    while (count > 0 && createdAt(count - 1) > at) count -= 1
    return count
  }

  const containerCountOf = (serial: number): number => {
    const shuffle = mix(seed, 0xce7, Math.floor(serial / BLOCK))
    const step = (shuffle & 0xf) | 1
    return COUNTS[((serial % BLOCK) * step + (shuffle >>> 8)) % BLOCK] ?? 1
  }
  const containersBefore = (serial: number): number => {
    const block = Math.floor(serial / BLOCK)
    let count = block * PER_BLOCK
    for (let other = block * BLOCK; other < serial; other++) count += containerCountOf(other)
    return count
  }
  return {
    shipmentsAt: (at) => countUntil(at, shipmentCreatedAt),
    shipmentCreatedAt,
    containerCountOf,
    containersBefore,
    containerAt: (position) => {
      let serial = Math.floor(position / PER_BLOCK) * BLOCK
      let ordinal = position % PER_BLOCK
      for (;;) {
        const count = containerCountOf(serial)
        if (ordinal < count) return { serial, ordinal }
        ordinal -= count
        serial += 1
      }
    },
    requestedAt: (at) => countUntil(at, requestCreatedAt),
    requestCreatedAt,
  }
}
