import type { Sighting } from '../source/records/resource.js'

/** The attributes that a sighting carries, null or not: its columns, and names without a column. */
export function carriedBy({ resource, values, unmappedNames }: Sighting): string[] {
  const columns = resource.columns.filter((_, at) => values[at] !== undefined)
  return [...columns.map(({ name }) => name), ...unmappedNames]
}

/** Whether sightings of one type carry, between them, every attribute that the interface names. */
export function carryAll(sightings: readonly Sighting[]): boolean {
  const places = sightings[0]?.resource.plan.attributes.values() ?? []
  return [...places].every((place) => sightings.some(({ values }) => values[place] !== undefined))
}
