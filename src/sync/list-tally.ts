import type { Page } from '../api/list-pages.js'
import { IncompleteRunError } from '../base/errors.js'
import type { RecordIdentity } from '../jsonapi/raw-record.js'
import type { TallyState } from '../warehouse/bookkeeping/pass-position.js'
import { SeenKeys } from './seen-keys.js'

const NOTHING: TallyState = {
  distinct: 0,
  repeated: 0,
  lowestTotal: null,
  lastTotal: null,
  stalePages: 0,
}

/**
 * By how many records a list of this length may move while it is read, or shrink from one pass to
 * the next: ten, or two per cent. If more seem to, suspect the list.
 */
export function mostMoving(records: number): number {
  return Math.max(10, Math.floor(records * 0.02))
}

/**
 * Counts the records that a pass over a list shows, each once, to know whether the list hid any. A
 * resumed pass knows how many records came before, not which.
 */
export class ListTally {
  #state: TallyState
  readonly #seen = new SeenKeys()

  constructor(before: TallyState = NOTHING) {
    this.#state = before
  }

  get state(): TallyState {
    return this.#state
  }

  add(page: Page): void {
    const { rows } = page
    const before = this.#state
    let fresh = 0
    for (const row of rows) if (this.#isNew(row)) fresh += 1
    const isStale = rows.length > 0 && fresh === 0
    const totals = [before.lowestTotal, page.total].filter((total) => typeof total === 'number')
    this.#state = {
      distinct: before.distinct + fresh,
      repeated: before.repeated + (isStale ? 0 : rows.length - fresh),
      lowestTotal: totals.length === 0 ? null : Math.min(...totals),
      lastTotal: page.total ?? before.lastTotal,
      stalePages: before.stalePages + (isStale ? 1 : 0),
    }
  }

  /**
   * Why a pass that came to the end of the list is not complete; undefined when it is. Records that
   * arrive meanwhile make the total grow, or push others onto the next page, where they come again:
   * as many may be missing, up to `mostMoving`. A page without any new record hides another page.
   */
  shortfall(stream: string): IncompleteRunError | undefined {
    const { distinct, repeated, lowestTotal, lastTotal, stalePages } = this.#state
    const advice = 'run the command again, and ask the service if it happens again'
    if (lastTotal === null) {
      if (stalePages === 0) return undefined
      return new IncompleteRunError(
        `the list of ${stream} showed a page again in place of another one; ${advice}`,
      )
    }
    const moved = repeated + lastTotal - (lowestTotal ?? lastTotal)
    const explained = stalePages > 0 ? 0 : Math.min(mostMoving(lastTotal), moved)
    if (lastTotal - distinct <= explained) return undefined
    const again = stalePages > 0 ? ', and a page came again in place of another one' : ''
    return new IncompleteRunError(
      `the list of ${stream} ended after ${distinct} of ${lastTotal} records${again}; ${advice}`,
    )
  }

  /** A record without an id counts as new: it ends up in the quarantine. */
  #isNew({ type, id }: RecordIdentity): boolean {
    if (typeof id !== 'string') return true
    const size = this.#seen.size
    this.#seen.add(`${String(type)} ${id}`)
    return this.#seen.size > size
  }
}
