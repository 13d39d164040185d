import { expect, it, test } from 'vitest'
import { planOf, useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const shows = (table: string, asOf = '') =>
  scene.expectRows('journey', { asOf, rest: 'order by container_id' }, table)

it('shows the whole journey as UTC instants and as wall time at each place', async () => {
  await scene.insert(
    'shipments',
    `shipment_id | port_of_lading_locode | pol_timezone  | port_of_discharge_locode | pod_timezone        | pol_etd_at        | pol_atd_at        | pod_original_eta_at | pod_eta_at
     s1          | CNSHA                 | Asia/Shanghai | USLAX                    | America/Los_Angeles | 2026-02-09T22:00Z | 2026-02-10T01:30Z | 2026-03-06T16:00Z   | 2026-03-07T16:00Z`,
    {
      ...{ bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU', port_of_lading_id: 'p1' },
      ...{ shipping_line_name: 'Maersk', port_of_discharge_id: 'p2', destination_id: 'm1' },
      ...{ destination_locode: 'USCHI', line_tracking_stopped_at: '2026-03-21T00:00:00Z' },
      line_tracking_stopped_reason: 'all_containers_terminated',
    },
  )
  await scene.insert('containers', [
    {
      ...{ container_id: 'c1', number: 'MSKU0000001', shipment_id: 's1', pod_terminal_id: 't1' },
      ...{ equipment_type: 'dry', equipment_length: 40, current_status: 'empty_returned' },
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
  await scene.insertEvents(`
    event          | timestamp         | timezone            | location_locode
    empty_out      | 2026-02-05T01:00Z | Asia/Shanghai       | CNSHA
    full_in        | 2026-02-07T09:00Z | Asia/Shanghai       | CNSHA
    vessel_loaded  | 2026-02-09T20:00Z | Asia/Shanghai       | CNSHA
    vessel_berthed | 2026-03-08T10:30Z | America/Los_Angeles | USLAX
    delivered      | 2026-03-16T19:00Z | America/Chicago     |
    -- Before the discharge it is the terminal's plan; the second one repeats the first.
    available      | 2026-03-08T08:00Z |                     |
    available      | 2026-03-08T19:00Z |                     |
    available      | 2026-03-09T19:00Z |                     |`)
  // Shanghai is UTC+8 all year, Chicago UTC-5 in summer.
  expect(await scene.read('journey')).toMatchSnapshot()
})

it('leaves wall time without a zone as it is', { tags: ['Z7'] }, async () => {
  const pod_arrived_at = '2026-03-08T09:00:00Z'
  await scene.insert('containers', [
    { container_id: 'c1', pod_arrived_at },
    { container_id: 'c2', pod_arrived_at, pod_timezone: 'Mars/Olympus' },
  ])
  const delivered = 'event | timestamp\ndelivered | 2026-03-16T19:00Z'
  await scene.insertEvents(delivered)
  await scene.insertEvents(delivered, { container_id: 'c2', timezone: '' })
  await shows(`
    pod_zone     | is_pod_zone_known | pod_arrived_local   | delivered_zone | is_delivered_zone_known | delivered_local
    -            | false             | 2026-03-08 09:00:00 | -              | false                   | 2026-03-16 19:00:00
    Mars/Olympus | false             | -                   |                | false                   | -`)
})

test(
  'a milestone is the last event of its kind, one with a zone before one without',
  { tags: ['FF4'] },
  async () => {
    await scene.insert('containers', [{ container_id: 'c1' }])
    const names = {
      ...{ empty_out: 'empty_out', full_in: 'full_in', vessel_loaded: 'pol_loaded' },
      ...{ vessel_berthed: 'pod_berthed', delivered: 'delivered' },
    }
    for (const kind of Object.keys(names)) {
      await scene.insertEvents(`event   | timestamp         | timezone      | _deleted_at
       ${kind} | 2026-02-05T00:00Z | Asia/Shanghai |
       ${kind} | 2026-02-05T02:00Z | Asia/Kolkata  |
       -- The same moment again as wall time marked as UTC; no time; withdrawn.
       ${kind} | 2026-02-05T07:30Z | -             |
       ${kind} | -                 | Asia/Shanghai |
       ${kind} | 2026-02-09T00:00Z | Asia/Shanghai | 2026-02-10T00:00Z`)
    }
    const [row] = await scene.read('journey')
    for (const name of Object.values(names)) {
      expect(row).toMatchObject({
        [`${name}_zone`]: 'Asia/Kolkata',
        [`${name}_local`]: '2026-02-05 07:30:00',
      })
    }
  },
)

test('an event that the service found untrue is no milestone', { tags: ['FF5'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1' }])
  await scene.insert('container_history', [{ container_id: 'c1', valid_from: '2026-01-01Z' }])
  await scene.insertEvents(`
    event   | timestamp         | invalidated_at    | _deleted_at       | _first_seen_at
    full_in | 2026-02-05T00:00Z |                   |                   |
    full_in | 2026-02-06T00:00Z | 2026-02-10T00:00Z |                   |
    -- Withdrawn before that, or seen later.
    full_in | 2026-02-07T00:00Z |                   | 2026-02-08T00:00Z |
    full_in | 2026-02-08T00:00Z | 2026-02-12T00:00Z |                   | 2026-02-11T00:00Z`)
  await shows('full_in_at\n2026-02-05 00:00:00+00')
  await shows('full_in_at\n2026-02-06 00:00:00+00', '2026-02-09T00:00:00Z')
  await shows('full_in_at\n2026-02-07 00:00:00+00', '2026-02-07T12:00:00Z')
  const rest = `where kind = 'transport event'`
  expect(await scene.read('timeline', { columns: ['occurred_at'], rest })).toHaveLength(1)
})

it('counts loading at the port of lading and berthing at the port of discharge, and no estimate', async () => {
  await scene.insert('shipments', [
    { shipment_id: 's1', port_of_lading_locode: 'CNSHA', port_of_discharge_locode: 'USLAX' },
  ])
  await scene.insert('containers', [
    { container_id: 'c1', shipment_id: 's1' },
    { container_id: 'c2', shipment_id: 's1' },
    { container_id: 'c3', shipment_id: 'never seen' },
  ])
  await scene.insertEvents(`
    container_id | event                    | timestamp            | location_locode
    c1           | vessel_loaded            | 2026-02-01T00:00:00Z | CNSHA
    c1           | vessel_loaded            | 2026-02-09T00:00:00Z | SGSIN
    c1           | vessel_berthed           | 2026-02-10T00:00:00Z | SGSIN
    c1           | estimated.vessel_arrived | 2026-02-20T00:00:00Z | USLAX
    -- Without a place, or without a port to compare it with, it counts.
    c2           | vessel_loaded            | 2026-02-02T00:00:00Z | -
    c2           | vessel_berthed           | 2026-02-20T00:00:00Z | USLAX
    c3           | vessel_loaded            | 2026-02-03T00:00:00Z | SGSIN`)
  await shows(`
    container_id | pol_loaded_at          | pod_berthed_at         | pod_arrived_at
    c1           | 2026-02-01 00:00:00+00 | -                      | -
    c2           | 2026-02-02 00:00:00+00 | 2026-02-20 00:00:00+00 | -
    c3           | 2026-02-03 00:00:00+00 | -                      | -`)
})

it('reads transport events only when one of theirs is asked for, and then by the container', async () => {
  const planFor = (columns: string) =>
    planOf(
      scene.warehouse,
      `select ${columns} from tracking_analytics.journey where shipping_line_scac = 'MAEU'`,
    )
  const plan = await planFor('empty_out_at')
  expect(await planFor('pod_arrived_local, pol_departed_at')).not.toContain('transport_events')
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
  await scene.insertEvents(`
    event     | timestamp         | timezone
    -- The instant of the container, at an inland depot; and a later one elsewhere.
    empty_out | 2026-02-05T00:00Z | Asia/Kolkata
    empty_out | 2026-02-06T00:00Z | Asia/Tokyo
    full_in   | 2026-02-08T00:00Z | Asia/Tokyo`)
  await shows(`
    empty_out_local     | full_in_local       | pol_loaded_local    | pol_departed_local  | delivered_local
    2026-02-05 05:30:00 | 2026-02-07 08:00:00 | 2026-02-10 08:00:00 | 2026-02-10 20:00:00 | 2026-03-20 13:00:00`)
})
