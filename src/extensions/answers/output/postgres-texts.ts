/** Values of own SQL: the texts of PostgreSQL as JSON and as lists, with every digit. */

/** Object ids of PostgreSQL's types: 8, 2 and 4 bytes, oid, and the two floating ones. */
const NUMBERS = new Set([20, 21, 23, 26, 700, 701])
/** `json` and `jsonb`. */
const JSON_TYPES = new Set([114, 3802])

const JSON_NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/

/**
 * A value as JSON. The type alone decides the form; `element` is the type of the elements of an
 * array, else 0. Exact numbers (numeric) are texts, as in every answer.
 */
export function asJsonText(value: unknown, type: number, element: number): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (element !== 0) return arrayAsJson(value, element)
  if (type === BOOLEAN) return String(value === 't')
  if (NUMBERS.has(type) && JSON_NUMBER.test(value)) return value
  // JSON can have line ends only between its tokens.
  if (JSON_TYPES.has(type)) return value.replaceAll(/[\r\n]/g, ' ')
  return JSON.stringify(value)
}

/** PostgreSQL writes booleans in arrays as `t` and `f`. */
const BOOLEAN = 16

/** `[0:1]=` before the braces: the lower and upper bounds. */
const BOUNDS = /^[^{]*(?=\{)/
const TOKEN = /"((?:[^"\\]|\\.)*)"|[{},]|[^{},"]+/gs
const BRACES: Readonly<Record<string, string>> = { '{': '[', '}': ']', ',': ',', NULL: 'null' }

function arrayAsJson(text: string, element: number): string {
  return text
    .replace(BOUNDS, '')
    .replace(TOKEN, (token, quoted: string | undefined) =>
      quoted === undefined && BRACES[token] !== undefined
        ? BRACES[token]
        : asJsonText(unescape(token, quoted), element, 0),
    )
}

/** The elements of an array of any dimension, in order; NULL becomes an empty text. */
export function listElements(text: string): string[] {
  return [...text.replace(BOUNDS, '').matchAll(TOKEN)]
    .filter(([token]) => !'{},'.includes(token))
    .map(([token, quoted]) => (token === 'NULL' ? '' : unescape(token, quoted)))
}

function unescape(token: string, quoted: string | undefined): string {
  return quoted === undefined ? token : quoted.replaceAll(/\\(.)/gs, '$1')
}
