import { hash } from 'node:crypto'
import { decodeUtf8 } from './decode-utf8.js'
import { parseExactJson } from './exact-json.js'

/** Under which a parsed record carries the digest of the bytes that it came in. */
const DIGEST: unique symbol = Symbol('digest')

/** A record stands in a list of its document. */
const OUTER_LEVELS = 2

/** 72 bits: two texts of one and the same record meet in it by accident once in 10^21 changes. */
const DIGEST_LENGTH = 12

/** The digest of the bytes that a parsed record came in; undefined for one that did not come in an answer. */
export function digestOf(record: unknown): string | undefined {
  return (record as { readonly [DIGEST]?: string } | null)?.[DIGEST]
}

/**
 * A record as it came, before it is parsed: what tells which one it is, and a digest by which to know it again. All of it is read off the bytes, in about a
 * fifth of the time that parsing takes, and so only a guess: type, id and linkages are those of a record that is written the way records are, and undefined
 * where it is written in another way. Two records with the same digest are the same, byte by byte.
 */
export class RawRecord {
  readonly #bytes: Buffer
  readonly #start: number
  readonly end: number
  /** Whether it stands in `included` and not in `data`. */
  readonly isIncluded: boolean
  readonly type: string | undefined
  readonly id: string | undefined
  readonly #linkages: readonly Linkage[]
  #digest: string | undefined

  /** From the opening brace of a record. */
  constructor(bytes: Buffer, start: number, isIncluded: boolean) {
    const sketch = sketchRecord(bytes, start)
    this.#bytes = bytes
    this.#start = start
    this.isIncluded = isIncluded
    this.end = sketch.end
    this.type = sketch.type
    this.id = sketch.id
    this.#linkages = sketch.linkages
  }

  get digest(): string {
    const bytes = this.#bytes.subarray(this.#start, this.end)
    return (this.#digest ??= hash('sha256', bytes, 'base64url').slice(0, DIGEST_LENGTH))
  }

  /** The `data` of a relationship, parsed; undefined where it is null or there is none. Throws `SyntaxError`. */
  linkage(relationship: string): unknown {
    const found = this.#find(relationship)
    if (found === undefined) return undefined
    return JSON.parse(decodeUtf8(this.#bytes.subarray(found.start, found.end)))
  }

  /** The id that a relationship to one record points to, as far as it can be read off. */
  linkedId(relationship: string): string | undefined {
    const found = this.#find(relationship)
    if (found === undefined || this.#bytes[found.start] !== OPEN_BRACE) return undefined
    return sketchRecord(this.#bytes, found.start).id
  }

  #find(relationship: string): Linkage | undefined {
    return this.#linkages.find(({ name }) => name === relationship)
  }

  /** Throws what `parseExactJson` throws. */
  parse(): unknown {
    const text = decodeUtf8(this.#bytes.subarray(this.#start, this.end))
    const record = parseExactJson(text, OUTER_LEVELS) as object
    // Not enumerable: a copy that says something else has other bytes.
    return Object.defineProperty(record, DIGEST, { value: this.digest })
  }
}

/** Where the data of a relationship stand. */
interface Linkage {
  readonly name: string
  readonly start: number
  readonly end: number
}

interface Sketch {
  /** After the closing brace, or where the bytes end. */
  readonly end: number
  readonly type: string | undefined
  readonly id: string | undefined
  readonly linkages: readonly Linkage[]
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** One walk over the bytes of a record. Whether they are JSON is the parser's to say. */
function sketchRecord(bytes: Buffer, start: number): Sketch {
  let type: string | undefined
  let id: string | undefined
  const linkages: Linkage[] = []
  let depth = 0
  /** Within the value of `relationships`, and the name of the relationship that is being read. */
  let isInRelationships = false
  let relationship = ''
  let dataStart = -1
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = endOfString(bytes, at)
      const isWatched = depth === 1 || (isInRelationships && dataStart === -1 && depth <= 3)
      const after = isWatched ? skipSpace(bytes, end) : end
      if (isWatched && bytes[after] === COLON) {
        const length = end - at - 2
        if (depth === 1) {
          if (length === 2 || length === 4 || length === 13) {
            const name = bytes.toString('latin1', at + 1, end - 1)
            if (name === 'relationships') isInRelationships = true
            else if (name === 'id') id = readPlainString(bytes, skipSpace(bytes, after + 1))
            else if (name === 'type') type = readPlainString(bytes, skipSpace(bytes, after + 1))
          }
        } else if (depth === 2) {
          relationship = bytes.toString('latin1', at + 1, end - 1)
        } else if (length === 4 && bytes.toString('latin1', at + 1, end - 1) === 'data') {
          const valueStart = skipSpace(bytes, after + 1)
          const first = bytes[valueStart]
          if (first === OPEN_BRACE || first === OPEN_BRACKET) dataStart = valueStart
        }
        at = after
      } else {
        at = end - 1
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 3 && dataStart !== -1) {
        linkages.push({ name: relationship, start: dataStart, end: at + 1 })
        dataStart = -1
      } else if (depth === 1) isInRelationships = false
      else if (depth === 0) return { end: at + 1, type, id, linkages }
    }
  }
  return { end: bytes.length, type: undefined, id: undefined, linkages: [] }
}

/** After the closing quote. */
export function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at += 1
    else if (byte === QUOTE) return at + 1
  }
  return bytes.length
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  for (;;) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at += 1
  }
}

/** A string without escapes. */
function readPlainString(bytes: Buffer, start: number): string | undefined {
  if (bytes[start] !== QUOTE) return undefined
  const end = endOfString(bytes, start)
  for (let at = start + 1; at < end - 1; at += 1) {
    if (bytes[at] === BACKSLASH) return undefined
  }
  return bytes.toString('utf8', start + 1, end - 1)
}
