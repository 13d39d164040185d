import type { Document } from './document.js'

/**
 * What a page says about the pages after it, and when a walk over pages must be called a loop.
 * Pure: the walk itself is in `api/list-pages.ts`.
 */

/**
 * The address of the next page as the service wrote it: `links.next` as text or as `{ href }`.
 * Undefined on the last page (null, absent or "").
 */
export function readNextLink(document: Document): string | undefined {
  const { next } = document.links
  const link = typeof next === 'object' && next !== null && 'href' in next ? next.href : next
  return typeof link === 'string' && link.trim() !== '' ? link : undefined
}

/**
 * `meta.total` where it can be a count of rows; else undefined. Even a plausible total is only a
 * hint and an alarm: the service does not promise that it is right, so nothing is allocated by it
 * and no walk ends early because of it.
 */
export function readTotal(document: Document): number | undefined {
  const { total } = document.meta
  return typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : undefined
}

/** No account is this large; whoever serves more pages is looping. */
const MOST_PAGES = 100_000

/**
 * Drift and repeated rows explain this many pages in a row without anything new; a loop makes more.
 */
const MOST_STALE_PAGES = 3

/** What the guard must know of a page. */
interface PageFacts {
  /** Keys of the page's rows, `type:id`. */
  readonly keys: readonly string[]
  readonly total: number | undefined
  /** Rows received so far, this page included, repeated ones as well. */
  readonly rowsSoFar: number
}

export interface LoopGuard {
  /** Takes a page in; returns why the walk must stop, or undefined. */
  see(page: PageFacts): string | undefined
  /** To be asked before an address is requested; returns why it must not be. */
  follow(url: string): string | undefined
}

/**
 * Notices a walk that cannot end: an address for the second time, more than three pages in a row
 * without an unseen row, or far more pages than the total allows. Memory does not grow with the
 * rows: kept are the keys of the last four pages and, per page, one address and one signature
 * (first key, last key, length), each through `digest`. A page whose signature came before, however
 * long ago, counts as nothing new.
 */
export function createLoopGuard(digest: (text: string) => string): LoopGuard {
  const addresses = new Set<string>()
  const signatures = new Set<string>()
  const recentPages: ReadonlySet<string>[] = []
  let pages = 0
  let stalePages = 0
  let smallestPage = Infinity

  function hasUnseenRow(keys: readonly string[]): boolean {
    if (signatures.has(signatureOf(keys, digest))) return false
    return keys.some((key) => !recentPages.some((recent) => recent.has(key)))
  }

  function isBeyondTotal({ total, rowsSoFar }: PageFacts): boolean {
    // A total below what has already come is wrong and says nothing.
    if (total === undefined || total < rowsSoFar || smallestPage === Infinity) return false
    const expected = Math.ceil(total / smallestPage)
    return pages > expected + Math.max(10, Math.ceil(expected * 0.05))
  }

  return {
    see(page) {
      pages += 1
      stalePages = hasUnseenRow(page.keys) ? 0 : stalePages + 1
      if (page.keys.length > 0) smallestPage = Math.min(smallestPage, page.keys.length)
      signatures.add(signatureOf(page.keys, digest))
      recentPages.push(new Set(page.keys))
      if (recentPages.length > MOST_STALE_PAGES + 1) recentPages.shift()
      if (stalePages > MOST_STALE_PAGES) return `${stalePages} pages in a row held nothing new`
      if (pages >= MOST_PAGES) return `there are more than ${MOST_PAGES} pages`
      if (isBeyondTotal(page))
        return `${pages} pages came for a total of ${String(page.total)} rows`
      return undefined
    },
    follow(url) {
      const address = digest(url)
      if (addresses.has(address)) return 'a link leads back to a page that was already read'
      addresses.add(address)
      return undefined
    },
  }
}

function signatureOf(keys: readonly string[], digest: (text: string) => string): string {
  return digest(JSON.stringify([keys.at(0), keys.at(-1), keys.length]))
}
