import { expect, it } from 'vitest'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'
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
  const same = {
    ...OF_NOBODY,
    container_id: 'c1',
    shipment_id: 's1',
    pod_terminal_id: 't1',
    fee_key: 'a',
    container_number: 'MSKU0000001',
    bill_of_lading_number: 'BOL1',
    shipping_line_scac: 'MAEU',
    pod_terminal: 'WBCT',
    place: 'port',
    fee_type: 'demurrage',
    currency_code: 'USD',
    is_total: false,
    is_open: false,
    is_gap_before: false,
  }
  expect(await read()).toEqual([
    {
      ...same,
      source: 'sync',
      amount: '100',
      amount_before: null,
      change_amount: null,
      is_start_known: false,
      seen_at: '2026-03-07 08:00:00+00',
      seen_local: '2026-03-07 00:00:00',
      gone_at: '2026-03-08 08:00:00+00',
      gone_local: '2026-03-08 00:00:00',
    },
    {
      ...same,
      source: 'webhook',
      amount: '250.50',
      amount_before: '100',
      change_amount: '150.50',
      is_start_known: true,
      seen_at: '2026-03-08 08:00:00+00',
      seen_local: '2026-03-08 00:00:00',
      // Midnight after the day that had 23 hours.
      gone_at: '2026-03-09 07:00:00+00',
      gone_local: '2026-03-09 00:00:00',
    },
  ])
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
  const first = { change_amount: null, is_gap_before: false, seen_local: null }
  expect(await read(columns)).toEqual([
    { ...first, fee_key: 'a', currency_code: 'USD', is_total: false, is_open: false },
    {
      fee_key: 'a',
      currency_code: 'USD',
      change_amount: '-20',
      is_total: false,
      is_open: true,
      is_gap_before: true,
      seen_local: null,
    },
    { ...first, fee_key: 'b', currency_code: 'CAD', is_total: false, is_open: true },
    { ...first, fee_key: 'c', currency_code: 'USD', is_total: true, is_open: true },
    { ...first, fee_key: 'd', currency_code: null, is_total: false, is_open: true },
  ])
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
