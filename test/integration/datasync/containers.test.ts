import { expect, it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const read = (columns: readonly string[] = []) =>
  scene.read('tracking_datasync.containers', { columns, rest: 'order by container_id' })

const transportEvent = (id: string, event: string, timestamp: string, more: object = {}) => ({
  container_id: 'c1',
  transport_event_id: id,
  event: `container.transport.${event}`,
  timestamp,
  ...more,
})

test('the customer is of the last request, the inland day of rail', { tags: ['FF6'] }, async () => {
  await scene.insert('shipments', [{ shipment_id: 's1', customer_name: 'Acme' }])
  const inland = { final_destination_timezone: 'America/Chicago' }
  await scene.insert('containers', [
    { ...inland, container_id: 'c1', shipment_id: 's1', ind_facility_lfd_on: '2026-03-18T05:00Z' },
  ])
  await scene.insert(
    'tracking_requests',
    `
    tracking_request_id | customer_id | created_at           | tracked_object_type | tracked_object_id
    q1                  | old         | 2026-01-01T00:00:00Z | shipment            | s1
    q2                  | new         | 2026-02-01T00:00:00Z | shipment            | s1
    q3                  | -           | 2026-03-01T00:00:00Z | shipment            | s1`,
  )
  const table = `
    customer_id | ind_last_free_day_on | ind_last_free_day_on_local
    new         | 2026-03-18 05:00:00  | 2026-03-18 00:00:00`
  await scene.expectRows('tracking_datasync.containers', {}, table)
  await scene.expectRows('tracking_datasync.shipments', {}, 'customer_id\nnew')
})

it('has no wall time in any column of a zone that nobody knows', { tags: ['Z7'] }, async () => {
  const at = '2026-03-08T09:00:00Z'
  const mars = 'Mars/Olympus'
  const columnsOf = async (table: string, condition: string) => {
    const rows = await scene.query(
      `select column_name as name from information_schema.columns
      where (table_schema, table_name) = ${table} and ${condition}`,
    )
    return rows.map(({ name }) => name as string)
  }
  const table = `('tracking', 'containers')`
  const instants = await columnsOf(table, `column_name ~ '^[^_].*_at$'`)
  const zones = await columnsOf(table, `column_name like '%timezone'`)
  await scene.insert('shipments', [{ shipment_id: 's1', pol_timezone: mars, pod_timezone: mars }])
  await scene.insert('containers', [
    {
      ...{ container_id: 'c1', shipment_id: 's1' },
      ...Object.fromEntries(instants.map((name) => [name, at])),
      ...Object.fromEntries(zones.map((name) => [name, mars])),
    },
  ])
  await scene.insert(
    'container_import_deadlines',
    ['pickup_lfd', 'pickup_lfd_line', 'pickup_lfd_rail'].map((kind) => ({
      ...{ container_id: 'c1', kind, deadline_at: at, time_zone: mars, is_zone_known: false },
    })),
  )
  await scene.insert(
    'transport_events',
    ['empty_out', 'full_in', 'vessel_loaded'].map((event) =>
      transportEvent(event, event, at, { timezone: mars }),
    ),
  )
  const twins = await columnsOf(
    `('tracking_datasync', 'containers')`,
    `column_name like '%\\_local'`,
  )
  const [row] = await read(twins.flatMap((twin) => [twin, twin.replace(/_local$/, '')]))
  const set = Object.entries(row!).flatMap(([name, value]) => (value === null ? [] : [name]))
  expect(set.filter((name) => name.endsWith('_local'))).toEqual([])
  expect(set.length).toBeGreaterThan(12)
})

it('never adds demurrage of several currencies', { tags: ['N4'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1' }, { container_id: 'c2' }])
  const fees = `
    container_id | fee_key | amount | currency_code
    c1           | a       | 100.50 | USD
    c1           | b       | 80     | CAD
    c1           | c       | 20.25  | USD
    c2           | a       | 12.30  | -`
  await scene.insert('container_fees', fees, { type: 'demurrage' })
  expect(await read(['demurrage_at_pod_terminal'])).toEqual([
    { demurrage_at_pod_terminal: '80 CAD, 120.75 USD' },
    { demurrage_at_pod_terminal: '12.30' },
  ])
})

it('leaves cells empty, and prefers what the container itself says', async () => {
  const zone = 'America/Los_Angeles'
  const boxes = `
    container_id | shipment_id | availability_known | available_for_pickup | weight_in_lbs  | ssl_lfd              | empty_out_at      | pol_full_in_at    | pol_vessel_loaded_at | pol_vessel_departed_at
    odd          | never seen  | false              | true                 | 99999999999999 | -                    | -                 | -                 | -                    | -
    own          | s1          | -                  | -                    | -              | 2026-03-13T07:00:00Z | 2026-02-05T00:00Z | 2026-02-07T00:00Z | 2026-02-10T00:00Z    | 2026-02-10T12:00Z`
  await scene.insert('shipments', [{ shipment_id: 's1', pol_timezone: 'Asia/Shanghai' }])
  await scene.insert('containers', boxes, { pod_timezone: zone })
  const event = transportEvent('e1', 'empty_out', '2026-02-06T00:00:00Z')
  await scene.insert('transport_events', [
    { ...event, container_id: 'own', timezone: 'Asia/Tokyo', is_estimated: false },
  ])
  // Sent as a bare date, which its twin alone shows.
  const day = { container_id: 'odd', kind: 'pickup_lfd', local_date: '2026-03-13' }
  await scene.insert('container_import_deadlines', [{ ...day, time_zone: zone }])
  // Holds and fees of the inland facility are not at the port.
  const ofRamp = { container_id: 'own', place: 'ramp' }
  const hold = { ...ofRamp, hold_key: 'a', name: 'customs', status: 'hold' }
  await scene.insert('container_holds', [hold])
  const fee = { ...ofRamp, fee_key: 'a', type: 'demurrage', amount: '75', currency_code: 'USD' }
  await scene.insert('container_fees', [fee])
  const shows = (table: string) =>
    scene.expectRows('tracking_datasync.containers', { rest: 'order by container_id' }, table)
  await shows(`
    container_id | shipment_tags | availability_known | available_for_pickup | equipment_type | equipment_height | equipment | weight_in_lbs | pod_last_free_day_on | pod_last_free_day_on_local
    odd          | -             | No                 | -                    | unknown        | unknown          | -         | -             | -                    | 2026-03-13 00:00:00
    own          | -             | -                  | -                    | unknown        | unknown          | -         | -             | -                    | -`)
  await shows(`
    empty_out_at        | empty_out_at_local  | full_in_at          | full_in_at_local    | pol_loaded_at       | pol_loaded_at_local
    -                   | -                   | -                   | -                   | -                   | -
    2026-02-05 00:00:00 | 2026-02-05 08:00:00 | 2026-02-07 00:00:00 | 2026-02-07 08:00:00 | 2026-02-10 00:00:00 | 2026-02-10 08:00:00`)
  await shows(`
    pol_atd_at          | ssl_last_free_day_on | ssl_last_free_day_on_local | customs_hold_at_pod_terminal | demurrage_at_pod_terminal
    -                   | -                    | -                          | -                            | -
    2026-02-10 12:00:00 | 2026-03-13 07:00:00  | 2026-03-13 00:00:00        | -                            | -`)
})
