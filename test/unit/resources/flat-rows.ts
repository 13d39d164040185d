import { parseExactJson } from '../../../src/source/jsonapi/exact-json.js'
import type { EncodedValue } from '../../../src/source/records/column.js'
import { flattenAnyRecord } from '../../../src/source/records/index.js'
import type { SeenIn, Sighting } from '../../../src/source/records/resource.js'

/** A complete record of no special instant. */
export const SEEN: SeenIn = { observedAt: new Date('2026-03-02T08:00:00Z'), isComplete: true }

export type JsonObject = Readonly<Record<string, unknown>>

/** A flattened record by names instead of positions. */
export interface NamedRow {
  readonly stream: string
  readonly columns: Readonly<Record<string, EncodedValue | undefined>>
  readonly unmapped: JsonObject
  readonly coercions: Readonly<
    Record<string, { readonly reason: string; readonly original: string }>
  >
  readonly flat: Sighting
}

/**
 * Flattens what a record becomes after it crossed the wire: written as JSON and read as the client
 * reads it.
 */
export function flatten(record: unknown, seen: Partial<SeenIn> = {}): NamedRow {
  return flattenText(JSON.stringify(record), seen)
}

/** For numbers and escapes that only a JSON text can hold. */
export function flattenText(json: string, seen: Partial<SeenIn> = {}): NamedRow {
  const flat = flattenAnyRecord(parseExactJson(json), { ...SEEN, ...seen })
  return {
    stream: flat.resource.stream,
    columns: Object.fromEntries(
      flat.resource.columns.map(({ name }, index) => [name, flat.values[index]]),
    ),
    unmapped: readObject(flat.unmapped),
    coercions: readObject(flat.coercions) as NamedRow['coercions'],
    flat,
  }
}

function readObject(text: EncodedValue): JsonObject {
  return text === null ? {} : (JSON.parse(text) as JsonObject)
}

export function container(attributes: JsonObject, relationships: JsonObject = {}): JsonObject {
  return { id: 'container-1', type: 'container', attributes, relationships }
}

/** A PostgreSQL array literal of texts, read by the rules of its manual. */
export function readArrayLiteral(literal: string): (string | null)[] {
  const elements: (string | null)[] = []
  const pattern = /"((?:[^"\\]|\\[\s\S])*)"|NULL|([{},])/gy
  for (let match = pattern.exec(literal); match !== null; match = pattern.exec(literal)) {
    if (match[2] !== undefined) continue
    elements.push(match[1] === undefined ? null : match[1].replace(/\\([\s\S])/g, '$1'))
  }
  return elements
}

/**
 * A text as PostgreSQL can hold it: writing UTF-8 replaces lone surrogates, and U+0000 is replaced
 * too.
 */
export function storable(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\u0000', '\ufffd')
}
