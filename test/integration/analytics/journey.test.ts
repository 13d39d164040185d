import { expect, it, onTestFinished, test } from 'vitest'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ORDER = 'order by container_id'
const shows = (table: string, asOf = '') =>
  expectRows(scene, 'journey', { asOf, rest: ORDER }, table)

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
  const shipment = {
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
  }
  const box = {
    pod_terminal_id: 't1',
    equipment_type: 'dry',
    equipment_length: 40,
    current_status: 'empty_returned',
  }
  await scene.insert('shipments', [
    {
      ...shipment,
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
      ...box,
      shipment_id: 's1',
      number: 'MSKU0000001',
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
      ...shipment,
      ...box,
      container_id: 'c1',
      container_number: 'MSKU0000001',
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
  await shows(`
    pod_zone     | is_pod_zone_known | pod_arrived_local   | delivered_zone | is_delivered_zone_known | delivered_local
    -            | false             | 2026-03-08 09:00:00 | -              | false                   | 2026-03-16 19:00:00
    Mars/Olympus | false             | -                   |                | false                   | -`)
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
  await shows(`
    empty_out_at           | empty_out_local     | empty_out_zone
    2026-02-05 03:00:00+00 | 2026-02-05 11:00:00 | Asia/Shanghai`)
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
  const [row] = await scene.read('journey')
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
  await shows('full_in_at\n2026-02-05 00:00:00+00')
  await shows('full_in_at\n2026-02-06 00:00:00+00', '2026-02-09T00:00:00Z')
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
  const events = `
    container_id | transport_event_id | event                    | timestamp            | location_locode
    c1           | e1                 | vessel_loaded            | 2026-02-01T00:00:00Z | CNSHA
    c1           | e2                 | vessel_loaded            | 2026-02-09T00:00:00Z | SGSIN
    c1           | e3                 | vessel_berthed           | 2026-02-10T00:00:00Z | SGSIN
    c1           | e4                 | estimated.vessel_arrived | 2026-02-20T00:00:00Z | USLAX
    -- Without a place, or without a port to compare it with, it counts.
    c2           | e5                 | vessel_loaded            | 2026-02-02T00:00:00Z | -
    c2           | e6                 | vessel_berthed           | 2026-02-20T00:00:00Z | USLAX
    c3           | e7                 | vessel_loaded            | 2026-02-03T00:00:00Z | SGSIN`
  await scene.insert(
    'transport_events',
    rowsOf(events).map((row) => ({
      ...transportEvent('', row.event!, null),
      ...row,
      event: `container.transport.${row.event!}`,
    })),
  )
  await shows(`
    container_id | pol_loaded_at          | pod_berthed_at         | pod_arrived_at
    c1           | 2026-02-01 00:00:00+00 | -                      | -
    c2           | 2026-02-02 00:00:00+00 | 2026-02-20 00:00:00+00 | -
    c3           | 2026-02-03 00:00:00+00 | -                      | -`)
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
  await shows('container_id | shipping_line_scac | pod_eta_at\nc1 | - | -')
})

it('shows what was known at an instant', async () => {
  const arrived = { pod_arrived_at: '2026-03-08T09:00:00Z' }
  await scene.insert('containers', [{ container_id: 'c1', number: 'A', ...arrived }])
  const version = { container_id: 'c1', source: 'sync', number: 'A' }
  const [first, second] = ['2026-03-01T00:00:00Z', '2026-03-09T00:00:00Z']
  await scene.insert('container_history', [
    { ...version, valid_from: first, valid_to: second },
    { ...version, ...arrived, valid_from: second },
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
  const columns = 'empty_out_at | pod_arrived_at'
  await shows(columns, '2026-02-28T00:00:00Z')
  await shows(`${columns}\n2026-02-05 01:00:00+00 | -`, '2026-03-02T00:00:00Z')
  const last = `${columns}\n2026-02-06 01:00:00+00 | 2026-03-08 09:00:00+00`
  await shows(last, '2026-03-09T00:00:00Z')
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
  await shows(`
    empty_out_local     | full_in_local       | pol_loaded_local    | pol_departed_local  | delivered_local
    2026-02-05 05:30:00 | 2026-02-07 08:00:00 | 2026-02-10 08:00:00 | 2026-02-10 20:00:00 | 2026-03-20 13:00:00`)
})
