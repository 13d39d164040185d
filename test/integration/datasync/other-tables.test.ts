import { afterAll, afterEach, beforeAll, expect, it, test } from 'vitest'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'

let scene: AnalyticsScene
beforeAll(async () => {
  scene = await openAnalyticsScene()
})
afterEach(() => scene.clear())
afterAll(() => scene.drop())

const _deleted_at = '2026-03-01T00:00:00Z'

it('shipments: shows the live ones, times in UTC', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', firms_code: 'Y258' }])
  await scene.insert('rail_terminals', [{ rail_terminal_id: 'r1', firms_code: 'H572' }])
  await scene.insert('shipments', [
    {
      shipment_id: 's1',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      bill_of_lading_number: 'MAEU123',
      normalized_number: '123',
      ref_numbers: ['PO 1'],
      tags: [],
      customer_name: 'Acme',
      port_of_lading_locode: 'CNSHA',
      port_of_discharge_locode: 'USLAX',
      pod_terminal_id: 't1',
      destination_locode: 'USCHI',
      destination_terminal_id: 'r1',
      destination_terminal_type: 'rail_terminal',
      pol_atd_at: '2026-02-10T01:30:00Z',
      pol_etd_at: '2026-02-09T22:00:00Z',
      pod_eta_at: '2026-03-07T16:00:00Z',
      pod_ata_at: '2026-03-08T09:00:00Z',
      pod_voyage_number: '612E',
      pod_vessel_name: 'EVER GIVEN',
      pod_vessel_imo: '9811000',
      line_tracking_last_succeeded_at: '2026-03-09T06:00:00Z',
      created_at: '2026-02-01T12:00:00Z',
      _changed_at: '2026-03-09T07:00:00Z',
    },
    { shipment_id: 's2', _deleted_at },
  ])
  expect(await scene.read('tracking_datasync.shipments')).toEqual([
    {
      shipment_id: 's1',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      bill_of_lading_number: 'MAEU123',
      normalized_number: '123',
      reference_numbers: 'PO 1',
      tags: null,
      customer_id: null,
      customer_name: 'Acme',
      pol_locode: 'CNSHA',
      pod_locode: 'USLAX',
      pod_terminal_firms_code: 'Y258',
      destination_locode: 'USCHI',
      destination_terminal_firms_code: 'H572',
      pol_atd_at: '2026-02-10 01:30:00',
      pol_etd_at: '2026-02-09 22:00:00',
      pod_eta_at: '2026-03-07 16:00:00',
      pod_arrived_at: '2026-03-08 09:00:00',
      pod_voyage_number: '612E',
      pod_vessel_name: 'EVER GIVEN',
      pod_vessel_imo: '9811000',
      line_tracking_last_succeeded_at: '2026-03-09 06:00:00',
      line_tracking_stopped_at: null,
      line_tracking_stopped_reason: null,
      created_at: '2026-02-01 12:00:00',
      updated_at: '2026-03-09 07:00:00',
    },
  ])
})

it('tracking_requests: names the shipment once there is one', async () => {
  const request = {
    request_number: 'MAEU123',
    request_type: 'bill_of_lading',
    scac: 'MAEU',
    ref_numbers: ['PO 1', 'PO 2'],
    created_at: '2026-02-01T12:00:00Z',
    updated_at: '2026-02-01T12:05:00Z',
    _changed_at: '2026-02-01T13:00:00Z',
  }
  await scene.insert('tracking_requests', [
    {
      ...request,
      tracking_request_id: 'q1',
      status: 'created',
      tracked_object_id: 's1',
      tracked_object_type: 'shipment',
    },
    {
      ...request,
      tracking_request_id: 'q2',
      status: 'failed',
      failed_reason: 'not_found',
      tracked_object_id: 'x1',
      tracked_object_type: 'something_else',
    },
    { ...request, tracking_request_id: 'q3', _deleted_at },
  ])
  const shown = {
    request_number: 'MAEU123',
    reference_numbers: 'PO 1, PO 2',
    shipment_tags: null,
    request_type: 'bill_of_lading',
    scac: 'MAEU',
    created_at: '2026-02-01 12:00:00',
    updated_at: '2026-02-01 12:05:00',
  }
  const rest = 'order by tracking_request_id'
  expect(await scene.read('tracking_datasync.tracking_requests', { rest })).toEqual([
    {
      ...shown,
      tracking_request_id: 'q1',
      status: 'created',
      failed_reason: null,
      shipment_id: 's1',
    },
    {
      ...shown,
      tracking_request_id: 'q2',
      status: 'failed',
      failed_reason: 'not_found',
      shipment_id: null,
    },
  ])
})

test(
  'tracking_requests: tags as sent, and our own stamp only where the service sends none',
  { tags: ['FF6'] },
  async () => {
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
  },
)

