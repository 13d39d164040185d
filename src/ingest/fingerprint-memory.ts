import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { isReferenceType, type Sighting } from '../source/records/resource.js'
import { mergeSightings } from './merge-sightings.js'

const MET_ONCE = 'shipments containers transport_events tracking_requests custom_fields'.split(' ')

/** Reference resources come again with every page; the records of an account once in a run. */
export function isMetOften(stream: string): boolean {
  return !MET_ONCE.includes(stream)
}

/**
 * The records that this run has already stored and meets again and again: a port is included in
 * hundreds of pages. Bounded; forgetting costs only another comparison.
 */
export class FingerprintMemory {
  readonly #met = new Map<
    string,
    { readonly fingerprint: string; readonly digest: string | null }
  >()
  readonly #noted = new Map<string, Sighting>()
  #references = new Identifiers()
  readonly #limit: number

  constructor(limit = 20_000) {
    this.#limit = limit
  }

  /** True when the run has met this record before, equal in everything. */
  has(sighting: Sighting): boolean {
    if (sighting.positions !== undefined) return false
    return this.#met.get(memoryKey(sighting))?.fingerprint === sighting.fingerprint
  }

  /**
   * Keeps the content of an answer about places and vessels, beside what the run has seen of them.
   */
  note(sightings: Iterable<Sighting>): void {
    for (const sighting of sightings) {
      if (!isReferenceType(sighting.resource.type) || this.#noted.size >= this.#limit) continue
      const name = `${sighting.resource.type} ${sighting.key}`
      const before = this.#noted.get(name)
      const isSame = before?.fingerprint === sighting.fingerprint && before.isComplete
      if (isSame) continue
      this.#noted.set(name, before === undefined ? sighting : mergeSightings(before, sighting))
    }
  }

  noted({ type, id }: ResourceIdentifier): Sighting | undefined {
    return this.#noted.get(`${type} ${id}`)
  }

  /** The digest of a record that this run has met. */
  digestOf(stream: string, key: string): string | null | undefined {
    return this.#met.get(`${stream} ${key}`)?.digest
  }

  /** Remembers sightings of streams that come often; called when the warehouse has their values. */
  remember(sightings: readonly Sighting[]): void {
    for (const sighting of sightings) {
      if (!isMetOften(sighting.resource.stream)) continue
      if (this.#met.size >= this.#limit) this.#met.clear()
      const { fingerprint, digest } = sighting
      this.#met.set(memoryKey(sighting), { fingerprint, digest })
    }
  }

  /** References of the sightings that this run has not looked up yet, each once. */
  unknownReferences(sightings: readonly Sighting[]): ResourceIdentifier[] {
    const unknown: ResourceIdentifier[] = []
    const met = new Identifiers()
    for (const { references } of sightings) {
      for (const one of references) {
        if (!this.#references.has(one) && met.add(one)) unknown.push(one)
      }
    }
    return unknown
  }

  rememberReferences(references: readonly ResourceIdentifier[]): void {
    if (this.#references.size >= this.#limit) this.#references = new Identifiers()
    for (const one of references) this.#references.add(one)
  }
}

/** A set of types and ids that looks one up without joining the two into a text. */
class Identifiers {
  readonly #ids = new Map<string, Set<string>>()
  size = 0

  has({ type, id }: ResourceIdentifier): boolean {
    return this.#ids.get(type)?.has(id) === true
  }

  add({ type, id }: ResourceIdentifier): boolean {
    const ids = this.#ids.get(type)
    if (ids?.has(id) === true) return false
    if (ids === undefined) this.#ids.set(type, new Set([id]))
    else ids.add(id)
    this.size += 1
    return true
  }
}

function memoryKey({ resource, key }: Sighting): string {
  return `${resource.stream} ${key}`
}
