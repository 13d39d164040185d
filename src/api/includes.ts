import { ApiRequestError } from '../base/errors.js'
import type { Document } from '../jsonapi/document.js'
import { membersOf } from '../jsonapi/members.js'

/**
 * Which relations the service can include is not specified, so it is found out: ask for all, drop
 * what it refuses, and look whether the rest was sent.
 */

/**
 * The includes to ask for next after a refusal, or undefined when the error does not speak of the
 * request's parameters (then it must be thrown). Names that the service complains of are dropped;
 * where it names none, the second half of the list, which is in order of priority. Also undefined
 * when it complains of a filter.
 */
export function dropRefusedIncludes(
  includes: readonly string[],
  error: unknown,
): readonly string[] | undefined {
  const isRefusal =
    error instanceof ApiRequestError && (error.status === 400 || error.status === 422)
  if (!isRefusal || includes.length === 0) return undefined
  const words = new Set(wordsOf(error.context.errors))
  const kept = includes.filter((name) => !words.has(name))
  const isNamed = kept.length < includes.length
  if (!isNamed && (words.has('filter') || words.has('filters'))) return undefined
  return isNamed ? kept : includes.slice(0, Math.floor(includes.length / 2))
}

/** All words in the texts of `errors[]`; a relation name, dots included, is one word. */
function wordsOf(errors: unknown): string[] {
  const details: unknown[] = Array.isArray(errors) ? errors : []
  const texts = details.flatMap((detail) => Object.values(membersOf(detail)))
  return texts
    .filter((text) => typeof text === 'string')
    .flatMap((text) => text.split(/[^\w.-]+/))
    .map((word) => word.replace(/\.$/, ''))
}

export interface IncludeCheck {
  /** At least one linked resource of the relation was in `included`. */
  readonly sent: readonly string[]
  /** Records link to resources of the relation and none of them was in `included`. */
  readonly unsent: readonly string[]
  /** No record of this page links to anything by that name, so the page proves nothing. */
  readonly unknown: readonly string[]
}

/**
 * Compares the includes that were asked for with what one answer holds. Follows nested names
 * (`containers.transport_events`) through `included`.
 */
export function checkIncludes(document: Document, asked: readonly string[]): IncludeCheck {
  const included = new Map<string, unknown>()
  for (const resource of document.included) {
    const key = keyOf(resource)
    if (key !== undefined) included.set(key, resource)
  }
  const verdict = { sent: [] as string[], unsent: [] as string[], unknown: [] as string[] }
  for (const name of asked) verdict[checkOne(name, document, included)].push(name)
  return verdict
}

function checkOne(
  name: string,
  document: Document,
  included: ReadonlyMap<string, unknown>,
): keyof IncludeCheck {
  let holders: readonly unknown[] = document.data
  let verdict: keyof IncludeCheck = 'unknown'
  for (const relation of name.split('.')) {
    const keys = holders.flatMap((holder) => linkedKeys(holder, relation))
    if (keys.length === 0) return 'unknown'
    holders = keys.map((key) => included.get(key)).filter((resource) => resource !== undefined)
    verdict = holders.length > 0 ? 'sent' : 'unsent'
    if (verdict === 'unsent') break
  }
  return verdict
}

function linkedKeys(resource: unknown, relation: string): string[] {
  const { data } = membersOf(membersOf(membersOf(resource).relationships)[relation])
  const identifiers: unknown[] = Array.isArray(data) ? data : [data]
  return identifiers.map(keyOf).filter((key) => key !== undefined)
}

function keyOf(resource: unknown): string | undefined {
  const { type, id } = membersOf(resource)
  return typeof type === 'string' && typeof id === 'string' ? `${type}:${id}` : undefined
}
