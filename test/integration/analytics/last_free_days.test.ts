import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

let scene: AnalyticsScene
beforeAll(async () => {
  scene = await openAnalyticsScene()
})
afterEach(() => scene.clear())
afterAll(() => scene.drop())

const read = (asOf: string, columns: readonly string[] = []) =>
  scene.read('last_free_days', { asOf, columns, rest: 'order by container_id' })

const LOS_ANGELES = 'America/Los_Angeles'

const deadline = (
  container_id: string,
  kind: string,
  local_date: string | null,
  more: object = {},
) => ({
  container_id,
  kind,
  local_date,
  deadline_at: local_date === null ? null : `${local_date}T07:00:00Z`,
  time_zone: LOS_ANGELES,
  ...more,
})

it('shows nothing of nothing', async () => {
  expect(await scene.read('last_free_days')).toEqual([])
})

it('shows the day, whose it is, and every column of a container', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      line_tracking_stopped_reason: 'no_updates_at_line',
    },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      number: 'MSKU0000001',
      equipment_type: 'dry',
      equipment_length: 40,
      current_status: 'available',
      pod_discharged_at: '2026-03-09T10:00:00Z',
    },
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    deadline('c1', 'pickup_lfd', '2026-03-13'),
    deadline('c1', 'pickup_lfd_line', '2026-03-13'),
    deadline('c1', 'pickup_lfd_terminal', '2026-03-12'),
    deadline('c1', 'pickup_lfd_rail', '2026-03-20', { time_zone: 'America/Chicago' }),
  ])
  // 23:30 of 12 March in Los Angeles.
  expect(await read('2026-03-13T06:30:00Z')).toEqual([
    {
      container_id: 'c1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      container_number: 'MSKU0000001',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      pod_terminal: 'WBCT',
      equipment_type: 'dry',
      equipment_length: 40,
      current_status: 'available',
      state: 'upcoming',
      ruling_source: 'line',
      time_zone: LOS_ANGELES,
      tracking_stopped_reason: 'no_updates_at_line',
      days_left: 1,
      is_zone_known: true,
      is_out: false,
      last_free_on: '2026-03-13',
      line_on: '2026-03-13',
      terminal_on: '2026-03-12',
      rail_on: '2026-03-20',
      today_on: '2026-03-12',
      out_on: null,
      pod_discharged_at: '2026-03-09 10:00:00+00',
      out_at: null,
    },
  ])
})

it('counts days by the calendar at the place, over the day that has 23 hours', async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  // Midnight of 9 March in Los Angeles, which turned its clocks the day before.
  await insertKnown(scene, 'container_import_deadlines', [
    deadline('c1', 'pickup_lfd', '2026-03-09'),
  ])
  const at = async (instant: string) => read(instant, ['state', 'days_left', 'today_on'])
  // The 7th, UTC-8: the last minute and the first of the next day.
  expect(await at('2026-03-08T07:59:00Z')).toEqual([
    { state: 'upcoming', days_left: 2, today_on: '2026-03-07' },
  ])
  expect(await at('2026-03-08T08:00:00Z')).toEqual([
    { state: 'upcoming', days_left: 1, today_on: '2026-03-08' },
  ])
  // The 8th ends at 07:00Z, UTC-7.
  expect(await at('2026-03-09T06:59:00Z')).toEqual([
    { state: 'upcoming', days_left: 1, today_on: '2026-03-08' },
  ])
  expect(await at('2026-03-09T07:00:00Z')).toEqual([
    { state: 'due today', days_left: 0, today_on: '2026-03-09' },
  ])
  expect(await at('2026-03-10T07:00:00Z')).toEqual([
    { state: 'overdue', days_left: -1, today_on: '2026-03-10' },
  ])
})

