import { expect, it, onTestFinished, test } from 'vitest'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'

const scene = useAnalyticsScene()

const read = (columns: readonly string[], asOf?: string) =>
  scene.read('journey', {
    columns,
    rest: 'order by container_id',
    ...(asOf === undefined ? {} : { asOf }),
  })

const transportEvent = (
  id: string,
  event: string,
  timestamp: string | null,
  more: object = {},
) => ({
  container_id: 'c1',
  transport_event_id: id,
  event: `container.transport.${event}`,
  timestamp,
  is_estimated: event.includes('estimated'),
  ...more,
})

it('shows the whole journey as UTC instants and as wall time at each place', async () => {
  await scene.insert('shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      port_of_lading_id: 'p1',
      port_of_discharge_id: 'p2',
      destination_id: 'm1',
      port_of_lading_locode: 'CNSHA',
      port_of_discharge_locode: 'USLAX',
      destination_locode: 'USCHI',
      pol_timezone: 'Asia/Shanghai',
      pod_timezone: 'America/Los_Angeles',
      pol_etd_at: '2026-02-09T22:00:00Z',
      pol_atd_at: '2026-02-10T01:30:00Z',
      pod_original_eta_at: '2026-03-06T16:00:00Z',
      pod_eta_at: '2026-03-07T16:00:00Z',
      line_tracking_stopped_at: '2026-03-21T00:00:00Z',
      line_tracking_stopped_reason: 'all_containers_terminated',
    },
  ])
  await scene.insert('containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      number: 'MSKU0000001',
      pod_terminal_id: 't1',
      equipment_type: 'dry',
      equipment_length: 40,
      current_status: 'empty_returned',
      availability_known: true,
      pod_timezone: 'America/Los_Angeles',
      final_destination_timezone: 'America/Chicago',
      empty_terminated_timezone: 'America/Chicago',
      // Los Angeles goes from UTC-8 to UTC-7 on 2026-03-08 at 10:00Z: an hour before and an hour
      // after.
      pod_arrived_at: '2026-03-08T09:00:00Z',
      pod_discharged_at: '2026-03-08T11:00:00Z',
      pickup_appointment_at: '2026-03-09T15:00:00Z',
      pod_rail_loaded_at: '2026-03-10T00:00:00Z',
      pod_rail_departed_at: '2026-03-10T12:00:00Z',
      ind_eta_at: '2026-03-14T12:00:00Z',
      ind_ata_at: '2026-03-14T18:00:00Z',
      ind_rail_unloaded_at: '2026-03-14T20:00:00Z',
      final_destination_full_out_at: '2026-03-16T14:00:00Z',
      empty_terminated_at: '2026-03-20T17:00:00Z',
    },
  ])
  const shanghai = { timezone: 'Asia/Shanghai', location_locode: 'CNSHA' }
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', '2026-02-05T01:00:00Z', shanghai),
    transportEvent('e2', 'full_in', '2026-02-07T09:00:00Z', shanghai),
    transportEvent('e3', 'vessel_loaded', '2026-02-09T20:00:00Z', shanghai),
    transportEvent('e4', 'vessel_berthed', '2026-03-08T10:30:00Z', {
      timezone: 'America/Los_Angeles',
      location_locode: 'USLAX',
    }),
    transportEvent('e5', 'delivered', '2026-03-16T19:00:00Z', { timezone: 'America/Chicago' }),
    // Before the discharge it is the terminal's plan; the second one repeats the first.
    transportEvent('e6', 'available', '2026-03-08T08:00:00Z'),
    transportEvent('e7', 'available', '2026-03-08T19:00:00Z'),
    transportEvent('e8', 'available', '2026-03-09T19:00:00Z'),
  ])
  expect(await scene.read('journey')).toEqual([
    {
      ...OF_NOBODY,
      container_id: 'c1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      port_of_lading_id: 'p1',
      port_of_discharge_id: 'p2',
      destination_id: 'm1',
      container_number: 'MSKU0000001',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      shipping_line_name: 'Maersk',
      port_of_lading_locode: 'CNSHA',
      port_of_discharge_locode: 'USLAX',
      destination_locode: 'USCHI',
      equipment_type: 'dry',
      equipment_length: 40,
      current_status: 'empty_returned',
      ...zones('Asia/Shanghai', ['empty_out', 'full_in', 'pol_loaded', 'pol']),
      ...zones('America/Los_Angeles', ['pod_eta', 'pod', 'pod_berthed']),
      ...zones('America/Chicago', ['ind', 'delivered', 'empty_return']),
      // Shanghai: UTC+8 all year.
      ...moment('empty_out', '2026-02-05 01:00', '2026-02-05 09:00'),
      ...moment('full_in', '2026-02-07 09:00', '2026-02-07 17:00'),
      ...moment('pol_loaded', '2026-02-09 20:00', '2026-02-10 04:00'),
      ...moment('pol_etd', '2026-02-09 22:00', '2026-02-10 06:00'),
      ...moment('pol_departed', '2026-02-10 01:30', '2026-02-10 09:30'),
      ...moment('pod_original_eta', '2026-03-06 16:00', '2026-03-06 08:00'),
      ...moment('pod_eta', '2026-03-07 16:00', '2026-03-07 08:00'),
      // UTC-8 until 10:00Z, UTC-7 from then on.
      ...moment('pod_arrived', '2026-03-08 09:00', '2026-03-08 01:00'),
      ...moment('pod_berthed', '2026-03-08 10:30', '2026-03-08 03:30'),
      ...moment('pod_discharged', '2026-03-08 11:00', '2026-03-08 04:00'),
      ...moment('available', '2026-03-08 19:00', '2026-03-08 12:00'),
      is_availability_known: true,
      is_tracking_stopped: true,
      tracking_stopped_at: '2026-03-21 00:00:00+00',
      tracking_stopped_reason: 'all_containers_terminated',
      ...moment('pickup_appointment', '2026-03-09 15:00', '2026-03-09 08:00'),
      pod_full_out_at: null,
      pod_full_out_local: null,
      ...moment('pod_rail_loaded', '2026-03-10 00:00', '2026-03-09 17:00'),
      ...moment('pod_rail_departed', '2026-03-10 12:00', '2026-03-10 05:00'),
      // Chicago in summer: UTC-5.
      ...moment('ind_eta', '2026-03-14 12:00', '2026-03-14 07:00'),
      ...moment('ind_arrived', '2026-03-14 18:00', '2026-03-14 13:00'),
      ...moment('ind_rail_unloaded', '2026-03-14 20:00', '2026-03-14 15:00'),
      ...moment('final_destination_full_out', '2026-03-16 14:00', '2026-03-16 09:00'),
      ...moment('delivered', '2026-03-16 19:00', '2026-03-16 14:00'),
      ...moment('empty_terminated', '2026-03-20 17:00', '2026-03-20 12:00'),
      known_since: '2026-01-01 00:00:00+00',
    },
  ])
})

