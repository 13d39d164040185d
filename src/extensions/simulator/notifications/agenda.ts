import type { WorldSources } from '../records/record-writer.js'
import { compareOccurrences, type Occurrence } from './occurrence.js'
import { nextStirAfter, occurrencesOf } from './occurrences.js'
import { createSoonestFirst } from './soonest-first.js'

/**
 * The coming occurrences, so that a look costs only what happened since the last one: `advance`
 * gives exactly what `occurrencesBetween` would, one call after the other without gap or overlap.
 * The first call plans every shipment that exists (about a millisecond each, unless `prepare` did
 * so); later calls plan only new shipments and those with an occurrence.
 */
export interface Agenda {
  /**
   * Plans for so many real milliseconds; true when every shipment there is at the instant has been
   * planned.
   */
  prepare(to: number, budgetMs: number): boolean
  /** The occurrences after the last call, or after the start, until `to`. In order. */
  advance(to: number): Occurrence[]
  /** A shipment inserted by hand, from the last call on. */
  addInserted(serial: number): void
}

export function createAgenda(sources: WorldSources, from: number): Agenda {
  const stirs = createSoonestFirst<number>()
  let cursor = from
  let nextSerial = 0

  const add = (serial: number): void => {
    const at = nextStirAfter(sources, serial, cursor)
    if (Number.isFinite(at)) stirs.add(at, serial)
  }
  const prepare: Agenda['prepare'] = (to, budgetMs) => {
    const until = performance.now() + budgetMs
    const requested = sources.census.requestedAt(to)
    for (; nextSerial < requested; nextSerial++) {
      if (performance.now() > until) return false
      add(nextSerial)
    }
    return true
  }
  for (const { serial } of sources.overlay.inserted) add(serial)
  return {
    prepare,
    advance: (to) => {
      prepare(to, Number.POSITIVE_INFINITY)
      const stirred = new Set<number>()
      for (let serial = stirs.take(to); serial !== undefined; serial = stirs.take(to)) {
        stirred.add(serial)
      }
      const occurrences = [...stirred].flatMap((serial) =>
        occurrencesOf(sources, serial, cursor, to),
      )
      cursor = Math.max(cursor, to)
      for (const serial of stirred) add(serial)
      return occurrences.sort(compareOccurrences)
    },
    addInserted: add,
  }
}
