import { describe, expect, it } from 'vitest'
import { formatSeconds, nearest, suggest } from '../../../src/base/phrases.js'

it.each([
  [0, '0 s'],
  [89.6, '90 s'],
  [90, '2 min'],
  [5_300, '88 min'],
  [11_100, '3 h 5 min'],
  [187_200, '2 d 4 h'],
])('%d seconds are %s', (seconds, words) => {
  expect(formatSeconds(seconds)).toBe(words)
})

describe('a suggestion', { tags: ['FD9'] }, () => {
  it.each([
    ['Maesk', ['Hapag-Lloyd', 'Maersk', 'MSC'], 'Maersk'],
    ['maersk', ['Maersk Line', 'MSC'], 'Maersk Line'],
    ['TRACKING_API_KYE', ['TRACKING_API_KEY', 'TRACKING_API_URL'], 'TRACKING_API_KEY'],
    ['pickup', ['timeline', 'pickups'], 'pickups'],
    ['TRACKING_SYNC_CRON', ['TRACKING_SERVICE', 'SYNC_CRON'], 'SYNC_CRON'],
  ])('for %s is the nearest of what there is', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected)
    expect(suggest(word, candidates)).toBe(`; did you mean ${expected}?`)
  })

  it('is none where nothing is near', () => {
    expect(suggest('nope', ['Maher', 'APM'])).toBe('')
    expect(suggest('nope', [])).toBe('')
  })

  it('takes no time for a text that a stranger made long', () => {
    const [word, name] = ['x'.repeat(200_000), 'y'.repeat(2_000)]
    const since = performance.now()
    expect(suggest(word, Array<string>(1_000).fill('containers'))).toBe('')
    expect(suggest('xyz', Array<string>(1_000).fill(name.repeat(100)))).toBe('')
    expect(performance.now() - since).toBeLessThan(1_000)
  })
})