function zones(zone: string, places: readonly string[]): Record<string, unknown> {
  return Object.fromEntries<unknown>(
    places.flatMap((place) => [
      [`${place}_zone`, zone],
      [`is_${place}_zone_known`, true],
    ]),
  )
}

function moment(milestone: string, utc: string, local: string): Record<string, unknown> {
  return {
    [`${milestone}_at`]: `${utc}:00+00`,
    [`${milestone}_local`]: `${local}:00`,
  }
}

it('leaves wall time without a zone as it is', { tags: ['Z7'] }, async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', pod_arrived_at: '2026-03-08T09:00:00Z' },
    {
      container_id: 'c2',
      number: 'B',
      pod_timezone: 'Mars/Olympus',
      pod_arrived_at: '2026-03-08T09:00:00Z',
    },
  ])
  await scene.insert('transport_events', [
    transportEvent('e1', 'delivered', '2026-03-16T19:00:00Z'),
    {
      ...transportEvent('e1', 'delivered', '2026-03-16T19:00:00Z', { timezone: '' }),
      container_id: 'c2',
    },
  ])
  const columns = ['pod', 'delivered'].flatMap((place) => [
    `${place}_zone`,
    `is_${place}_zone_known`,
  ])
  expect(await read([...columns, 'pod_arrived_local', 'delivered_local'])).toMatchSnapshot()
})

it('takes the last transport event of a kind, one with a zone before one without', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  const shanghai = { timezone: 'Asia/Shanghai' }
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', '2026-02-05T01:00:00Z', shanghai),
    transportEvent('e2', 'empty_out', '2026-02-05T03:00:00Z', shanghai),
    // The same moment again as wall time marked as UTC, eight hours too late.
    transportEvent('e3', 'empty_out', '2026-02-05T11:00:00Z'),
    transportEvent('e4', 'empty_out', null, shanghai),
    transportEvent('e5', 'empty_out', '2026-02-09T00:00:00Z', {
      ...shanghai,
      _deleted_at: '2026-02-10T00:00:00Z',
    }),
  ])
  expect(await read(['empty_out_at', 'empty_out_local', 'empty_out_zone'])).toEqual([
    {
      ...moment('empty_out', '2026-02-05 03:00', '2026-02-05 11:00'),
      empty_out_zone: 'Asia/Shanghai',
    },
  ])
})

