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

it('shows each interval of a hold with a status, over the day that has 23 hours', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      number: 'MSKU0000001',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      pod_timezone: 'America/Los_Angeles',
      _first_seen_at: '2026-03-01T00:00:00Z',
    },
  ])
  await scene.insert('container_hold_history', [
    interval('2026-03-07T20:00:00Z', '2026-03-08T20:15:00Z', { status: 'pending' }),
    interval('2026-03-08T20:15:00Z', null, { description: 'EXAM', source: 'webhook' }),
  ])
  // hours 24.25: a quarter past a day later, in hours that passed; on the clock of Los Angeles it
  // is an hour more.
  // hours 75.75: three days and 3:45 to the instant asked for.
  expect(await read()).toMatchSnapshot()
})

it('marks holds that the first look at the container found already', async () => {
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', number: 'A', _first_seen_at: '2026-03-08T00:00:00Z' },
    {
      container_id: 'c2',
      number: 'B',
      _first_seen_at: '2026-03-08T00:00:00Z',
      pod_timezone: 'Mars/Olympus',
    },
  ])
  await scene.insert('container_hold_history', [
    interval('2026-03-08T00:00:00Z', '2026-03-09T00:00:00Z'),
    interval('2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'),
    interval('2026-03-08T00:00:01Z', '2026-03-09T00:00:00Z', { container_id: 'c2' }),
  ])
  expect(await read(['container_id', 'hours', 'is_start_known', 'placed_local'])).toEqual([
    { container_id: 'c1', hours: '24.00', is_start_known: false, placed_local: null },
    { container_id: 'c1', hours: '24.00', is_start_known: true, placed_local: null },
    { container_id: 'c2', hours: '24.00', is_start_known: true, placed_local: null },
  ])
})

it('counts what was cleared after the instant asked for as open, and leaves out what came after it', async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  await scene.insert('container_hold_history', [
    interval('2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'),
    interval('2026-03-12T00:00:00Z', null, { hold_key: 'b' }),
  ])
  const columns = ['hold_key', 'hours', 'is_open', 'cleared_at']
  const open = { hold_key: 'a', is_open: true, cleared_at: null }
  expect(await read(columns, '2026-03-09T00:00:00Z')).toEqual([])
  expect(await read(columns, '2026-03-10T12:00:00Z')).toEqual([{ ...open, hours: '12.00' }])
  expect(await read(columns, '2026-03-11T00:00:00Z')).toEqual([
    { ...open, hours: '24.00', is_open: false, cleared_at: '2026-03-11 00:00:00+00' },
  ])
})

it('leaves tombstoned containers out', async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', _deleted_at: '2026-03-01T00:00:00Z' },
  ])
  await scene.insert('container_hold_history', [interval('2026-03-10T00:00:00Z', null)])
  expect(await scene.read('hold_durations')).toEqual([])
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

it('keeps holds of the ramp apart from the port’s, on its clock', { tags: ['FE2'] }, async () => {
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      pod_timezone: 'America/Los_Angeles',
      final_destination_timezone: 'America/Chicago',
    },
  ])
  await scene.insert('container_hold_history', [
    interval('2026-03-07T20:00:00Z', '2026-03-10T20:00:00Z'),
    // Of the same name, and first seen in the look in which the other one went: no edited text.
    interval('2026-03-10T20:00:00Z', '2026-03-11T20:00:00Z', { hold_key: 'b', place: 'ramp' }),
  ])
  const rows = await read(['place', 'hold_key', 'cleared_local'])
  expect(rows).toEqual([
    { place: 'port', hold_key: 'a', cleared_local: '2026-03-10 13:00:00' },
    { place: 'ramp', hold_key: 'b', cleared_local: '2026-03-11 15:00:00' },
  ])
})
