import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { mix } from '../world/dice.js'
import { DAY } from '../world/local-time.js'

/** Within so many days after the start of the world, each place and vessel changes once. */
const CHANGED_WITHIN_DAYS = 200

const OWNERS = ['Hutchison', 'Meridian', 'Northlight', 'Seaspan'] as const

/** With another clock, so that local days by the zone of before are wrong. */
const OTHER_ZONES: Readonly<Record<string, string>> = {
  'America/Chicago': 'America/Regina',
  'America/Los_Angeles': 'America/Phoenix',
  'America/New_York': 'America/Halifax',
  'Asia/Ho_Chi_Minh': 'Asia/Manila',
  'Asia/Shanghai': 'Asia/Seoul',
  'Europe/Amsterdam': 'Europe/London',
  'Europe/Berlin': 'Europe/Helsinki',
}

/**
 * A place or vessel as it is at an instant: each is corrected once, on a day of its own, without a
 * notification. A vessel or terminal gets another name; a port or city another name, UN/LOCODE or
 * time zone.
 */
export function correctedRecord(
  record: ResourceObject,
  startAt: number,
  at: number,
): ResourceObject {
  // Ids are drawn from the seed of the world.
  const draw = mix(0xc044, Number.parseInt(record.id, 16))
  if (at < startAt + ((draw % 10_000) / 10_000) * CHANGED_WITHIN_DAYS * DAY) return record
  return { ...record, attributes: { ...record.attributes, ...correction(record, draw >>> 16) } }
}

function correction(
  { type, attributes = {} }: ResourceObject,
  draw: number,
): Readonly<Record<string, unknown>> {
  const { name, code, time_zone } = attributes
  const zone = OTHER_ZONES[String(time_zone)]
  if (zone !== undefined && draw % 3 === 0) return { time_zone: zone }
  if (typeof code === 'string' && draw % 3 === 1) return { code: otherCode(code) }
  const owner = OWNERS[draw % OWNERS.length] ?? OWNERS[0]
  const old = String(name)
  if (type === 'vessel') return { name: `${owner.toUpperCase()} ${old.replace(/^\S+ /, '')}` }
  return { name: time_zone === undefined ? `${owner} ${old}` : `Greater ${old}` }
}

/** Another last letter. */
function otherCode(code: string): string {
  return `${code.slice(0, -1)}${code.endsWith('X') ? 'Y' : 'X'}`
}
