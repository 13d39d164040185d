import { describe, expect, test } from 'vitest'
import { LoopGuard } from '../../../src/jsonapi/pagination.js'
import { EMPTY_TALLY, findShortfall, tally } from '../../../src/sync/list-pass.js'
import type { TallyState } from '../../../src/warehouse/bookkeeping/checkpoints.js'

interface ShownPage {
  readonly ids: readonly (string | null)[]
  readonly total: number | undefined
}

const page = (ids: readonly (string | null)[], total?: number): ShownPage => ({ ids, total })

/** One walk over these pages. */
function walk(before: TallyState, ...pages: readonly ShownPage[]): TallyState {
  const guard = new LoopGuard()
  return pages.reduce((state, { ids, total }) => {
    const rows = ids.map((id) => ({ type: 'shipment', id: id ?? undefined }))
    return tally(state, { rows, fresh: guard.see(rows), total })
  }, before)
}

/** Ids from `from` up to and without `to`. */
function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => `s${from + at}`)
}

function shortfallOf(...pages: readonly ShownPage[]): string | undefined {
  return findShortfall('shipments', walk(EMPTY_TALLY, ...pages))?.message
}

describe('a tally of a list', { tags: ['FA1'] }, () => {
  test(
    'one page again in place of another is a shortfall, and no drift however small',
    { tags: ['P4'] },
    () => {
      expect(shortfallOf(page(ids(0, 100), 300), page(ids(100, 200), 300), page(ids(100, 200), 300)))
      .toBe(`the list of shipments ended after 200 of 300 records, and a page came again in place of another one; run the command again, and ask the service if it happens again`) // prettier-ignore
      expect(shortfallOf(page(ids(0, 2), 6), page(ids(2, 4), 6), page(ids(2, 4), 6))).toContain(
        '4 of 6 records, and a page came again',
      )
      expect(shortfallOf(page(ids(0, 2)), page(ids(0, 2)))).toContain('showed a page again')
    },
  )

  test(
    'a list that ends one record early, without having moved, is a shortfall',
    { tags: ['P4'] },
    () => {
      expect(shortfallOf(page(ids(0, 10), 20), page(ids(10, 19), 20))).toContain('19 of 20')
    },
  )

  test('what arrives while the list is read is a drift, up to ten or two per cent', () => {
    const grown = (by: number, of: number) =>
      shortfallOf(page(ids(0, of / 2), of), page(ids(of / 2 - by, of), of + by))
    expect(grown(9, 20)).toBeUndefined()
    expect(grown(10, 40)).toBeUndefined()
    expect(grown(11, 40)).toContain('ended after 40 of 51')
    expect(grown(20, 1000)).toBeUndefined()
    expect(grown(21, 1000)).toContain('ended after 1000 of 1021')
  })

  test('records that change places explain as many missing ones as came again', () => {
    expect(shortfallOf(page(['a', 'b', 'c'], 6), page(['c', 'd', 'e'], 6))).toBeUndefined()
    expect(shortfallOf(page(['a', 'b', 'c'], 7), page(['c', 'd', 'e'], 7))).toContain('5 of 7')
  })

  test('totals that are missing or too small, empty pages and records without id are no shortfall', () => {
    expect(shortfallOf(page(ids(0, 4)), page([]), page(ids(4, 8)))).toBeUndefined()
    expect(shortfallOf(page(ids(0, 4), 0), page(ids(4, 8), 3))).toBeUndefined()
    expect(shortfallOf(page([null, null], 4), page([null, null], 4))).toBeUndefined()
    expect(shortfallOf(page([], 0))).toBeUndefined()
  })

  test(
    'a tally that goes on from a checkpoint knows how many came before',
    { tags: ['P4'] },
    () => {
      const before = walk(EMPTY_TALLY, page(ids(0, 2), 6))
      const cutOff = walk(before, page(ids(2, 4), 6))
      expect(findShortfall('shipments', cutOff)?.message).toContain('4 of 6')
      const whole = walk(before, page(ids(2, 4), 6), page(ids(4, 6), 6))
      expect(findShortfall('shipments', whole)).toBeUndefined()
    },
  )
})
