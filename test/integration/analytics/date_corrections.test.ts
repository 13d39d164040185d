import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

let scene: AnalyticsScene
beforeAll(async () => {
  scene = await openAnalyticsScene()
})
afterEach(() => scene.clear())
afterAll(() => scene.drop())

const read = (columns: readonly string[] = [], asOf = '2026-03-20T00:00:00Z') =>
  scene.read('date_corrections', {
    asOf,
    columns,
    rest: 'order by container_id, learned_at, milestone',
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

it('shows nothing of nothing', async () => {
  expect(await scene.read('date_corrections')).toEqual([])
})

it('shows what was said before and after, over the change of the clocks', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      customer_name: 'Acme',
    },
  ])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'MSKU0000001', shipment_id: 's1' },
  ])
  await scene.insert('container_history', [
    version('2026-03-07T00:00:00Z', '2026-03-09T00:00:00Z', {
      pod_discharged_at: '2026-03-08T09:00:00Z',
    }),
    version('2026-03-09T00:00:00Z', null, {
      pod_discharged_at: '2026-03-08T11:30:00Z',
      source: 'webhook',
    }),
  ])
  expect(await read()).toEqual([
    {
      container_id: 'c1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      container_number: 'MSKU0000001',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      customer_name: 'Acme',
      ref_numbers_text: null,
      tags_text: null,
      custom_fields: null,
      pod_terminal: 'WBCT',
      milestone: 'discharge',
      kind: 'moved',
      source: 'webhook',
      shift_hours: '2.50',
      learned_at: '2026-03-09 00:00:00+00',
      from_at: '2026-03-08 09:00:00+00',
      to_at: '2026-03-08 11:30:00+00',
      // Los Angeles is UTC-8 until 10:00Z of 8 March, then UTC-7.
      from_local: '2026-03-08 01:00:00',
      to_local: '2026-03-08 04:30:00',
    },
  ])
})

it('takes no first word for a correction, tells what was taken back, and looks over no gap', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
    version('2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', {
      pod_full_out_at: '2026-03-02T00:00:00Z',
      empty_terminated_at: '2026-03-02T10:00:00Z',
      empty_terminated_timezone: 'Mars/Olympus',
    }),
    version('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', {
      empty_terminated_at: '2026-03-02T08:00:00Z',
      empty_terminated_timezone: 'Mars/Olympus',
    }),
    version('2026-03-04T00:00:00Z', '2026-03-05T00:00:00Z', {
      pod_full_out_at: '2026-03-03T00:00:00Z',
      empty_terminated_at: '2026-03-02T08:00:00Z',
      seal_number: 'S',
    }),
    // Tombstoned for a day.
    version('2026-03-06T00:00:00Z', null, { pod_full_out_at: '2026-03-04T00:00:00Z' }),
  ])
  const columns = ['milestone', 'kind', 'shift_hours', 'to_local']
  expect(await read(columns)).toEqual([
    { milestone: 'empty return', kind: 'moved', shift_hours: '-2.00', to_local: null },
    { milestone: 'pickup at the port', kind: 'taken back', shift_hours: null, to_local: null },
  ])
  expect(await read(columns, '2026-03-02T12:00:00Z')).toEqual([])
})
