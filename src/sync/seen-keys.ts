import { hash } from 'node:crypto'

/**
 * Which rows a pass has shown. Holds 52 bits of a hash per key instead of the key: 600,000 keys take some 30 MB. Two keys that share
 * them make a row look seen that was not, once in ten thousand passes over 600,000 rows, and the next pass decides anew.
 */
export class SeenKeys {
  readonly #digests = new Set<number>()

  add(key: string): void {
    this.#digests.add(digest(key))
  }

  has(key: string): boolean {
    return this.#digests.has(digest(key))
  }

  get size(): number {
    return this.#digests.size
  }
}

function digest(key: string): number {
  return Number.parseInt(hash('sha1', key, 'hex').slice(0, 13), 16)
}