test('instant and zone of a milestone come from one event', { tags: ['FF4'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  const kinds = ['empty_out', 'full_in', 'vessel_loaded', 'vessel_berthed', 'delivered']
  await scene.insert(
    'transport_events',
    kinds.flatMap((kind) => [
      transportEvent(`${kind} 1`, kind, '2026-02-05T00:00:00Z', { timezone: 'Asia/Shanghai' }),
      transportEvent(`${kind} 2`, kind, '2026-02-05T02:00:00Z', { timezone: 'Asia/Kolkata' }),
    ]),
  )
  const names = ['empty_out', 'full_in', 'pol_loaded', 'pod_berthed', 'delivered']
  const [row] = await read(names.flatMap((name) => [`${name}_zone`, `${name}_local`]))
  for (const name of names) {
    expect(row).toMatchObject({
      [`${name}_zone`]: 'Asia/Kolkata',
      [`${name}_local`]: '2026-02-05 07:30:00',
    })
  }
})

test('an event that the service found untrue is no milestone', { tags: ['FF5'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  await scene.insert('container_history', [
    { container_id: 'c1', valid_from: '2026-01-01T00:00:00Z', number: 'A' },
  ])
  await scene.insert('transport_events', [
    transportEvent('e1', 'full_in', '2026-02-05T00:00:00Z', {}),
    transportEvent('e2', 'full_in', '2026-02-06T00:00:00Z', {
      invalidated_at: '2026-02-10T00:00:00Z',
    }),
  ])
  expect(await read(['full_in_at'])).toEqual([{ full_in_at: '2026-02-05 00:00:00+00' }])
  expect(await read(['full_in_at'], '2026-02-09T00:00:00Z')).toEqual([
    { full_in_at: '2026-02-06 00:00:00+00' },
  ])
  const rest = `where kind = 'transport event'`
  expect(await scene.read('timeline', { columns: ['occurred_at'], rest })).toHaveLength(1)
})

it('counts loading at the port of lading and berthing at the port of discharge, and no estimate', async () => {
  await scene.insert('shipments', [
    { shipment_id: 's1', port_of_lading_locode: 'CNSHA', port_of_discharge_locode: 'USLAX' },
  ])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', shipment_id: 's1' },
    { container_id: 'c2', number: 'B', shipment_id: 's1' },
    { container_id: 'c3', number: 'C', shipment_id: 'never seen' },
  ])
  const at = (day: string, locode: string | null, container: string) => ({
    timestamp: `2026-02-${day}T00:00:00Z`,
    location_locode: locode,
    container_id: container,
  })
  await scene.insert('transport_events', [
    transportEvent('e1', 'vessel_loaded', null, at('01', 'CNSHA', 'c1')),
    transportEvent('e2', 'vessel_loaded', null, at('09', 'SGSIN', 'c1')),
    transportEvent('e3', 'vessel_berthed', null, at('10', 'SGSIN', 'c1')),
    transportEvent('e4', 'estimated.vessel_arrived', null, at('20', 'USLAX', 'c1')),
    // Without a place, or without a port to compare it with, it counts.
    transportEvent('e5', 'vessel_loaded', null, at('02', null, 'c2')),
    transportEvent('e6', 'vessel_berthed', null, at('20', 'USLAX', 'c2')),
    transportEvent('e7', 'vessel_loaded', null, at('03', 'SGSIN', 'c3')),
  ])
  const day = (text: string) => `2026-02-${text} 00:00:00+00`
  expect(await read(['container_id', 'pol_loaded_at', 'pod_berthed_at', 'pod_arrived_at'])).toEqual(
    [
      { container_id: 'c1', pol_loaded_at: day('01'), pod_berthed_at: null, pod_arrived_at: null },
      {
        container_id: 'c2',
        pol_loaded_at: day('02'),
        pod_berthed_at: day('20'),
        pod_arrived_at: null,
      },
      { container_id: 'c3', pol_loaded_at: day('03'), pod_berthed_at: null, pod_arrived_at: null },
    ],
  )
})

