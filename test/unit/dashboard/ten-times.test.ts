import { expect, it, onTestFinished, vi } from 'vitest'
import { drawPicture } from '../../../src/extensions/dashboard/pictures.js'
import { isKept } from '../../../src/extensions/dashboard/read-panels.js'

const NOW = new Date('2026-03-08T12:00:00Z')

it('an answer is kept ten times as long as it took, and then read again', { tags: ['JP5'] }, () => {
  vi.useFakeTimers({ now: NOW })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const readBefore = (ms: number): boolean =>
    isKept({ readAt: new Date(NOW.getTime() - ms), tookMs: 3_000 })
  expect([29_999, 30_001].map(readBefore)).toEqual([true, false])
})

it.each([
  // Two of 32 days would be slivers at the edge, two of two as wide as the picture.
  ['begins with the rows and has a week to come', ['2026-03-07', '2026-03-08'], 1, 8],
  ['begins with the rows', ['2026-02-26', '2026-03-08'], 10, 12],
  ['does not begin before the days of the picture', ['2025-03-08', '2026-03-08'], 30, 32],
])('an axis of days %s', { tags: ['JP5'] }, (_name, days, daysBefore, onAxis) => {
  const picture = {
    shape: 'columns',
    at: 'day',
    every: 'day',
    value: 'count',
    kind: 'kind',
    days: [-30, 2],
  } as const
  const rows = days.map((day) => ({ day, count: '2', kind: 'all' }))
  const options = { width: 580, unit: 'boxes', now: NOW, label: 'a picture' }
  const svg = drawPicture(picture, rows, options)
  const [, width, x] =
    /<rect [^>]*width="([\d.]+)"[^>]* x="([\d.]+)"><title>2026-03-08/.exec(svg) ?? []
  const dayWidth = (580 - 44 - 20) / onAxis
  // One pixel is the gap between columns.
  expect(Number(width) + 1).toBeCloseTo(dayWidth, 0)
  expect(Number(x)).toBeCloseTo(44 + daysBefore * dayWidth, -1)
})
