import type { Page } from '../api/list-pages.js'
import { IncompleteRunError } from '../base/errors.js'
import type { TallyState } from '../warehouse/bookkeeping/pass-position.js'

/** Before the first page. */
export const EMPTY_TALLY: TallyState = {
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
export function tally(
  before: TallyState,
  { rows, fresh, total }: Pick<Page, 'rows' | 'fresh' | 'total'>,
): TallyState {
  const isStale = rows.length > 0 && fresh === 0
  const totals = [before.lowestTotal, total].filter((one) => typeof one === 'number')
  return {
    distinct: before.distinct + fresh,
    repeated: before.repeated + (isStale ? 0 : rows.length - fresh),
    lowestTotal: totals.length === 0 ? null : Math.min(...totals),
    lastTotal: total ?? before.lastTotal,
    stalePages: before.stalePages + (isStale ? 1 : 0),
  }
}

/**
 * Why a pass that came to the end of the list is not complete; undefined when it is. Records that
 * arrive meanwhile make the total grow, or push others onto the next page, where they come again:
 * as many may be missing, up to `mostMoving`. A page without any new record hides another page.
 */
export function findShortfall(
  stream: string,
  { distinct, repeated, lowestTotal, lastTotal, stalePages }: TallyState,
): IncompleteRunError | undefined {
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
