import type { EncodedValue } from '../source/records/column.js'
import { membersOf } from '../source/jsonapi/document.js'
import { parseExactJson, stringifyExactJson } from '../source/jsonapi/exact-json.js'
import { fingerprint, type Sighting } from '../source/records/resource.js'

/**
 * Two sightings of one record as one: `better` wins where both carry a value, and `other` fills the
 * rest. Absent is not null.
 */
export function mergeSightings(other: Sighting, better: Sighting): Sighting {
  const { resource } = better
  const isMissing = (_: unknown, at: number): boolean => better.values[at] === undefined
  const values = better.values.map((value, at) => (value === undefined ? other.values[at] : value))
  const unmapped = mergeJson(other.unmapped, better.unmapped)
  const absent = resource.columns.filter(isMissing).map(({ name }) => name)
  const coercions = mergeJson(only(other.coercions, absent), better.coercions)
  const positions = better.positions ?? other.positions
  const isSame =
    values.every((value, at) => value === better.values[at]) &&
    unmapped === better.unmapped &&
    coercions === better.coercions
  if (isSame) return positions === undefined ? better : { ...better, positions }
  return {
    ...better,
    isComplete: better.isComplete || other.isComplete,
    values,
    unmapped,
    coercions,
    unmappedNames: [...new Set([...other.unmappedNames, ...better.unmappedNames])],
    references: [...other.references, ...better.references],
    fingerprint: fingerprint(values, unmapped, coercions),
    // The bytes of neither make this row.
    digest: null,
    ...(positions === undefined ? {} : { positions }),
  }
}

/** The members of both, in order; those of `better` count. */
function mergeJson(other: EncodedValue, better: EncodedValue): EncodedValue {
  if (other === null || other === better) return better
  if (better === null) return other
  const members = { ...membersOf(parseExactJson(other)), ...membersOf(parseExactJson(better)) }
  const sorted = Object.entries(members).sort(([one], [two]) => (one < two ? -1 : 1))
  const merged = stringifyExactJson(Object.fromEntries(sorted))
  return Object.keys(members).length === Object.keys(membersOf(parseExactJson(better))).length
    ? better
    : merged
}

function only(json: EncodedValue, names: readonly string[]): EncodedValue {
  if (json === null) return null
  const kept = Object.entries(membersOf(parseExactJson(json))).filter(([name]) =>
    names.includes(name),
  )
  return kept.length === 0 ? null : stringifyExactJson(Object.fromEntries(kept))
}
