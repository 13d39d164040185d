import { mix } from './dice.js'

/**
 * UUID-shaped ids that carry the place of their record in the world, so that an id is found again
 * without a table. 64 bits (kind, serial, ordinal, slot, revision) are scrambled with the seed into
 * the first and the last eight hex digits; the digits between are a check, so that an id of another
 * seed, or an invented one, is recognised as unknown.
 */

export const KINDS = [
  'shipment',
  'container',
  'transport_event',
  'raw_event',
  'tracking_request',
  'port',
  'metro_area',
  'terminal',
  'rail_terminal',
  'vessel',
  'user',
  'custom_field',
  'custom_field_definition',
  'webhook',
  'webhook_notification',
  'webhook_notification_log',
  'container_updated_event',
  'container_created_event',
  'estimated_event',
  'party',
  'custom_field_option',
] as const

type Kind = (typeof KINDS)[number]

/** The content of an id. `serial` has 32 bits, the others 8. */
export interface IdParts {
  readonly kind: Kind
  readonly serial: number
  readonly ordinal: number
  readonly slot: number
  readonly revision: number
}

export interface Ids {
  encode(kind: Kind, serial: number, ordinal?: number, slot?: number, revision?: number): string
  /** Undefined for every text that `encode` of the same seed does not give. */
  decode(id: string): IdParts | undefined
}

const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const ROUNDS = 4

/** Four digits of each 16 bits: made once, because a world's records have many ids. */
const HEX = Array.from({ length: 0x1_0000 }, (_, number) => number.toString(16).padStart(4, '0'))

function quad(number: number): string {
  return HEX[number & 0xffff] ?? ''
}

export function createIds(seed: number): Ids {
  const keys = Array.from({ length: ROUNDS }, (_, round) => mix(seed, 0x1d5, round))
  const kindNumbers = new Map<Kind, number>(KINDS.map((kind, number) => [kind, number]))
  const format = (left: number, right: number): string => {
    const check = mix(seed, left, right)
    const more = mix(check, left)
    return (
      `${quad(left >>> 16)}${quad(left)}-${quad(check)}-${quad(0x4000 | (more & 0xfff))}-` +
      `${quad(0x8000 | ((more >>> 12) & 0x3fff))}-${quad(check >>> 16)}${quad(right >>> 16)}${quad(right)}`
    )
  }

  return {
    encode: (kind, serial, ordinal = 0, slot = 0, revision = 0) => {
      const kindNumber = kindNumbers.get(kind) ?? 0
      let left = serial >>> 0
      let right = ((kindNumber << 24) | (ordinal << 16) | (slot << 8) | revision) >>> 0
      for (const key of keys) {
        const swapped = (left ^ mix(key, right)) >>> 0
        left = right
        right = swapped
      }
      return format(left, right)
    },
    decode: (id) => {
      if (!ID_PATTERN.test(id)) return undefined
      let left = Number.parseInt(id.slice(0, 8), 16)
      let right = Number.parseInt(id.slice(28), 16)
      if (format(left, right) !== id) return undefined
      for (const key of keys.toReversed()) {
        const swapped = (right ^ mix(key, left)) >>> 0
        right = left
        left = swapped
      }
      const kind = KINDS[right >>> 24]
      if (kind === undefined) return undefined
      return {
        kind,
        serial: left,
        ordinal: (right >>> 16) & 0xff,
        slot: (right >>> 8) & 0xff,
        revision: right & 0xff,
      }
    },
  }
}
