/**
 * The words of JSON:API, nothing of shipping. `schemas.ts` checks the frame of a document. Records
 * are checked one by one (see `source/records/flatten.ts`), so that one bad record never costs its
 * page.
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
 * An answer, parsed; its records are unchecked. `RawDocument` is one whose records are not parsed.
 */
export interface Document extends DocumentFrame {
  /** Primary data as a list: one record for a single read, none for `data: null`. */
  readonly data: readonly unknown[]
  readonly included: readonly unknown[]
}

/** The members of an answer around its records. Null: the service does not say. */
export interface DocumentFrame {
  /** Addresses of pages as the service wrote them. */
  readonly links: { readonly next: string | null; readonly last: string | null }
  readonly meta: { readonly total: number | null }
}

/** In place of an answer without any. */
export const NO_DOCUMENT: Document = {
  data: [],
  included: [],
  links: { next: null, last: null },
  meta: { total: null },
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
