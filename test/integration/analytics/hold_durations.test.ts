import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const AS_OF = '2026-03-12T00:00:00Z'

const read = (columns: readonly string[] = [], asOf = AS_OF) =>
  scene.read('hold_durations', {
    asOf,
    columns,
    rest: 'order by container_id, hold_key, placed_at',
  })

const interval = (valid_from: string, valid_to: string | null, more: object = {}) => ({
  container_id: 'c1',
  hold_key: 'a',
  name: 'customs',
  status: 'hold',
  valid_from,
  valid_to,
  ...more,
})

it('takes a hold that was edited for one, with its last text', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  const text = (from: string, to: string | null, description: string) =>
    interval(from, to, { hold_key: description, description })
  await scene.insert('container_hold_history', [
    // The text is part of the key.
    text('2026-03-08T00:00:00Z', '2026-03-09T00:00:00Z', 'EXAM'),
    text('2026-03-09T00:00:00Z', '2026-03-10T00:00:00Z', 'EXAM at 7'),
    text('2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z', 'EXAM over'),
    // Two more of the name: one of them is edited when the other goes.
    text('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 'one'),
    text('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 'two'),
    text('2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', 'two, edited'),
    // Announced again, and placed once more after a day without it.
    interval('2026-03-11T00:00:00Z', '2026-03-11T06:00:00Z', { status: 'pending' }),
    text('2026-03-11T12:00:00Z', null, 'EXAM'),
  ])
  const columns = ['status', 'description', 'hours', 'placed_at', 'cleared_at']
  const first = { status: 'hold', placed_at: '2026-03-08 00:00:00+00' }
  const standing = { status: 'hold', placed_at: '2026-03-01 00:00:00+00' }
  const earlier = [
    {
      ...standing,
      description: 'two, edited',
      hours: '48.00',
      cleared_at: '2026-03-03 00:00:00+00',
    },
    { ...standing, description: 'two', hours: '24.00', cleared_at: '2026-03-02 00:00:00+00' },
  ]
  const byPlace = (rows: Record<string, unknown>[]) =>
    rows.sort((one, other) => String(one.placed_at).localeCompare(String(other.placed_at)))
  expect(byPlace(await read(columns))).toEqual([
    ...earlier,
    { ...first, description: 'EXAM over', hours: '72.00', cleared_at: '2026-03-11 00:00:00+00' },
    {
      status: 'pending',
      description: null,
      hours: '6.00',
      placed_at: '2026-03-11 00:00:00+00',
      cleared_at: '2026-03-11 06:00:00+00',
    },
    {
      status: 'hold',
      description: 'EXAM',
      hours: '12.00',
      placed_at: '2026-03-11 12:00:00+00',
      cleared_at: null,
    },
  ])
  expect(byPlace(await read(columns, '2026-03-09T12:00:00Z'))).toEqual([
    ...earlier,
    { ...first, description: 'EXAM at 7', hours: '36.00', cleared_at: null },
  ])
})
