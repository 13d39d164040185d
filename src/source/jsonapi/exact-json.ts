import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'

/**
 * JSON without loss of digits. `JSON.parse` turns 9007199254740993 into …992 and 1e400 into
 * Infinity; here such a number becomes an `ExactNumber`, which keeps the text of the source.
 * Ordinary documents take the native parser and pay one linear scan more.
 */

/** A number that a JS number cannot hold. `source` is its JSON text, digit for digit. */
export class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  toString(): string {
    return this.source
  }
}

/** Deeper documents are refused: the service sends none, and deep ones break other parsers. */
const DEEPEST_NESTING = 64

export class JsonNestingError extends Error {
  override readonly name = 'JsonNestingError'

  constructor() {
    super(`The JSON text is nested deeper than ${DEEPEST_NESTING} levels.`)
  }
}

/**
 * Like `JSON.parse`, with these differences: a number whose digits a JS number would change becomes
 * an `ExactNumber` (one that is merely written otherwise, as 850.00, does not); more than 64 levels
 * throw `JsonNestingError`; members called `__proto__` are dropped; a leading BOM is accepted.
 * Throws `SyntaxError` for a text that is not JSON. `outerLevels`: how many levels the text itself
 * lies within.
 */
export function parseExactJson(text: string, outerLevels = 0): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const inexact = findInexactNumbers(json, outerLevels)
  // Also decides whether the text is JSON at all, so that the marking below need not.
  const value: unknown = JSON.parse(json)
  if (inexact.length > 0) return parseMarked(json, inexact)
  return mayNameProto(json) ? tidy(value, undefined) : value
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The places of numbers that need an `ExactNumber`. Also checks the nesting. */
function findInexactNumbers(json: string, outerLevels: number): [start: number, end: number][] {
  let depth = outerLevels
  const places: [start: number, end: number][] = []
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at) - 1
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > DEEPEST_NESTING) throw new JsonNestingError()
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1
    } else if (isNumberPart(code)) {
      const end = endOfNumber(json, at)
      if (needsExactNumber(json, at, end)) places.push([at, end])
      at = end - 1
    }
  }
  return places
}

/** The index after the closing quote; the text's length without one. */
export function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end === -1 ? json.length : end + 1
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote - 1
  while (json.charCodeAt(before) === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** A digit or a minus; the other parts of a number cannot begin one. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2d
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1
  // Digits, sign, point, e and E.
  for (; end < json.length; end += 1) {
    const code = json.charCodeAt(end)
    const isPart = isNumberPart(code) || code === 0x2e || code === 0x2b || (code | 0x20) === 0x65
    if (!isPart) break
  }
  return end
}

function needsExactNumber(json: string, start: number, end: number): boolean {
  // 15 digits always survive.
  if (end - start <= 15 && !hasExponent(json, start, end)) return false
  const source = json.slice(start, end)
  return jsonNumber.test(source) && !isHeldExactly(source)
}

function hasExponent(json: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if ((json.charCodeAt(at) | 0x20) === 0x65) return true
  }
  return false
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * True when the shortest text of the double nearest to `source` denotes the same decimal number.
 */
function isHeldExactly(source: string): boolean {
  const nearest = Number(source)
  return Number.isFinite(nearest) && decimalOf(source) === decimalOf(String(nearest))
}

/**
 * One text per decimal number: significant digits and the power of ten of the last one. Linear in
 * the length.
 */
function decimalOf(source: string): string {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const isNegative = mantissa.startsWith('-')
  const [whole = '', fraction = ''] = (isNegative ? mantissa.slice(1) : mantissa).split('.')
  const digits = whole + fraction
  let first = 0
  while (digits[first] === '0') first += 1
  let last = digits.length
  while (last > first && digits[last - 1] === '0') last -= 1
  if (first === last) return '0'
  const power = Number(exponent) - fraction.length + (digits.length - last)
  return `${isNegative ? '-' : ''}${digits.slice(first, last)}e${power}`
}

/** An underscore may also be written as an escape. */
function mayNameProto(json: string): boolean {
  return json.includes('__proto__') || json.includes('\\u00')
}

/**
 * Lets the native parser read a text whose inexact numbers were written as strings that begin with
 * a mark, which no document can know, and makes these `ExactNumber`s.
 */
function parseMarked(json: string, inexact: readonly [start: number, end: number][]): unknown {
  const mark = `number ${randomUUID()} `
  const parts: string[] = []
  let at = 0
  for (const [start, end] of inexact) {
    parts.push(json.slice(at, start), `"${mark}${json.slice(start, end)}"`)
    at = end
  }
  return tidy(JSON.parse(parts.join('') + json.slice(at)), mark)
}

/** Drops members called `__proto__`, and makes an `ExactNumber` of each string with the mark. */
function tidy(value: unknown, mark: string | undefined): unknown {
  if (typeof value === 'string' && mark !== undefined && value.startsWith(mark)) {
    return new ExactNumber(value.slice(mark.length))
  }
  if (typeof value !== 'object' || value === null) return value
  Reflect.deleteProperty(value, '__proto__')
  for (const [name, member] of Object.entries(value)) Reflect.set(value, name, tidy(member, mark))
  return value
}

/**
 * The inverse of `parseExactJson`: like `JSON.stringify`, and an `ExactNumber` is written with its
 * own digits. Only for plain JSON values (no dates, no cycles); undefined members are left out. A
 * value without `ExactNumber` costs one walk more than `JSON.stringify`.
 */
export function stringifyExactJson(value: unknown): string {
  return holdsExactNumber(value) ? write(value) : JSON.stringify(value)
}

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof ExactNumber) return true
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsExactNumber)
}

function write(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (value instanceof ExactNumber) return value.source
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`
}

/**
 * The mark in place of bytes that were not UTF-8: half a surrogate pair, which UTF-8 cannot hold.
 * The code that makes a text storable replaces it by U+FFFD and flags the value; U+FFFD at once
 * would leave nothing to flag.
 */
const UNREADABLE = '\udfff'

const REPLACEMENT = '\ufffd'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

/** The text of the bytes, with a mark wherever `toString` has a replacement character. */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  // A replacement character that was sent stays. The bytes may be cut before it: its first byte
  // always begins a character.
  const parts: string[] = []
  let start = 0
  for (;;) {
    const end = bytes.indexOf(REPLACEMENT_BYTES, start)
    const part = bytes.toString('utf8', start, end === -1 ? bytes.length : end)
    parts.push(part.replaceAll(REPLACEMENT, UNREADABLE))
    if (end === -1) return parts.join(REPLACEMENT)
    start = end + REPLACEMENT_BYTES.length
  }
}
