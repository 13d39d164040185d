import { hash } from 'node:crypto'

const FIRST_CAPACITY = 1024

/**
 * A set of keys that only answers whether a key was added. Holds 52 bits of a hash per key: 600,000
 * keys take 16 MB, which the garbage collector need not walk. Two keys with the same bits make an
 * unseen one look seen, once in ten thousand sets of 600,000.
 */
export class SeenKeys {
  /** Open addressing; 0 is an empty place. Never more than half full. */
  #places = new Float64Array(FIRST_CAPACITY)
  #size = 0

  /** Returns whether the key is new. */
  add(key: string): boolean {
    const digest = digestOf(key)
    const place = placeOf(this.#places, digest)
    if (this.#places[place] === digest) return false
    this.#places[place] = digest
    this.#size += 1
    if (this.#size * 2 > this.#places.length) this.#grow()
    return true
  }

  has(key: string): boolean {
    const digest = digestOf(key)
    return this.#places[placeOf(this.#places, digest)] === digest
  }

  #grow(): void {
    const grown = new Float64Array(this.#places.length * 2)
    for (const digest of this.#places) {
      if (digest !== 0) grown[placeOf(grown, digest)] = digest
    }
    this.#places = grown
  }
}

/** The place of a digest, or the empty place where it belongs. The capacity is a power of two. */
function placeOf(places: Float64Array, digest: number): number {
  const mask = places.length - 1
  let place = digest % places.length
  while (places[place] !== 0 && places[place] !== digest) place = (place + 1) & mask
  return place
}

/** From 1 to 2^52. */
function digestOf(key: string): number {
  return Number.parseInt(hash('sha1', key, 'hex').slice(0, 13), 16) + 1
}
