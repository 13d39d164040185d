import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const read = (columns: readonly string[] = [], asOf = '2026-03-20T00:00:00Z') =>
  scene.read('evidence', {
    asOf,
    columns,
    rest: 'order by container_id, seen_at, kind, subject',
  })

const version = (valid_from: string, valid_to: string | null, more: object = {}) => ({
  container_id: 'c1',
  number: 'MSKU0000001',
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  valid_from,
  valid_to,
  ...more,
})

const known = { availability_known: true }

it('shows what was known when, beside the milestones', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'MSKU0000001', _first_seen_at: '2026-03-07T20:00:00Z' },
  ])
  await scene.insert('container_history', [
    version('2026-03-07T20:00:00Z', null, {
      ...known,
      available_for_pickup: false,
      pod_arrived_at: '2026-03-08T09:00:00Z',
      pod_discharged_at: '2026-03-08T11:00:00Z',
      pod_full_out_at: '2026-03-16T20:00:00Z',
    }),
  ])
  await scene.insert('container_import_deadline_history', [
    {
      container_id: 'c1',
      kind: 'pickup_lfd_terminal',
      local_date: '2026-03-13',
      deadline_at: '2026-03-13T07:00:00Z',
      time_zone: 'America/Los_Angeles',
      valid_from: '2026-03-09T00:00:00Z',
      valid_to: '2026-03-11T00:00:00Z',
    },
  ])
  await scene.insert('container_hold_history', [
    {
      container_id: 'c1',
      hold_key: 'a',
      name: 'customs',
      status: 'hold',
      description: 'EXAM',
      source: 'webhook',
      valid_from: '2026-03-10T00:00:00Z',
      valid_to: '2026-03-12T00:00:00Z',
    },
  ])
  await scene.insert('container_fee_history', [
    {
      container_id: 'c1',
      fee_key: 'a',
      type: 'demurrage',
      amount: '350.00',
      currency_code: 'USD',
      valid_from: '2026-03-14T08:00:00Z',
    },
  ])
  expect(await read()).toMatchSnapshot()
})

it('joins versions of one availability, and parts them at a change or a gap', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  const available = { ...known, available_for_pickup: true }
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
    version('2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', {
      availability_known: false,
      available_for_pickup: true,
    }),
    version('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', { ...available, source: 'webhook' }),
    version('2026-03-04T00:00:00Z', '2026-03-05T00:00:00Z', { ...available, seal_number: 'S' }),
    // Tombstoned for a day.
    version('2026-03-06T00:00:00Z', '2026-03-07T00:00:00Z', available),
    version('2026-03-07T00:00:00Z', null, { ...known, available_for_pickup: false }),
  ])
  const row = (value: string, seen: string, gone: string | null, source = 'sync') => ({
    value,
    source,
    is_open: gone === null,
    seen_at: `2026-03-${seen} 00:00:00+00`,
    gone_at: gone === null ? null : `2026-03-${gone} 00:00:00+00`,
  })
  const columns = ['value', 'source', 'is_open', 'seen_at', 'gone_at']
  expect(await read(columns)).toEqual([
    row('not known', '01', '03'),
    row('available', '03', '05', 'webhook'),
    row('available', '06', '07'),
    row('not available', '07', null),
  ])
  expect(await read(columns, '2026-03-04T12:00:00Z')).toEqual([
    row('not known', '01', '03'),
    row('available', '03', null, 'webhook'),
  ])
})

