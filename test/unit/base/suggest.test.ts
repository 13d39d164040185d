import { describe, expect, it } from 'vitest'
import { nearest, suggest } from '../../../src/base/suggest.js'

describe('a suggestion', () => {
  it.each([
    ['Maesk', ['Hapag-Lloyd', 'Maersk', 'MSC'], 'Maersk'],
    ['maersk', ['Maersk Line', 'MSC'], 'Maersk Line'],
    ['TRACKING_API_KYE', ['TRACKING_API_KEY', 'TRACKING_API_URL'], 'TRACKING_API_KEY'],
    ['pickup', ['eta_changes', 'pickup_worklist'], 'pickup_worklist'],
  ])('for %s is the nearest of what there is', { tags: ['FD9'] }, (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected)
    expect(suggest(word, candidates)).toBe(`; did you mean ${expected}?`)
  })

  it('is none where nothing is near', { tags: ['FD9'] }, () => {
    expect(suggest('nope', ['Maher', 'APM'])).toBe('')
    expect(suggest('nope', [])).toBe('')
  })
})
