import { isAscii } from 'node:buffer'
import { hash } from 'node:crypto'
import { decodeUtf8, endOfString, parseExactJson } from './exact-json.js'
import { membersOf, type DocumentFrame } from './document.js'

/** The key under which a parsed record carries the digest of its bytes. */
const DIGEST: unique symbol = Symbol('digest')

/** A double keeps any number of so many digits. */
const SAFE_DIGITS = 15

/** `parseExactJson` reads deeper ones, and decides how deep is too deep. */
const DEEPEST_PLAIN = 32

/**
 * 72 bits: two texts of one and the same record share a digest by accident once in 10^21 changes.
 */
const DIGEST_LENGTH = 12

/**
 * The digest of the bytes that a parsed record came in; undefined for a record that came otherwise.
 */
export function digestOf(record: unknown): string | undefined {
  return (record as { readonly [DIGEST]?: string } | null)?.[DIGEST]
}

/** The records of an answer as they came. */
export interface RawRecords {
  readonly primary: readonly RawRecord[]
  readonly included: readonly RawRecord[]
}

/** A page of a list whose records are not parsed. */
export interface RawDocument extends RawRecords, DocumentFrame {}

export interface RawText {
  readonly bytes: Buffer
  /**
   * One character for each byte, so that places in it are places in the bytes. All structure of
   * JSON is ASCII, and no byte of a longer UTF-8 sequence is.
   */
  readonly latin1: string
  /** The type that was read last: most records have the same one as their neighbour. */
  lastType?: string
}

/** The place of a record in its document: by itself as `data`, or in one of the lists. */
export type RecordPlace = 'alone' | 'data' | 'included'

/** The type and id of a record as it gives them, of any kind. */
export interface RecordIdentity {
  readonly type: unknown
  readonly id: unknown
}

/**
 * An entry of a list of records as it came, before it is parsed: which record it is, and a digest
 * to recognize it by. Splitting costs half of parsing, so type, id and linkages are read off the
 * text: undefined where a record is written in an unusual way, or the entry is not an object. Two
 * records with the same digest are equal byte by byte.
 */
export class RawRecord {
  readonly #text: RawText
  readonly #start: number
  /** After the closing brace, or where the text ends. */
  readonly end: number
  readonly place: RecordPlace
  readonly type: string | undefined
  readonly id: string | undefined
  /** The most values that parsing it would make. */
  readonly values: number
  /**
   * For each relationship that has data: the start of its name, and the start and end of its data.
   */
  readonly #linkages: readonly number[]
  /** Whether `parseExactJson` reads it just as `JSON.parse` does. */
  readonly #isPlain: boolean
  #digest: string | undefined

