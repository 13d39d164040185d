import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateDistinct } from '../../../../src/sync/plan/estimate-distinct.js'

const units = (...lists: string[]) => lists.map((list) => new Set(list.split('')))

describe('estimating how many different things there are', () => {
  it('takes what was seen for all there is when everything was seen again and again', () => {
    const sample = units('ab', 'ab', 'abc', 'abc')
    expect(estimateDistinct(sample, 1000)).toEqual({ observed: 3, expected: 3 })
  })

  it('takes what was seen for all there is when the sample is everything', () => {
    expect(estimateDistinct(units('ab', 'cd'), 2)).toEqual({ observed: 4, expected: 4 })
  })

  it('expects more when much was seen once, and levels off as the account grows', () => {
    const sample = units('ab', 'cd', 'ef', 'ag')
    const [few, many, endless] = [8, 100, 100_000].map(
      (all) => estimateDistinct(sample, all).expected,
    )
    expect(few).toBeGreaterThan(7)
    expect(many).toBeGreaterThan(few!)
    expect(endless! - many!).toBeLessThan(1)
    expect(endless).toBeLessThan(20)
  })

  it('knows nothing of an empty sample', () => {
    expect(estimateDistinct([], 10)).toEqual({ observed: 0, expected: 0 })
  })

  it('never expects fewer than were seen, and never more in a smaller account', () => {
    const unit = fc
      .uniqueArray(fc.integer({ min: 0, max: 30 }).map(String))
      .map((ids) => new Set(ids))
    fc.assert(
      fc.property(fc.array(unit), fc.nat(10_000), fc.nat(10_000), (sample, one, more) => {
        const small = estimateDistinct(sample, sample.length + one)
        const large = estimateDistinct(sample, sample.length + one + more)
        expect(small.expected).toBeGreaterThanOrEqual(small.observed)
        expect(large.expected).toBeGreaterThanOrEqual(small.expected)
      }),
    )
  })
})
