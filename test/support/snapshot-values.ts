/**
 * Rules of comparison, one per column type. They share nothing with the code that fills the
 * columns.
 */

/**
 * A value in one text per meaning; undefined when a column of the type cannot hold what was sent.
 */
export type Canonical = string | null | undefined

/**
 * `value` is what the source sent or what the database returned; equal meanings give equal texts.
 */
export function canonical(type: string, value: unknown): Canonical {
  if (value === null) return null
  switch (type) {
    case 'timestamp with time zone':
      return typeof value === 'string' ? instant(value)?.toString() : undefined
    case 'numeric':
    case 'integer':
      return number(value, type === 'integer')
    case 'boolean':
      return value === true || value === false ? String(value) : undefined
    case 'text[]':
      return Array.isArray(value) ? JSON.stringify(value) : undefined
    case 'jsonb':
      return JSON.stringify(sorted(value))
    default:
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
}

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/

/** Microseconds since 1970; undefined for what names no instant. */
export function instant(text: string): bigint | undefined {
  const match = INSTANT.exec(text)
  if (match === null) return undefined
  const part = (index: number): number => Number(match[index] ?? 0)
  const day = new Date(Date.UTC(part(1), part(2) - 1, part(3)))
  if (day.getUTCMonth() !== part(2) - 1 || day.getUTCDate() !== part(3)) return undefined
  const seconds = Math.floor(day.getTime() / 1000) + part(4) * 3600 + part(5) * 60 + part(6)
  const micros = Math.round(Number(`0.${match[7] ?? '0'}`) * 1e6)
  const offset = (match[8] === '-' ? -1 : 1) * (part(9) * 3600 + part(10) * 60)
  return BigInt(seconds - offset) * 1_000_000n + BigInt(micros)
}

function number(value: unknown, isWhole: boolean): Canonical {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  if (String(value).trim() === '') return undefined
  const parsed = Number(value)
  if (!Number.isFinite(parsed) || (isWhole && !Number.isInteger(parsed))) return undefined
  return String(parsed)
}

/** Objects with their members in order of name, at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [two]) => (one < two ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

/**
 * The calendar day of an instant at a place; without a zone, the day of the text in UTC.
 */
export function dayAt(text: string, timeZone: string | null): string {
  const zone = timeZone ?? 'UTC'
  let format = dayFormats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone })
    dayFormats.set(zone, format)
  }
  return format.format(new Date(text))
}

/** Making one takes as long as using it fifty times. */
const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** A value as it is shown in a difference. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
