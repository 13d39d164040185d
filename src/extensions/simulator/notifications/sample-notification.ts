import { mix } from '../world/dice.js'
import { createWorld, type World } from '../world/world.js'
import type { Occurrence } from './occurrence.js'
import { occurrencesOf } from './occurrences.js'

/** A world of its own: none of its ids exists in the world that it gives samples for. */
export interface SampleWorld {
  readonly world: World
  /** The first occurrence of the event in it. */
  find(event: string): Occurrence
}

const SHIPMENTS = 400

/**
 * Costs nothing before the first use; then about a millisecond per shipment looked at, a few for
 * most events.
 */
export function createSampleWorld(seed: number, startAt: Date, extras: boolean): SampleWorld {
  let world: World | undefined
  const open = (): World =>
    (world ??= createWorld({
      seed: mix(seed, 0x5a3e) >>> 1,
      shipments: SHIPMENTS,
      startAt,
      extras,
    }))
  return {
    get world() {
      return open()
    },
    find: (event) => {
      const { sources } = open()
      const { NEGATIVE_INFINITY: from, POSITIVE_INFINITY: to } = Number
      let standIn: Occurrence | undefined
      for (let serial = 0; serial < SHIPMENTS; serial++) {
        for (const occurrence of occurrencesOf(sources, serial, from, to)) {
          if (occurrence.event === event) return occurrence
          if (occurrence.reference.type === 'transport_event') standIn ??= occurrence
        }
      }
      // A catalogue may grow an event before the world does.
      if (standIn === undefined) throw new RangeError(`There is no sample of ${event}.`)
      return { ...standIn, event }
    },
  }
}
