import type { ResourceIdentifier } from '../jsonapi/document.js'
import type { FlatRecord } from '../resources/resource.js'

/**
 * What this run has already stored of things that come again and again: a port is included in hundreds of pages. Bounded, so that
 * a large account costs no memory; forgetting costs only a comparison more.
 */
export class FingerprintMemory {
  readonly #fingerprints = new Map<string, string>()
  readonly #references = new Set<string>()
  readonly #limit: number

  constructor(limit = 20_000) {
    this.#limit = limit
  }

  /** True when the run has met this record before, equal in everything. */
  has(record: FlatRecord): boolean {
    return this.#fingerprints.get(memoryKey(record)) === record.fingerprint
  }

  /** Remembers records; called when what they say is in the warehouse. */
  remember(records: readonly FlatRecord[]): void {
    for (const record of records) {
      if (this.#fingerprints.size >= this.#limit) this.#fingerprints.clear()
      this.#fingerprints.set(memoryKey(record), record.fingerprint)
    }
  }

  /** Those references this run has not looked up yet. */
  unknownReferences(references: readonly ResourceIdentifier[]): ResourceIdentifier[] {
    return references.filter(({ type, id }) => !this.#references.has(`${type} ${id}`))
  }

  rememberReferences(references: readonly ResourceIdentifier[]): void {
    if (this.#references.size >= this.#limit) this.#references.clear()
    for (const { type, id } of references) this.#references.add(`${type} ${id}`)
  }
}

function memoryKey(record: FlatRecord): string {
  return `${record.resource.stream} ${record.key}`
}
