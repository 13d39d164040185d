import { describe, expect, test } from 'vitest'
import type { Document } from '../../../src/jsonapi/document.js'
import { createLoopGuard, readNextLink, readTotal } from '../../../src/jsonapi/pagination.js'

function documentWith(links: Document['links'], meta: Document['meta'] = {}): Document {
  return { data: [], isList: true, included: [], links, meta }
}

test.each([
  ['/v2/containers?page[number]=2', '/v2/containers?page[number]=2'],
  [{ href: '?page[number]=2', meta: {} }, '?page[number]=2'],
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  [{ href: 3 }, undefined],
  [false, undefined],
])('the next link %j reads as %j', { tags: ['P1'] }, (next, link) => {
  expect(readNextLink(documentWith({ next }))).toBe(link)
})

test.each([
  [0, 0],
  [59_229, 59_229],
  [1e9, 1e9],
  ['30', undefined],
  [-1, undefined],
  [1.5, undefined],
  [2 ** 60, undefined],
  [null, undefined],
])('the total %j reads as %j', { tags: ['P12'] }, (total, read) => {
  expect(readTotal(documentWith({}, { total }))).toBe(read)
})

describe('createLoopGuard', () => {
  const digest = (text: string): string => text
  const keysOf = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `container:${from + index}`)

  test('never lets a walk go beyond 100,000 pages', { tags: ['P8'] }, () => {
    const guard = createLoopGuard(digest)
    let reason: string | undefined
    let pages = 0
    while (reason === undefined && pages < 100_001) {
      pages += 1
      reason = guard.see({ keys: [`container:${pages}`], total: undefined, rowsSoFar: pages })
    }
    expect(reason).toContain('100000 pages')
    expect(pages).toBe(100_000)
  })

  test('more pages than the total allows are a loop, with room for drift', { tags: ['P8'] }, () => {
    const guard = createLoopGuard(digest)
    const seeOne = (page: number): string | undefined =>
      guard.see({ keys: [`container:${page}`, 'container:x'], total: 1_000, rowsSoFar: 500 })
    for (let page = 1; page <= 525; page += 1) expect(seeOne(page)).toBeUndefined()
    expect(seeOne(526)).toContain('total of 1000')
  })

  test('a total below what has come says nothing', { tags: ['P12'] }, () => {
    const guard = createLoopGuard(digest)
    for (let page = 1; page <= 100; page += 1) {
      const keys = keysOf(page * 10, 10)
      expect(guard.see({ keys, total: 5, rowsSoFar: page * 10 })).toBeUndefined()
    }
  })

  test('pages that overlap after insertions are no loop', { tags: ['P2'] }, () => {
    const guard = createLoopGuard(digest)
    for (let page = 0; page < 50; page += 1) {
      const keys = keysOf(page, 10)
      expect(guard.see({ keys, total: undefined, rowsSoFar: (page + 1) * 10 })).toBeUndefined()
    }
  })
})
