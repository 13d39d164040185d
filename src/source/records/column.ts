import { ExactNumber, stringifyExactJson } from '../jsonapi/exact-json.js'
import { checkTimestamp, isDateOnly, isUsualTimestamp } from './timestamp.js'

/**
 * The PostgreSQL types that data tables use. `numeric` for money, weights and coordinates: exact,
 * never a float.
 */
export type ColumnType =
  'text' | 'timestamptz' | 'date' | 'numeric' | 'integer' | 'boolean' | 'text[]' | 'jsonb'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  /**
   * A change of a material column makes a history version and moves `_changed_at`. Immaterial
   * columns (when was it last checked, lists of ids) are only kept up to date.
   */
  readonly isMaterial: boolean
  /**
   * Values the interface names, encoded; others are stored just the same, and reported. Absent: any
   * value.
   */
  readonly knownValues?: ReadonlySet<string>
}

/** A value as PostgreSQL reads it (the text form of its type), or null. */
export type EncodedValue = string | null

export interface Encoded {
  readonly value: EncodedValue
  /**
   * The reason why the value is null or altered although the source sent something; undefined when
   * it is stored as sent.
   */
  readonly reason?: string
}

const ENCODERS: Readonly<Record<ColumnType, (value: unknown) => Encoded>> = {
  text: encodeText,
  timestamptz: encodeTimestamp,
  date: (value) =>
    typeof value === 'string' && isDateOnly(value) ? { value } : refused('not a date'),
  numeric: encodeNumeric,
  integer: encodeInteger,
  boolean: encodeBoolean,
  'text[]': encodeTextArray,
  jsonb: (value) => kept(toStorableJson(value)),
}

/**
 * Encodes one source value for a column. A value that fits without loss is cast (`"20210"` into a
 * number, `true` from `"true"`); any other becomes null with a reason, and the caller keeps the
 * original. Never throws.
 */
export function encodeValue(type: ColumnType, value: unknown): Encoded {
  return value === null || value === undefined ? { value: null } : ENCODERS[type](value)
}

/**
 * The same for nearly all values: null, or stored letter by letter as sent. Undefined where only
 * `encodeValue` can decide.
 */
export function encodePlainly(type: ColumnType, value: unknown): EncodedValue | undefined {
  if (value === null || value === undefined) return null
  if (typeof value !== 'string') return undefined
  if (type === 'text') return isStorableText(value) ? value : undefined
  return type === 'timestamptz' && isUsualTimestamp(value) ? value : undefined
}

export const REPLACED = 'characters that PostgreSQL cannot store were replaced by U+FFFD'

function encodeText(value: unknown): Encoded {
  const text = scalarText(value)
  return text === undefined ? refused('not a text') : kept(toStorableText(text))
}

function kept({ text, isReplaced }: StorableText): Encoded {
  return isReplaced ? { value: text, reason: REPLACED } : { value: text }
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof ExactNumber) return value.source
  return undefined
}

function encodeTimestamp(value: unknown): Encoded {
  if (typeof value !== 'string') return refused('not an RFC 3339 date-time')
  const { isValid, reason } = checkTimestamp(value)
  if (reason === undefined) return { value }
  return isValid ? { value, reason } : refused(reason)
}

const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE]([+-]?\d+))?$/
/**
 * PostgreSQL's numeric takes far more, but an amount, weight or coordinate never has a thousand
 * digits.
 */
const MAX_DIGITS = 1000

function encodeNumeric(value: unknown): Encoded {
  const text = decimalText(value)
  if (text === undefined) return refused('not a number')
  const match = text.length <= MAX_DIGITS ? DECIMAL.exec(text) : null
  if (match === null) return refused('not a number')
  if (Math.abs(Number(match[1] ?? 0)) > MAX_DIGITS) return refused('out of range')
  return { value: text }
}

function decimalText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (value instanceof ExactNumber) return value.source
  return typeof value === 'string' ? value.trim() : undefined
}

const WHOLE = /^-?\d+(?:\.0*)?$/
const MAX_INTEGER = 2 ** 31 - 1

function encodeInteger(value: unknown): Encoded {
  const { value: text, reason } = encodeNumeric(value)
  if (text === null) return refused(reason ?? 'not a number')
  // By its digits: as a JS number 20.00000000000000000001 would be whole.
  if (!WHOLE.test(text)) return refused('not a whole number')
  const number = Number(text)
  if (Math.abs(number) > MAX_INTEGER) return refused('out of range')
  return { value: String(number) }
}

function encodeBoolean(value: unknown): Encoded {
  if (value === true || value === 'true') return { value: 'true' }
  if (value === false || value === 'false') return { value: 'false' }
  return refused('not true or false')
}

function encodeTextArray(value: unknown): Encoded {
  if (!Array.isArray(value)) return refused('not a list of texts')
  const elements: string[] = []
  let isReplaced = false
  for (const element of value as readonly unknown[]) {
    const text = element === null ? null : scalarText(element)
    if (text === undefined) return refused('not a list of texts')
    const storable = text === null ? null : toStorableText(text)
    isReplaced ||= storable?.isReplaced ?? false
    elements.push(storable === null ? 'NULL' : quoteArrayElement(storable.text))
  }
  return kept({ text: `{${elements.join(',')}}`, isReplaced })
}

/**
 * An element of a PostgreSQL array literal: always quoted, so that an element `NULL` stays a text.
 */
function quoteArrayElement(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\')
  return isPlain ? `"${text}"` : `"${text.replace(/[\\"]/g, '\\$&')}"`
}

function refused(reason: string): Encoded {
  return { value: null, reason }
}

const NUL = /\u0000/g

/**
 * PostgreSQL stores neither U+0000 (refused in `text` and `jsonb`) nor lone surrogates (refused in
 * `jsonb`, silently replaced in `text`). Both become U+FFFD here, the same in every column, and the
 * caller flags it.
 */
interface StorableText {
  readonly text: string
  readonly isReplaced: boolean
}

function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/** The text as PostgreSQL can hold it; everything but U+0000 and lone surrogates stays as it is. */
export function toStorableText(text: string): StorableText {
  if (isStorableText(text)) return { text, isReplaced: false }
  return { text: text.toWellFormed().replace(NUL, '\uFFFD'), isReplaced: true }
}

/** A JSON text for a `jsonb` parameter, digits of numbers kept, strings and keys made storable. */
export function toStorableJson(value: unknown): StorableText {
  const text = stringifyExactJson(value)
  // Both hazards leave a \u escape in well-formed JSON text; looking for it is cheaper than walking
  // every value.
  if (!text.includes('\\u')) return { text, isReplaced: false }
  const cleaned = stringifyExactJson(cleanDeep(value))
  return { text: cleaned, isReplaced: cleaned !== text }
}

function cleanDeep(value: unknown): unknown {
  if (typeof value === 'string') return toStorableText(value).text
  if (Array.isArray(value)) return value.map(cleanDeep)
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [toStorableText(key).text, cleanDeep(member)]),
  )
}
