import { it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const _deleted_at = '2026-03-01T00:00:00Z'

test('the live ones, tags as sent, our stamp where none is', { tags: ['FF6'] }, async () => {
  await scene.insert('shipments', [{ shipment_id: 's1' }, { shipment_id: 's2', _deleted_at }])
  // A shipment is shown where one is tracked.
  const other = { tracked_object_id: 'x1', tracked_object_type: 'something_else' }
  const tags = { shipment_tags: ['winter', 'blue'], _changed_at: '2026-02-01T13:00:00Z' }
  await scene.insert('tracking_requests', [
    { tracking_request_id: 'q1', ...other, ...tags },
    { tracking_request_id: 'q2', _deleted_at },
  ])
  await scene.expectRows('tracking_datasync.shipments', {}, 'shipment_id\ns1')
  const requests = `
    tracking_request_id | shipment_id | shipment_tags | updated_at
    q1                  | -           | blue, winter  | 2026-02-01 13:00:00`
  await scene.expectRows('tracking_datasync.tracking_requests', {}, requests)
})

test('transport_events: the standing and the withdrawn', { tags: ['FF5'] }, async () => {
  await scene.insert('ports', [{ port_id: 'p2', code: 'USLAX', time_zone: 'Etc/GMT+3' }])
  await scene.insert('terminals', [{ terminal_id: 't1', firms_code: 'Y258' }])
  await scene.insert('shipments', [{ shipment_id: 's1', bill_of_lading_number: 'MAEU123' }])
  await scene.insert('containers', [{ container_id: 'c1', shipment_id: 's1', _deleted_at }])
  // An id of a terminal under another type is another thing.
  const events = `
    transport_event_id | terminal_type | shipment_id | invalidated_at    | _deleted_at
    e1                 | terminal      |             |                   | ${_deleted_at}
    e2                 | rail_terminal | s9          | 2026-02-01T00:00Z |
    e3                 | terminal      |             | 2026-02-01T00:00Z | ${_deleted_at}`
  const place = { location_id: 'p2', location_type: 'port', terminal_id: 't1' }
  const event = { container_id: 'c1', timestamp: '2026-03-08T09:00:00Z', ...place }
  await scene.insert('transport_events', events, event)
  const table = `
    id | event_timestamp_local | port_metro_time_zone | facility_id | facility_firms_code | shipment_id | shipment_number | invalidated_at
    e1 | 2026-03-08 09:00:00   | Etc/GMT+3            | t1          | Y258                | s1          | MAEU123         | 2026-03-01 00:00:00
    e2 | 2026-03-08 09:00:00   | Etc/GMT+3            | t1          | -                   | s9          | -               | 2026-02-01 00:00:00
    e3 | 2026-03-08 09:00:00   | Etc/GMT+3            | t1          | Y258                | s1          | MAEU123         | 2026-02-01 00:00:00`
  await scene.expectRows('tracking_datasync.transport_events', { rest: 'order by id' }, table)
})

it('_transfer_status: knows when each table was last read whole', async () => {
  const shows = (containers: string, shipments: string) =>
    scene.expectRows(
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
