import { describe, expect, test } from 'vitest'
import { LoopGuard } from '../../../src/source/jsonapi/pagination.js'

describe('LoopGuard', () => {
  const rowsOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ type: 'container', id: `${from + index}` }))

  test('more pages than the total allows are a loop, with room for drift', { tags: ['P8'] }, () => {
    const guard = new LoopGuard()
    const seeOne = (page: number): string | undefined => {
      guard.see([...rowsOf(page, 1), { type: 'container', id: 'x' }])
      return guard.stop(1_000, 500)
    }
    for (let page = 1; page <= 525; page += 1) expect(seeOne(page)).toBeUndefined()
    expect(seeOne(526)).toContain('total of 1000')
  })

  test('records without id, or none, make a loop', { tags: ['P8'] }, () => {
    const guard = new LoopGuard()
    for (let page = 0; page < 5; page += 1) expect(guard.see([{ type: 'x', id: 7 }])).toBe(1)
    expect(guard.stop(undefined, 5)).toContain('4 pages in a row')
    const empty = new LoopGuard()
    for (let page = 0; page < 4; page += 1) expect(empty.see([])).toBe(0)
    expect(empty.stop(undefined, 0)).toContain('4 pages in a row')
  })

  test('a total below what has come says nothing', { tags: ['P12'] }, () => {
    const guard = new LoopGuard()
    for (let page = 1; page <= 100; page += 1) {
      guard.see(rowsOf(page * 10, 10))
      expect(guard.stop(5, page * 10)).toBeUndefined()
    }
  })

  test('pages that overlap after insertions are not a loop', { tags: ['P2'] }, () => {
    const guard = new LoopGuard()
    for (let page = 0; page < 50; page += 1) {
      guard.see(rowsOf(page, 10))
      expect(guard.stop(undefined, (page + 1) * 10)).toBeUndefined()
    }
  })
})
