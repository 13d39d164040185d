import { SeenKeys } from '../../base/seen-keys.js'
import type { RecordIdentity } from './raw-record.js'

/** The signs that a walk over pages (`source/client/list-pages.ts`) is a loop. */

/** No account is this large; a service that sends more pages is looping. */
const MOST_PAGES = 100_000

/**
 * Drift and repeated rows explain this many pages in a row without anything new; a loop makes more.
 */
const MOST_STALE_PAGES = 3

/**
 * Notices a walk that cannot end: an address for the second time, more than three pages in a row
 * without a new row, or far more pages than the total allows.
 */
export class LoopGuard {
  readonly #addresses = new SeenKeys()
  readonly #rows = new SeenKeys()
  #pages = 0
  #stalePages = 0
  #smallestPage = Infinity

  /** Called before an address is requested; returns the reason why it must not be. */
  follow(address: string): string | undefined {
    if (this.#addresses.add(address)) return undefined
    return 'a link leads back to a page that was already read'
  }

  /**
   * Takes a page in; returns how many of its rows are new. A row without an id counts as new: it
   * ends up in the quarantine.
   */
  see(rows: readonly RecordIdentity[]): number {
    let fresh = 0
    let isStale = true
    for (const { type, id } of rows) {
      const isNew = this.#rows.add(JSON.stringify([type, id]))
      if (isNew) isStale = false
      if (isNew || typeof id !== 'string') fresh += 1
    }
    this.#pages += 1
    this.#stalePages = isStale ? this.#stalePages + 1 : 0
    if (rows.length > 0) this.#smallestPage = Math.min(this.#smallestPage, rows.length)
    return fresh
  }

  /** The reason why the walk must end here although a page follows; undefined when it may go on. */
  stop(total: number | undefined, rowsSoFar: number): string | undefined {
    if (this.#stalePages > MOST_STALE_PAGES) {
      return `${this.#stalePages} pages in a row held nothing new`
    }
    if (this.#pages >= MOST_PAGES) return `there are more than ${MOST_PAGES} pages`
    // A total below the rows that came already is wrong.
    if (total === undefined || total < rowsSoFar) return undefined
    const expected = Math.ceil(total / this.#smallestPage)
    if (this.#pages <= expected + Math.max(10, Math.ceil(expected * 0.05))) return undefined
    return `${this.#pages} pages came for a total of ${total} rows`
  }
}
