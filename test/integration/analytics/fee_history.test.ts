import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const read = (columns: readonly string[] = [], asOf = '2026-03-20T00:00:00Z') =>
  scene.read('fee_history', { asOf, columns, rest: 'order by container_id, fee_key, seen_at' })

const interval = (
  valid_from: string,
  valid_to: string | null,
  amount: string,
  more: object = {},
) => ({
  container_id: 'c1',
  fee_key: 'a',
  type: 'demurrage',
  currency_code: 'USD',
  amount,
  valid_from,
  valid_to,
  ...more,
})

it('shows how a fee grew', async () => {
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
      _first_seen_at: '2026-03-07T08:00:00Z',
    },
  ])
  await scene.insert('container_fee_history', [
    interval('2026-03-07T08:00:00Z', '2026-03-08T08:00:00Z', '100'),
    interval('2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z', '250.50', { source: 'webhook' }),
  ])
  // gone_at 2026-03-09 07:00:00+00: midnight after the day that had 23 hours.
  expect(await read()).toMatchSnapshot()
})

it('keeps fees and currencies apart, and marks totals and gaps', async () => {
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', number: 'A', pod_timezone: 'Mars/Olympus' },
  ])
  await scene.insert('container_fee_history', [
    interval('2026-03-07T00:00:00Z', '2026-03-08T00:00:00Z', '100'),
    interval('2026-03-10T00:00:00Z', null, '80'),
    interval('2026-03-07T00:00:00Z', null, '90', { fee_key: 'b', currency_code: 'CAD' }),
    interval('2026-03-07T00:00:00Z', null, '190', { fee_key: 'c', type: 'total' }),
    interval('2026-03-07T00:00:00Z', null, '5', { fee_key: 'd', type: null, currency_code: null }),
  ])
  const columns = [
    'fee_key',
    'currency_code',
    'change_amount',
    'is_total',
    'is_open',
    'is_gap_before',
    'seen_local',
  ]
  expect(await read(columns)).toMatchSnapshot()
})

it('shows what was known at an instant, of live containers', async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  await scene.insert('containers', [
    { container_id: 'c2', number: 'B', _deleted_at: '2026-03-01T00:00:00Z' },
  ])
  await scene.insert('container_fee_history', [
    interval('2026-03-07T00:00:00Z', '2026-03-08T00:00:00Z', '100'),
    interval('2026-03-08T00:00:00Z', null, '200'),
    interval('2026-03-08T00:00:00Z', null, '200', { container_id: 'c2' }),
  ])
  const columns = ['container_id', 'amount', 'is_open', 'gone_at']
  const asOf = async (instant: string) => read(columns, instant)
  expect(await asOf('2026-03-06T00:00:00Z')).toEqual([])
  expect(await asOf('2026-03-07T12:00:00Z')).toEqual([
    { container_id: 'c1', amount: '100', is_open: true, gone_at: null },
  ])
  expect(await asOf('')).toEqual([
    { container_id: 'c1', amount: '100', is_open: false, gone_at: '2026-03-08 00:00:00+00' },
    { container_id: 'c1', amount: '200', is_open: true, gone_at: null },
  ])
})