it('leaves tombstoned containers out and shows nothing of a tombstoned shipment', async () => {
  const _deleted_at = '2026-02-01T00:00:00Z'
  await scene.insert('shipments', [
    {
      shipment_id: 's1',
      shipping_line_scac: 'MAEU',
      pod_eta_at: '2026-03-01T00:00:00Z',
      _deleted_at,
    },
  ])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', shipment_id: 's1' },
    { container_id: 'c2', number: 'B', _deleted_at },
  ])
  expect(await read(['container_id', 'shipping_line_scac', 'pod_eta_at'])).toEqual([
    { container_id: 'c1', shipping_line_scac: null, pod_eta_at: null },
  ])
})

it('shows what was known at an instant', async () => {
  const versions = { source: 'sync', number: 'A' }
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', pod_arrived_at: '2026-03-08T09:00:00Z' },
  ])
  await scene.insert('container_history', [
    {
      ...versions,
      container_id: 'c1',
      valid_from: '2026-03-01T00:00:00Z',
      valid_to: '2026-03-09T00:00:00Z',
    },
    {
      ...versions,
      container_id: 'c1',
      valid_from: '2026-03-09T00:00:00Z',
      pod_arrived_at: '2026-03-08T09:00:00Z',
    },
  ])
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', '2026-02-05T01:00:00Z', {
      _first_seen_at: '2026-03-01T00:00:00Z',
      _deleted_at: '2026-03-04T00:00:00Z',
    }),
    transportEvent('e2', 'empty_out', '2026-02-06T01:00:00Z', {
      _first_seen_at: '2026-03-04T00:00:00Z',
    }),
  ])
  const columns = ['empty_out_at', 'pod_arrived_at']
  expect(await read(columns, '2026-02-28T00:00:00Z')).toEqual([])
  expect(await read(columns, '2026-03-02T00:00:00Z')).toEqual([
    { empty_out_at: '2026-02-05 01:00:00+00', pod_arrived_at: null },
  ])
  expect(await read(columns, '2026-03-09T00:00:00Z')).toEqual([
    {
      empty_out_at: '2026-02-06 01:00:00+00',
      pod_arrived_at: '2026-03-08 09:00:00+00',
    },
  ])
})

it('reads transport events only when one of theirs is asked for, and then by the container', async () => {
  const { warehouse, drop } = await borrowTestWarehouse()
  onTestFinished(drop)
  const planOf = async (column: string) => {
    const plan = await warehouse.transaction('look at the plan', async (session) => {
      // Of tables as small as these the planner reads all rows where it may.
      await session.query('set', rawStatement('set local enable_seqscan = off'))
      return session.query(
        'explain',
        rawStatement<{ 'QUERY PLAN': string }>(
          `explain select ${column} from tracking_analytics.journey
          where shipping_line_scac = 'MAEU'`,
        ),
      )
    })
    return plan.map((row) => row['QUERY PLAN']).join('\n')
  }
  expect(await planOf('pod_arrived_local, pol_departed_at')).not.toContain('transport_events')
  const plan = await planOf('empty_out_at')
  expect(plan).toContain('transport_events')
  expect(plan).not.toContain('Seq Scan on transport_events')
})

it("prefers the container's own milestones, each with the zone of its transport event or place", async () => {
  await scene.insert('shipments', [
    { shipment_id: 's1', pol_timezone: 'Asia/Shanghai', pol_atd_at: '2026-02-11T00:00:00Z' },
  ])
  await scene.insert('containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      final_destination_timezone: 'America/Chicago',
      empty_out_at: '2026-02-05T00:00:00Z',
      pol_full_in_at: '2026-02-07T00:00:00Z',
      pol_vessel_loaded_at: '2026-02-10T00:00:00Z',
      pol_vessel_departed_at: '2026-02-10T12:00:00Z',
      delivered_at: '2026-03-20T18:00:00Z',
    },
  ])
  await scene.insert('transport_events', [
    // The instant of the container, at an inland depot; and a later one elsewhere.
    transportEvent('e1', 'empty_out', '2026-02-05T00:00:00Z', { timezone: 'Asia/Kolkata' }),
    transportEvent('e2', 'empty_out', '2026-02-06T00:00:00Z', { timezone: 'Asia/Tokyo' }),
    transportEvent('e3', 'full_in', '2026-02-08T00:00:00Z', { timezone: 'Asia/Tokyo' }),
  ])
  const names = ['empty_out', 'full_in', 'pol_loaded', 'pol_departed', 'delivered']
  const [row] = await read(names.map((name) => `${name}_local`))
  expect(row).toEqual({
    empty_out_local: '2026-02-05 05:30:00',
    full_in_local: '2026-02-07 08:00:00',
    pol_loaded_local: '2026-02-10 08:00:00',
    pol_departed_local: '2026-02-10 20:00:00',
    delivered_local: '2026-03-20 13:00:00',
  })
})
