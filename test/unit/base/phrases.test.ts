import { expect, it } from 'vitest'
import { formatSeconds } from '../../../src/base/phrases.js'

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