it('tells who went out in time and who late', async () => {
  const out = (container_id: string, times: object) => ({
    container_id,
    number: container_id,
    pod_timezone: LOS_ANGELES,
    ...times,
  })
  await insertKnown(scene, 'containers', [
    // 23:59 of the day, and midnight after it.
    out('c1', { pod_full_out_at: '2026-03-14T06:59:00Z' }),
    out('c2', { pod_full_out_at: '2026-03-14T07:00:00Z' }),
    // Left by rail on the 12th: the terminal's day ends there, the line's only with the pickup
    // inland.
    out('c3', { pod_rail_departed_at: '2026-03-12T20:00:00Z' }),
    out('c4', { pod_rail_departed_at: '2026-03-12T20:00:00Z' }),
    out('c5', {
      pod_rail_departed_at: '2026-03-12T20:00:00Z',
      final_destination_full_out_at: '2026-03-16T20:00:00Z',
    }),
    // Came back empty; nobody said when it was picked up.
    out('c6', { empty_terminated_at: '2026-03-20T20:00:00Z' }),
    out('c7', {}),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    ...['c1', 'c2', 'c3', 'c6'].flatMap((id) => [
      deadline(id, 'pickup_lfd', '2026-03-13'),
      deadline(id, 'pickup_lfd_terminal', '2026-03-13'),
    ]),
    ...['c4', 'c5'].flatMap((id) => [
      deadline(id, 'pickup_lfd', '2026-03-13'),
      deadline(id, 'pickup_lfd_line', '2026-03-13'),
    ]),
  ])
  const columns = ['container_id', 'state', 'ruling_source', 'days_left', 'is_out', 'out_on']
  expect(await read('2026-03-15T20:00:00Z', columns)).toEqual([
    row('c1', 'out in time', 'terminal', null, true, '2026-03-13'),
    row('c2', 'out late', 'terminal', null, true, '2026-03-14'),
    row('c3', 'out in time', 'terminal', null, true, '2026-03-12'),
    row('c4', 'overdue', 'line', -2, false, null),
    row('c5', 'out late', 'line', null, true, '2026-03-16'),
    row('c6', null, 'terminal', null, true, null),
    row('c7', 'none', null, null, false, null),
  ])
})

function row(
  container_id: string,
  state: string | null,
  ruling_source: string | null,
  days_left: number | null,
  is_out: boolean,
  out_on: string | null,
): Record<string, unknown> {
  return { container_id, state, ruling_source, days_left, is_out, out_on }
}

it('takes today in UTC without a known zone, and says so', { tags: ['Z7'] }, async () => {
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', number: 'A' },
    { container_id: 'c2', number: 'B' },
    { container_id: 'c3', number: 'C' },
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    deadline('c1', 'pickup_lfd', '2026-03-13', { time_zone: null }),
    // No day in a zone that nobody knows.
    {
      ...deadline('c2', 'pickup_lfd', null, { time_zone: 'Mars/Olympus' }),
      deadline_at: '2026-03-13T07:00:00Z',
    },
    // A bare date has no instant, and a day all the same; it is none of the sources' days.
    deadline('c3', 'pickup_lfd', '2026-03-13', { deadline_at: null }),
    deadline('c3', 'pickup_lfd_line', '2026-03-14'),
  ])
  const columns = [
    'container_id',
    'state',
    'ruling_source',
    'days_left',
    'today_on',
    'is_zone_known',
  ]
  expect(await read('2026-03-13T06:30:00Z', columns)).toEqual([
    {
      container_id: 'c1',
      state: 'due today',
      ruling_source: 'other',
      days_left: 0,
      today_on: '2026-03-13',
      is_zone_known: false,
    },
    {
      container_id: 'c2',
      state: null,
      ruling_source: 'other',
      days_left: null,
      today_on: '2026-03-13',
      is_zone_known: false,
    },
    {
      container_id: 'c3',
      state: 'upcoming',
      ruling_source: 'other',
      days_left: 1,
      today_on: '2026-03-12',
      is_zone_known: true,
    },
  ])
})

it('shows the day that was known at an instant, and leaves tombstoned containers out', async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A' },
    { container_id: 'c2', number: 'B', _deleted_at: '2026-03-01T00:00:00Z' },
  ])
  await scene.insert('container_import_deadlines', [
    deadline('c1', 'pickup_lfd', '2026-03-15', { is_zone_known: true }),
  ])
  await scene.insert('container_history', [
    { container_id: 'c1', number: 'A', valid_from: '2026-03-01T00:00:00Z' },
  ])
  await scene.insert('container_import_deadline_history', [
    {
      ...deadline('c1', 'pickup_lfd', '2026-03-13'),
      valid_from: '2026-03-10T00:00:00Z',
      valid_to: '2026-03-12T00:00:00Z',
    },
    { ...deadline('c1', 'pickup_lfd', '2026-03-15'), valid_from: '2026-03-12T00:00:00Z' },
  ])
  const days = async (asOf: string) => read(asOf, ['container_id', 'last_free_on'])
  expect(await days('2026-02-28T00:00:00Z')).toEqual([])
  expect(await days('2026-03-05T00:00:00Z')).toEqual([{ container_id: 'c1', last_free_on: null }])
  expect(await days('2026-03-11T00:00:00Z')).toEqual([
    { container_id: 'c1', last_free_on: '2026-03-13' },
  ])
  expect(await days('')).toEqual([{ container_id: 'c1', last_free_on: '2026-03-15' }])
})