test(
  'transport_events: the service says when one was found untrue, else our tombstone does',
  { tags: ['FF5'] },
  async () => {
    const event = { container_id: 'c1', invalidated_at: '2026-02-01T00:00:00Z' }
    await scene.insert('transport_events', [
      { ...event, transport_event_id: 'e1' },
      { ...event, transport_event_id: 'e2', _deleted_at },
      { container_id: 'c1', transport_event_id: 'e3', _deleted_at },
    ])
    const rows = await scene.read('tracking_datasync.transport_events', {
      columns: ['id', 'invalidated_at'],
      rest: 'order by id',
    })
    expect(rows).toEqual([
      { id: 'e1', invalidated_at: '2026-02-01 00:00:00' },
      { id: 'e2', invalidated_at: '2026-02-01 00:00:00' },
      { id: 'e3', invalidated_at: '2026-03-01 00:00:00' },
    ])
  },
)

it('transport_events: shows the standing and the withdrawn', async () => {
  await scene.insert('ports', [
    { port_id: 'p2', code: 'USLAX', name: 'Los Angeles', country_code: 'US', time_zone: 'Etc/GMT' },
  ])
  await scene.insert('terminals', [
    { terminal_id: 't1', firms_code: 'Y258', nickname: 'WBCT', name: 'West Basin' },
  ])
  await scene.insert('vessels', [
    { vessel_id: 'v1', name: 'EVER GIVEN', imo: '9811000', mmsi: '1' },
  ])
  await scene.insert('shipments', [{ shipment_id: 's1', bill_of_lading_number: 'MAEU123' }])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'MSKU0000001', shipment_id: 's1', _deleted_at },
  ])
  await scene.insert('transport_events', [
    {
      container_id: 'c1',
      transport_event_id: 'e1',
      event: 'container.transport.vessel_arrived',
      timestamp: '2026-03-08T09:00:00Z',
      timezone: 'America/Los_Angeles',
      location_locode: 'USLAX',
      location_id: 'p2',
      location_type: 'port',
      terminal_id: 't1',
      terminal_type: 'terminal',
      vessel_id: 'v1',
      voyage_number: '612E',
      data_source: 'ais',
      created_at: '2026-03-08T09:20:00Z',
      _changed_at: '2026-03-08T10:00:00Z',
      _deleted_at: '2026-03-10T00:00:00Z',
    },
    {
      container_id: 'c1',
      transport_event_id: 'e2',
      event: 'container.transport.estimated.vessel_arrived',
      timestamp: '2026-03-08T09:00:00Z',
      location_id: 'p2',
      location_type: 'port',
      // An id of a terminal under another type is another thing.
      terminal_id: 't1',
      terminal_type: 'rail_terminal',
      shipment_id: 's9',
    },
  ])
  const nothing = {
    facility_firms_code: null,
    facility_nickname: null,
    facility_name: null,
    vessel_id: null,
    vessel_name: null,
    vessel_imo: null,
    vessel_mmsi: null,
    voyage_number: null,
    data_source_label: null,
    invalidated_at: null,
    created_at: null,
  }
  const place = {
    event_timestamp: '2026-03-08 09:00:00',
    container_id: 'c1',
    container_number: 'MSKU0000001',
    port_metro_id: 'p2',
    port_metro_locode: 'USLAX',
    port_metro_country_code: 'US',
    port_metro_city: 'Los Angeles',
    facility_id: 't1',
    invalidation_reason: null,
    previous_version_id: null,
  }
  expect(await scene.read('tracking_datasync.transport_events', { rest: 'order by id' })).toEqual([
    {
      ...place,
      id: 'e1',
      event: 'container.transport.vessel_arrived',
      // An hour before Los Angeles turns its clocks.
      event_timestamp_local: '2026-03-08 01:00:00',
      shipment_id: 's1',
      shipment_number: 'MAEU123',
      port_metro_time_zone: 'America/Los_Angeles',
      facility_firms_code: 'Y258',
      facility_nickname: 'WBCT',
      facility_name: 'West Basin',
      vessel_id: 'v1',
      vessel_name: 'EVER GIVEN',
      vessel_imo: '9811000',
      vessel_mmsi: '1',
      voyage_number: '612E',
      data_source_label: 'ais',
      invalidated_at: '2026-03-10 00:00:00',
      created_at: '2026-03-08 09:20:00',
      updated_at: '2026-03-08 10:00:00',
    },
    {
      ...place,
      ...nothing,
      id: 'e2',
      event: 'container.transport.estimated.vessel_arrived',
      event_timestamp_local: '2026-03-08 09:00:00',
      shipment_id: 's9',
      shipment_number: null,
      port_metro_time_zone: 'Etc/GMT',
      updated_at: '2026-01-01 00:00:00',
    },
  ])
})

it('_transfer_status: knows when each table was last read whole', async () => {
  const rest = 'order by data_model_name'
  const never = ['containers', 'shipments', 'tracking_requests', 'transport_events'].map(
    (name) => ({ data_model_name: name, transfer_last_updated_at: null }),
  )
  expect(await scene.read('tracking_datasync._transfer_status', { rest })).toEqual(never)
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
  const [, , ...others] = never
  expect(await scene.read('tracking_datasync._transfer_status', { rest })).toEqual([
    { data_model_name: 'containers', transfer_last_updated_at: '2026-03-01 06:00:00' },
    { data_model_name: 'shipments', transfer_last_updated_at: '2026-03-02 05:00:00' },
    ...others,
  ])
})