it('joins any number of versions of one availability', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  const available = { ...known, available_for_pickup: true }
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', available),
    version('2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', { ...available, seal_number: 'S' }),
    version('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', { ...available, seal_number: 'T' }),
    version('2026-03-04T00:00:00Z', '2026-03-05T00:00:00Z', { ...available, seal_number: 'U' }),
    // Tombstoned for a day, and then three that run on.
    version('2026-03-06T00:00:00Z', '2026-03-07T00:00:00Z', available),
    version('2026-03-07T00:00:00Z', '2026-03-08T00:00:00Z', { ...available, seal_number: 'V' }),
    version('2026-03-08T00:00:00Z', null, { ...available, seal_number: 'W' }),
  ])
  const columns = ['seen_at', 'gone_at', 'is_open']
  const first = {
    seen_at: '2026-03-01 00:00:00+00',
    gone_at: '2026-03-05 00:00:00+00',
    is_open: false,
  }
  const second = { seen_at: '2026-03-06 00:00:00+00', gone_at: null, is_open: true }
  expect(await read(columns)).toEqual([first, second])
  expect(await read(columns, '2026-03-07T12:00:00Z')).toEqual([first, second])
  expect(await read(columns, '2026-03-03T12:00:00Z')).toEqual([
    { ...first, gone_at: null, is_open: true },
  ])
})

it('has no local times in an unknown zone', { tags: ['Z7'] }, async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A' },
    { container_id: 'c2', number: 'B' },
  ])
  const pod_arrived_at = '2026-03-08T09:00:00Z'
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', null, { pod_timezone: null, pod_arrived_at }),
    version('2026-03-01T00:00:00Z', null, {
      container_id: 'c2',
      pod_timezone: 'Mars/Olympus',
      pod_arrived_at,
    }),
  ])
  expect(
    await read(['container_id', 'is_pod_zone_known', 'seen_local', 'pod_arrived_local']),
  ).toEqual([
    {
      container_id: 'c1',
      is_pod_zone_known: false,
      seen_local: null,
      pod_arrived_local: '2026-03-08 09:00:00',
    },
    { container_id: 'c2', is_pod_zone_known: false, seen_local: null, pod_arrived_local: null },
  ])
})

it('leaves tombstoned containers out', async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', _deleted_at: '2026-03-09T00:00:00Z' },
  ])
  await scene.insert('container_history', [version('2026-03-01T00:00:00Z', '2026-03-09T00:00:00Z')])
  await scene.insert('container_hold_history', [
    { container_id: 'c1', hold_key: 'a', name: 'customs', valid_from: '2026-03-02T00:00:00Z' },
  ])
  expect(await scene.read('evidence')).toEqual([])
})

it('says of which stay a day speaks', { tags: ['FE1', 'FE2', 'JA8'] }, async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  const day = (kind: string, local_date: string | null) => ({
    container_id: 'c1',
    kind,
    place: kind === 'pickup_lfd_rail' ? 'ramp' : 'port',
    deadline_at: '2026-03-13T05:30:00Z',
    local_date,
    valid_from: '2026-03-09T00:00:00Z',
  })
  await scene.insert('container_import_deadline_history', [
    day('pickup_lfd_line', '2026-03-13'),
    day('pickup_lfd_rail', '2026-03-12'),
    day('pickup_lfd_terminal', null),
  ])
  const rows = await scene.read('evidence', {
    asOf: '2026-03-15T00:00:00Z',
    columns: ['place', 'subject', 'value', 'last_free_on'],
    rest: `where kind = 'last free day' order by subject`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['port', 'line', '2026-03-13', '2026-03-13'],
    ['ramp', 'rail', '2026-03-12', '2026-03-12'],
    ['port', 'terminal', null, null],
  ])
})

it('shows an edited hold once, with its last text', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  const hold = { container_id: 'c1', hold_key: 'a', name: 'customs', status: 'hold' }
  await scene.insert('container_hold_history', [
    {
      ...hold,
      description: 'EXAM',
      valid_from: '2026-03-10T00:00:00Z',
      valid_to: '2026-03-11T00:00:00Z',
    },
    { ...hold, hold_key: 'b', description: 'EXAM at 7', valid_from: '2026-03-11T00:00:00Z' },
  ])
  const rows = await scene.read('evidence', {
    asOf: '2026-03-15T00:00:00Z',
    columns: ['value', 'is_open', 'seen_at', 'gone_at'],
    rest: `where kind = 'hold'`,
  })
  expect(rows).toEqual([
    { value: 'hold: EXAM at 7', is_open: true, seen_at: '2026-03-10 00:00:00+00', gone_at: null },
  ])
})
