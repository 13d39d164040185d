import { z } from 'zod'
import { isObject } from './members.js'

/**
 * The words of JSON:API, nothing of shipping. Records are checked one by one (see
 * `resources/flatten.ts`), so that one bad record never costs its page; here only the frame of a
 * document is checked.
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

const members = z.record(z.string(), z.unknown()).nullish()

// `custom` keeps the record itself: a copy would lose its digest.
const documentFrame = z.looseObject({
  data: z.union([z.array(z.unknown()), z.custom<object>(isObject), z.null()]),
  included: z.array(z.unknown()).nullish(),
  links: members,
  meta: members,
})

/**
 * Checks the frame of a JSON:API document. Returns undefined when the value is none: an `errors`
 * document, HTML that happened to parse, a bare array, or an object without `data`. Such an answer
 * means "ask again", never "no records".
 */
export function parseDocument(value: unknown): Document | undefined {
  const parsed = documentFrame.safeParse(value)
  if (!parsed.success || 'errors' in parsed.data) return undefined
  const { data, included, links, meta } = parsed.data
  return {
    data: Array.isArray(data) ? data : data === null ? [] : [data],
    isList: Array.isArray(data),
    included: included ?? [],
    links: links ?? {},
    meta: meta ?? {},
  }
}
