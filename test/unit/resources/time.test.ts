import { describe, expect, test } from 'vitest'
import { isDateOnly } from '../../../src/source/records/timestamp.js'
import { container, flatten } from './flat-rows.js'

/** A time as stored: the text for PostgreSQL, and the reason for a flag. */
function stored(value: unknown): readonly [string | null | undefined, string | undefined] {
  const row = flatten(container({ pod_arrived_at: value }))
  const coercion = row.coercions.pod_arrived_at
  if (coercion !== undefined) expect(coercion.original).toBe(JSON.stringify(value))
  return [row.columns.pod_arrived_at, coercion?.reason]
}

describe('offsets and fractions', { tags: ['Z1'] }, () => {
  test.each([
    '2026-03-08T10:00:00Z',
    '2019-06-21T18:46:00-07:00',
    '2026-03-08T10:00:00+05:30',
    '2026-03-08T10:00:00+14:00',
    '2026-03-08T10:00:00-00:00',
    '2026-03-08T10:00:00.999Z',
    '2026-03-08T10:00:00.123456Z',
    '2026-03-08T10:00:00.123456789Z',
    '2026-03-08t10:00:00z',
    '2024-02-29T00:00:00Z',
    '2000-02-29T00:00:00Z',
    '1970-01-01T00:00:00Z',
    '2100-12-31T23:59:59Z',
  ])('%s reaches PostgreSQL letter by letter', (text) => {
    expect(stored(text)).toEqual([text, undefined])
  })
})

describe('a time without an offset', { tags: ['Z2'] }, () => {
  test.each([
    '2026-03-08T02:30:00',
    '2026-03-08 02:30:00',
    '2026-03-08T02:30',
    '2026-03-08T02:30:00.5',
  ])('%s is not guessed at, whatever the zone of this machine', (text) => {
    expect(stored(text)).toEqual([null, 'a time without an offset from UTC'])
  })
})

test('a date without a time becomes null, and its day is kept', { tags: ['Z3'] }, () => {
  expect(stored('2020-05-20')).toEqual([null, 'a date without a time'])
  expect(isDateOnly('2020-05-20')).toBe(true)
  expect(isDateOnly('2021-02-29')).toBe(false)
  expect(isDateOnly('2020-05-20T00:00:00Z')).toBe(false)
})

describe('days and hours that the calendar does not have', { tags: ['Z8'] }, () => {
  test.each([
    ['2026-02-30T00:00:00Z', 'no such calendar day'],
    ['2026-02-29T00:00:00Z', 'no such calendar day'],
    ['1900-02-29T00:00:00Z', 'no such calendar day'],
    ['2026-04-31T00:00:00Z', 'no such calendar day'],
    ['2026-13-01T00:00:00Z', 'no such calendar day'],
    ['2026-00-10T00:00:00Z', 'no such calendar day'],
    ['2026-01-00T00:00:00Z', 'no such calendar day'],
    ['0000-00-00T00:00:00Z', 'no such calendar day'],
    ['0000-01-01T00:00:00Z', 'no such calendar day'],
    ['2026-01-01T25:00:00Z', 'no such hour'],
    ['2026-01-01T24:00:01Z', 'no such hour'],
    ['2026-01-01T24:00:00.5Z', 'no such hour'],
    ['2026-01-01T23:60:00Z', 'no such minute or second'],
    ['2026-01-01T23:59:61Z', 'no such minute or second'],
    ['2026-01-01T00:00:00+16:00', 'no such offset from UTC'],
    ['2026-01-01T00:00:00+05:60', 'no such offset from UTC'],
    ['2026-02-30', 'not an RFC 3339 date-time'],
  ])('%s becomes null and is flagged, never another day', (text, reason) => {
    expect(stored(text)).toEqual([null, reason])
  })

  test.each(['2026-01-01T24:00:00Z', '2026-01-01T24:00:00.000Z', '2016-12-31T23:59:60Z'])(
    '%s is a real notation and left to PostgreSQL, which takes the next second',
    (text) => {
      expect(stored(text)).toEqual([text, undefined])
    },
  )
})

describe('times far away', { tags: ['Z9'] }, () => {
  test.each([
    '9999-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2101-01-01T00:00:00Z',
  ])('%s is stored as sent and flagged as a placeholder', (text) => {
    expect(stored(text)).toEqual([text, 'outside 1970 to 2100; stored as sent'])
  })

  test.each(['10000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '294277-01-01T00:00:00Z'])(
    '%s becomes null and is flagged',
    (text) => {
      expect(stored(text)).toEqual([null, 'not an RFC 3339 date-time'])
    },
  )
})

describe('what PostgreSQL would take and the service cannot mean', { tags: ['Z10'] }, () => {
  test.each([
    'now',
    'today',
    'infinity',
    '-infinity',
    'epoch',
    '02/11/2022 14:18',
    '1700000000',
    '1700000000000',
    '2026-03-08T10:00:00Z BC',
    '2026-03-08T10:00:00 America/New_York',
    ' 2026-03-08T10:00:00Z',
    '2026-03-08T10:00:00Z\n',
    '2026-W10-1T00:00:00Z',
    '٢٠٢٦-03-08T10:00:00Z',
    `2026-03-08T10:00:00.${'0'.repeat(50_000)}Z`,
    '',
  ])('%j is refused before PostgreSQL sees it', (text) => {
    expect(stored(text)).toEqual([null, 'not an RFC 3339 date-time'])
  })
})
