import { ExactNumber, stringifyExactJson } from '../jsonapi/exact-json.js'

/**
 * PostgreSQL stores neither U+0000 (refused in `text` and `jsonb`) nor lone surrogates (refused in
 * `jsonb`, silently replaced in `text`). Both become U+FFFD here, the same in every column, and the
 * caller flags it.
 */

const NUL = /\u0000/g

export interface StorableText {
  readonly text: string
  readonly isReplaced: boolean
}

export function isStorableText(text: string): boolean {
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
