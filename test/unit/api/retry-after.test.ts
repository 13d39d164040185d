import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../src/api/source-clock.js'

const now = new Date('2026-03-01T12:00:00Z')

test.each([
  ['whole seconds', '7', 7_000],
  ['zero', '0', 1_000],
  ['a date ahead', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['a date in the past', 'Sun, 01 Mar 2026 11:00:00 GMT', 1_000],
  ['the longest pause', '300', 300_000],
])('honours %s (%s)', { tags: ['R3'] }, (_form, header, ms) => {
  expect(parseRetryAfter(header, now)).toBe(ms)
})

test.each([
  '0.5',
  '-1',
  '',
  'abc',
  '0x10',
  '1e9',
  '7, 9',
  '7 9',
  'Infinity',
  'Sun, 99 Mar 2026 12:00:30 GMT',
  '2026-03-01T12:00:30Z',
  '7'.repeat(5_000),
])('says nothing for the invalid form %j', { tags: ['R3'] }, (header) => {
  expect(parseRetryAfter(header, now)).toBeUndefined()
})

test('says nothing when the header is missing or came twice', { tags: ['R3'] }, () => {
  expect(parseRetryAfter(undefined, now)).toBeUndefined()
  expect(parseRetryAfter(['7', '9'], now)).toBeUndefined()
})

test.each(['301', '9999999', '2147484', '99999999999999999999', 'Sun, 01 Mar 2036 12:00:00 GMT'])(
  '%s is too long to be waited for',
  { tags: ['R5'] },
  (header) => {
    expect(parseRetryAfter(header, now)).toBeGreaterThan(300_000)
  },
)
