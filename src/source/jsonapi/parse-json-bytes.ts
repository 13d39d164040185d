import { decodeUtf8, endOfString, parseExactJson } from './exact-json.js'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  RawRecord,
  type RawText,
  type RecordPlace,
} from './raw-record.js'

/** The most that one answer may hold within its limit of bytes. */
export interface JsonLimits {
  /** Entries of the lists of records. */
  readonly records: number
  readonly values: number
}

const UNLIMITED: JsonLimits = { records: Infinity, values: Infinity }

/** Thrown before the values are made: each takes many times the memory of its text. */
export class JsonSizeError extends Error {
  override readonly name = 'JsonSizeError'
}

/**
 * Like `parseExactJson` of the bytes as UTF-8, for documents of several megabytes: lists of records
 * are read record by record, so that the whole text is never in memory. Such a text would be old
 * before its page is done with, and wait for the next full garbage collection. Each record carries
 * the digest of its bytes: see `digestOf`.
 */
export function parseJsonBytes(bytes: Buffer, limits: JsonLimits = UNLIMITED): unknown {
  return readWhole(bytes, limits, (record) => record.parse())
}

/**
 * The same with a `RawRecord` for every entry of a list of records. The frame is checked, so a cut
 * answer throws here; whether a record is JSON shows when it is parsed.
 */
export function splitJsonBytes(bytes: Buffer, limits: JsonLimits = UNLIMITED): unknown {
  return readWhole(bytes, limits, (record) => record)
}

function readWhole(
  bytes: Buffer,
  limits: JsonLimits,
  makeEntry: (record: RawRecord) => unknown,
): unknown {
  const reader = new ByteReader({ bytes, latin1: bytes.toString('latin1') }, limits.values)
  reader.skipBom()
  // Not a document; the caller that expects one throws.
  const first = reader.peek()
  if (first === OPEN_BRACKET) reader.countNest()
  if (first !== OPEN_BRACE) return parseExactJson(decodeUtf8(bytes))
  let count = 0
  const readMember = (name: string): unknown => {
    const start = reader.peek()
    if (name === 'data' && start === OPEN_BRACE) return makeEntry(reader.readRecord('alone'))
    const isRecordList = start === OPEN_BRACKET && (name === 'data' || name === 'included')
    if (!isRecordList) return reader.readValue(1)
    const records: unknown[] = []
    reader.readItems(CLOSE_BRACKET, () => {
      count += 1
      if (count > limits.records) throw new JsonSizeError(`more than ${limits.records} records`)
      records.push(makeEntry(reader.readRecord(name)))
    })
    return records
  }
  const members: Record<string, unknown> = {}
  reader.readItems(CLOSE_BRACE, () => {
    const name = reader.readName()
    const value = readMember(name)
    if (name !== '__proto__') members[name] = value
  })
  reader.expectEnd()
  return members
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/**
 * Finds the ends of values; the parser decides whether they are JSON. All structure is ASCII, and
 * no byte of a longer UTF-8 sequence is, so bytes can be looked at one by one. Throws
 * `SyntaxError`.
 */
class ByteReader {
  readonly #text: RawText
  readonly #bytes: Buffer
  readonly #mostValues: number
  #values = 0
  #at = 0

  constructor(text: RawText, mostValues: number) {
    this.#text = text
    this.#bytes = text.bytes
    this.#mostValues = mostValues
  }

  skipBom(): void {
    if (this.#bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
      this.#at += BYTE_ORDER_MARK.length
    }
  }

  /** The next byte after white space, undefined at the end; it is not consumed. */
  peek(): number | undefined {
    for (;;) {
      const byte = this.#bytes[this.#at]
      const isSpace = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
      if (!isSpace) return byte
      this.#at += 1
    }
  }

  expectEnd(): void {
    if (this.peek() !== undefined) throw this.#unexpected()
  }

  /** Reads an object or array, from its opening bracket, which is not looked at, to `close`. */
  readItems(close: number, readItem: () => void): void {
    this.#at += 1
    if (this.peek() === close) {
      this.#at += 1
      return
    }
    for (;;) {
      readItem()
      const byte = this.peek()
      this.#at += 1
      if (byte === close) return
      if (byte !== COMMA) throw this.#unexpected()
    }
  }

  /** A member's name, and the colon after it. */
  readName(): string {
    if (this.peek() !== QUOTE) throw this.#unexpected()
    const name = this.readValue(1) as string
    if (this.peek() !== COLON) throw this.#unexpected()
    this.#at += 1
    return name
  }

  /** A value that lies within so many others. */
  readValue(outerLevels: number): unknown {
    const first = this.#peekValue()
    const start = this.#at
    this.#at = this.#endOfValue(first)
    return parseExactJson(decodeUtf8(this.#bytes.subarray(start, this.#at)), outerLevels)
  }

  /** A value where a record belongs. */
  readRecord(place: RecordPlace): RawRecord {
    const first = this.#peekValue()
    const end = first === OPEN_BRACE ? undefined : this.#endOfValue(first)
    const record = new RawRecord(this.#text, this.#at, place, end)
    this.#at = record.end
    this.#countValues(record.values)
    return record
  }

  /** Only white space may precede a value; the parser would take a byte order mark as well. */
  #peekValue(): number {
    const first = this.peek()
    if (first === undefined || first > 0x7f) throw this.#unexpected()
    return first
  }

  #endOfValue(first: number): number {
    if (first === QUOTE) return endOfString(this.#text.latin1, this.#at)
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return this.#endOfNest()
    let end = this.#at
    while (!isAfterScalar(this.#bytes[end])) end += 1
    return end
  }

  /** Counts the values of an array and stays where it is. */
  countNest(): void {
    this.#endOfNest()
  }

  #endOfNest(): number {
    const bytes = this.#bytes
    let depth = 0
    let values = 1
    let at = this.#at
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte === QUOTE) {
        at = endOfString(this.#text.latin1, at) - 1
      } else if (byte === COMMA) {
        values += 1
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth += 1
        values += 1
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1
        if (depth === 0) break
      }
    }
    this.#countValues(values)
    return Math.min(at + 1, bytes.length)
  }

  /** Before they are made. Every value follows a comma or an opening bracket. */
  #countValues(more: number): void {
    this.#values += more
    if (this.#values > this.#mostValues) {
      throw new JsonSizeError(`more than ${this.#mostValues} values`)
    }
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`unexpected byte in JSON at position ${this.#at}`)
  }
}

function isAfterScalar(byte: number | undefined): boolean {
  return (
    byte === undefined ||
    byte <= 0x20 ||
    byte === COMMA ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET
  )
}
