import type { FlatRecord } from '../../resources/resource.js'

/** One record as it was seen at the source, ready to be written. */
export interface Sighting {
  readonly record: FlatRecord
  /** When the source can have known it, on the source's clock. */
  readonly observedAt: Date
  /**
   * True for primary data of a list or a read, and for records included in full. A partial sighting (a subset of attributes)
   * writes what it has and says nothing about the rest.
   */
  readonly isComplete: boolean
}

/**
 * One sighting per row, ordered by key. Two of one row in a batch would be an error in PostgreSQL, and unsorted batches of two
 * writers deadlock. The later observation wins; of equal ones a complete one, then the last.
 */
export function withoutDuplicates(sightings: readonly Sighting[]): {
  readonly unique: readonly Sighting[]
  readonly duplicates: readonly Sighting[]
} {
  const best = new Map<string, Sighting>()
  const duplicates: Sighting[] = []
  for (const sighting of sightings) {
    const key = sighting.record.key
    const other = best.get(key)
    if (other === undefined) {
      best.set(key, sighting)
      continue
    }
    const isBetter = winsOver(sighting, other)
    duplicates.push(isBetter ? other : sighting)
    if (isBetter) best.set(key, sighting)
  }
  const unique = [...best.values()].sort((one, two) => compareKeys(one.record.key, two.record.key))
  return { unique, duplicates }
}

function winsOver(sighting: Sighting, other: Sighting): boolean {
  const [time, otherTime] = [sighting.observedAt.getTime(), other.observedAt.getTime()]
  if (time !== otherTime) return time > otherTime
  return sighting.isComplete || !other.isComplete
}

/** The order of collation "C" for the ids we accept. */
export function compareKeys(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0
}