  /** Begins at the opening brace of a record; an entry that is not an object ends at `valueEnd`. */
  constructor(text: RawText, start: number, place: RecordPlace, valueEnd?: number) {
    const { latin1 } = text
    let idAt = -1
    let typeAt = -1
    const linkages: number[] = []
    let isPlain = true
    let values = 1
    let depth = 0
    /** Within the value of `relationships`. */
    let isInRelationships = false
    let nameStart = -1
    let dataStart = -1
    let at = valueEnd === undefined ? start : latin1.length
    for (; at < latin1.length; at += 1) {
      const code = latin1.charCodeAt(at)
      if (code === QUOTE) {
        const end = endOfString(latin1, at)
        if (depth === 1 || (isInRelationships && depth <= 3 && dataStart === -1)) {
          const colon = skipSpace(latin1, end)
          if (latin1.charCodeAt(colon) === COLON) {
            const length = end - at - 2
            const value = skipSpace(latin1, colon + 1)
            if (depth === 1) {
              if (length === 2 && latin1.startsWith('id', at + 1)) idAt = value
              else if (length === 4 && latin1.startsWith('type', at + 1)) typeAt = value
              else if (length === 13 && latin1.startsWith('relationships', at + 1)) {
                isInRelationships = true
              }
            } else if (depth === 2) {
              nameStart = at + 1
            } else if (length === 4 && latin1.startsWith('data', at + 1)) {
              const first = latin1.charCodeAt(value)
              if (first === OPEN_BRACE || first === OPEN_BRACKET) dataStart = value
            }
          }
        }
        at = end - 1
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        depth += 1
        values += 1
        if (depth > DEEPEST_PLAIN) isPlain = false
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth -= 1
        if (depth === 3 && dataStart !== -1) {
          linkages.push(nameStart, dataStart, at + 1)
          dataStart = -1
        } else if (depth === 1) isInRelationships = false
        else if (depth === 0) break
      } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
        const end = endOfNumber(latin1, at)
        const hasExponent = (latin1.charCodeAt(end) | 0x20) === LETTER_E
        if (hasExponent || end - at > SAFE_DIGITS) isPlain = false
        at = end - 1
      } else if (code === COMMA) {
        values += 1
      }
    }
    const isWhole = at < latin1.length
    this.#text = text
    this.#start = start
    this.end = valueEnd ?? (isWhole ? at + 1 : at)
    this.place = place
    this.type = typeAt === -1 ? undefined : readType(text, typeAt)
    this.id = idAt === -1 ? undefined : readPlainString(text, idAt)
    this.values = values
    this.#linkages = linkages
    this.#isPlain = isPlain && valueEnd === undefined
  }

  /** The same as after parsing; parses only text that is written in an unusual way. */
  get identity(): RecordIdentity {
    const { type, id } = this
    if (type !== undefined && id !== undefined) return { type, id }
    const members = membersOf(this.tryParse())
    return { type: members.type, id: members.id }
  }

  get digest(): string {
    return (this.#digest ??= hash('sha256', this.#bytes(), 'base64url').slice(0, DIGEST_LENGTH))
  }

  /**
   * The `data` of a relationship, parsed; undefined where it is null or there is none. Throws
   * `SyntaxError`.
   */
  linkage(relationship: string): unknown {
    const at = this.#find(relationship)
    if (at === -1) return undefined
    const range = this.#text.bytes.subarray(this.#linkages[at + 1], this.#linkages[at + 2])
    return JSON.parse(decodeUtf8(range))
  }

  /** The id that a relationship to one record points to, as far as it can be read off. */
  linkedId(relationship: string): string | undefined {
    const at = this.#find(relationship)
    const start = this.#linkages[at + 1] ?? -1
    const { latin1 } = this.#text
    if (at === -1 || latin1.charCodeAt(start) !== OPEN_BRACE) return undefined
    const name = latin1.slice(start, this.#linkages[at + 2]).indexOf('"id"')
    const colon = skipSpace(latin1, start + name + '"id"'.length)
    return name !== -1 && latin1.charCodeAt(colon) === COLON
      ? readPlainString(this.#text, skipSpace(latin1, colon + 1))
      : undefined
  }

  get text(): string {
    const bytes = this.#bytes()
    // A part of a text takes no memory of its own.
    return isAscii(bytes) ? this.#text.latin1.slice(this.#start, this.end) : decodeUtf8(bytes)
  }

  /** Throws the errors of `parseExactJson`. */
  parse(): unknown {
    const { text } = this
    const isPlain = this.#isPlain && !text.includes('__proto__') && !text.includes('\\u00')
    const record: unknown = isPlain
      ? JSON.parse(text)
      : parseExactJson(text, this.place === 'alone' ? 1 : 2)
    if (typeof record !== 'object' || record === null || Array.isArray(record)) return record
    // Not enumerable: a changed copy has other bytes.
    return Object.defineProperty(record, DIGEST, { value: this.digest })
  }

  /** Undefined for a record that is not JSON: it costs only itself. */
  tryParse(): unknown {
    try {
      return this.parse()
    } catch {
      return undefined
    }
  }

  #bytes(): Buffer {
    return this.#text.bytes.subarray(this.#start, this.end)
  }

  /** The place in the linkages of the last relationship with that name. */
  #find(relationship: string): number {
    const { latin1 } = this.#text
    for (let at = this.#linkages.length - 3; at >= 0; at -= 3) {
      const start = this.#linkages[at] ?? -1
      const isIt = latin1.startsWith(relationship, start)
      if (isIt && latin1.charCodeAt(start + relationship.length) === QUOTE) return at
    }
    return -1
  }
}

export const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
const LETTER_E = 0x65
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

/** After the digits, signs and points of a number; without an exponent. */
function endOfNumber(latin1: string, start: number): number {
  let end = start + 1
  for (;;) {
    const code = latin1.charCodeAt(end)
    const isPart = (code >= ZERO && code <= NINE) || code === POINT || code === MINUS
    if (!isPart) return end
    end += 1
  }
}

function skipSpace(latin1: string, start: number): number {
  let at = start
  for (;;) {
    const code = latin1.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
}

function readType(text: RawText, start: number): string | undefined {
  const { latin1, lastType } = text
  if (lastType !== undefined && latin1.startsWith(lastType, start + 1)) {
    const isWhole = latin1.charCodeAt(start + 1 + lastType.length) === QUOTE
    if (isWhole && latin1.charCodeAt(start) === QUOTE) return lastType
  }
  const type = readPlainString(text, start)
  if (type !== undefined) text.lastType = type
  return type
}

/** A string without escapes; a copy, so that it does not keep the text in memory. */
function readPlainString({ bytes, latin1 }: RawText, start: number): string | undefined {
  if (latin1.charCodeAt(start) !== QUOTE) return undefined
  const end = latin1.indexOf('"', start + 1)
  const text = bytes.toString('utf8', start + 1, end)
  return end === -1 || text.includes('\\') ? undefined : text
}
