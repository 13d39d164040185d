/**
 * The words of JSON:API, nothing of shipping. Records are checked one by one (see
 * `source/records/flatten.ts`), so that one bad record never costs its page; here only the frame of
 * a document is checked.
 */

export interface ResourceIdentifier {
  readonly type: string
  readonly id: string
}

export interface Relationship {
  readonly data?: ResourceIdentifier | readonly ResourceIdentifier[] | null
  readonly [member: string]: unknown
}

export interface ResourceObject {
  readonly id: string
  readonly type: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, Relationship>>
  readonly links?: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

/**
 * An answer. `data` and `included` hold unchecked records, or `RawRecord`s where the answer was
 * only split; null members of the source are absent here.
 */
export interface Document<Entry = unknown> {
  /** Primary data as a list: one record for a single read, none for `data: null`. */
  readonly data: readonly Entry[]
  /** True when the answer's `data` was an array. */
  readonly isList: boolean
  readonly included: readonly Entry[]
  readonly links: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

/**
 * Checks the frame of a JSON:API document. Returns undefined for any other value: an `errors`
 * document, HTML that happened to parse, a bare array, or an object without `data`. Such an answer
 * means "ask again", never "no records".
 */
export function parseDocument(value: unknown): Document | undefined {
  if (!isObject(value) || 'errors' in value) return undefined
  const { data, included, links, meta } = value
  const isList = Array.isArray(data)
  const isFrame =
    (isList || isObject(data) || data === null) &&
    (Array.isArray(included) || (included ?? null) === null) &&
    [links, meta].every((members) => isObject(members) || (members ?? null) === null)
  if (!isFrame) return undefined
  return {
    data: isList ? data : data === null ? [] : [data],
    isList,
    included: Array.isArray(included) ? included : [],
    links: membersOf(links),
    meta: membersOf(meta),
  }
}

export type Members = Readonly<Record<string, unknown>>

/** An object of a JSON text: no array, no null. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; an empty object for any other value. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}
