import { expect, it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const _deleted_at = '2026-03-01T00:00:00Z'

it('shipments and tracking_requests: shows the live ones, and a shipment only where one is tracked', async () => {
  await scene.insert('shipments', [{ shipment_id: 's1' }, { shipment_id: 's2', _deleted_at }])
  const other = { tracked_object_id: 'x1', tracked_object_type: 'something_else' }
  await scene.insert('tracking_requests', [
    { tracking_request_id: 'q1', ...other },
    { tracking_request_id: 'q2', _deleted_at },
  ])
  const read = (view: string, ...columns: string[]) =>
    scene.read(`tracking_datasync.${view}`, { columns })
  expect(await read('shipments', 'shipment_id')).toEqual([{ shipment_id: 's1' }])
  expect(await read('tracking_requests', 'tracking_request_id', 'shipment_id')).toEqual([
    { tracking_request_id: 'q1', shipment_id: null },
  ])
})

test('tracking_requests: tags as sent, our stamp where none is', { tags: ['FF6'] }, async () => {
  await scene.insert('tracking_requests', [
    {
      tracking_request_id: 'q1',
      shipment_tags: ['winter', 'blue'],
      _changed_at: '2026-02-01T13:00:00Z',
    },
  ])
  const columns = ['shipment_tags', 'updated_at']
  expect(await scene.read('tracking_datasync.tracking_requests', { columns })).toEqual([
    { shipment_tags: 'blue, winter', updated_at: '2026-02-01 13:00:00' },
  ])
})

test('transport_events: the service says when one was untrue', { tags: ['FF5'] }, async () => {
  const event = { container_id: 'c1', invalidated_at: '2026-02-01T00:00:00Z' }
  await scene.insert('transport_events', [
    { ...event, transport_event_id: 'e1' },
    { ...event, transport_event_id: 'e2', _deleted_at },
    { container_id: 'c1', transport_event_id: 'e3', _deleted_at },
  ])
  await expectRows(
    scene,
    'tracking_datasync.transport_events',
    { rest: 'order by id' },
    `
    id | invalidated_at
    e1 | 2026-02-01 00:00:00
    e2 | 2026-02-01 00:00:00
    e3 | 2026-03-01 00:00:00`,
  )
})

it('transport_events: shows the standing and the withdrawn, at a facility of the type it names', async () => {
  await scene.insert('ports', [{ port_id: 'p2', code: 'USLAX', time_zone: 'Etc/GMT+3' }])
  await scene.insert('terminals', [{ terminal_id: 't1', firms_code: 'Y258' }])
  await scene.insert('shipments', [{ shipment_id: 's1', bill_of_lading_number: 'MAEU123' }])
  await scene.insert('containers', [{ container_id: 'c1', shipment_id: 's1', _deleted_at }])
  const event = {
    container_id: 'c1',
    timestamp: '2026-03-08T09:00:00Z',
    location_id: 'p2',
    location_type: 'port',
    terminal_id: 't1',
  }
  await scene.insert('transport_events', [
    { ...event, transport_event_id: 'e1', terminal_type: 'terminal', _deleted_at },
    // An id of a terminal under another type is another thing.
    { ...event, transport_event_id: 'e2', terminal_type: 'rail_terminal', shipment_id: 's9' },
  ])
  const table = `
    id | event_timestamp_local | port_metro_time_zone | facility_id | facility_firms_code | shipment_id | shipment_number | invalidated_at
    e1 | 2026-03-08 09:00:00   | Etc/GMT+3            | t1          | Y258                | s1          | MAEU123         | 2026-03-01 00:00:00
    e2 | 2026-03-08 09:00:00   | Etc/GMT+3            | t1          | -                   | s9          | -               | -`
  await expectRows(scene, 'tracking_datasync.transport_events', { rest: 'order by id' }, table)
})

it('_transfer_status: knows when each table was last read whole', async () => {
  const shows = (containers: string, shipments: string) =>
    expectRows(
      scene,
      'tracking_datasync._transfer_status',
      { rest: 'order by data_model_name' },
      `
      data_model_name   | transfer_last_updated_at
      containers        | ${containers}
      shipments         | ${shipments}
      tracking_requests | -
      transport_events  | -`,
    )
  await shows('-', '-')
  await scene.query(
    `insert into tracking_sync.sync_runs (command, options) values
      ('backfill', '{}'), ('sync', '{}'), ('backfill', '{"narrowing": {"shipments": ["s1"]}}'), ('webhooks', '{}')`,
  )
  await scene.query(
    `insert into tracking_sync.sync_run_streams (sync_run_id, stream, outcome, finished_at) values
      (1, 'containers', 'complete', '2026-03-01T06:00:00Z'),
      (2, 'containers', 'incomplete', '2026-03-02T06:00:00Z'),
      (3, 'containers', 'complete', '2026-03-03T06:00:00Z'),
      (4, 'containers', 'complete', '2026-03-04T06:00:00Z'),
      (2, 'shipments', 'complete', '2026-03-02T05:00:00Z')`,
  )
  await shows('2026-03-01 06:00:00', '2026-03-02 05:00:00')
})
