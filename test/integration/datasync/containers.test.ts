import { expect, it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { rowsOf } from '../../support/tables.js'

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
  await scene.insert('containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      ind_facility_lfd_on: '2026-03-18T05:00:00Z',
      final_destination_timezone: 'America/Chicago',
    },
  ])
  await scene.insert(
    'tracking_requests',
    rowsOf(`
    tracking_request_id | customer_id | created_at           | tracked_object_type | tracked_object_id
    q1                  | old         | 2026-01-01T00:00:00Z | shipment            | s1
    q2                  | new         | 2026-02-01T00:00:00Z | shipment            | s1
    q3                  | -           | 2026-03-01T00:00:00Z | shipment            | s1`),
  )
  expect(await read(['customer_id', 'ind_last_free_day_on', 'ind_last_free_day_on_local'])).toEqual(
    [
      {
        customer_id: 'new',
        ...moment('ind_last_free_day_on', '2026-03-18 05:00', '2026-03-18 00:00'),
      },
    ],
  )
  expect(await scene.read('tracking_datasync.shipments', { columns: ['customer_id'] })).toEqual([
    { customer_id: 'new' },
  ])
})

function moment(column: string, utc: string, local: string): Record<string, unknown> {
  return { [column]: `${utc}:00`, [`${column}_local`]: `${local}:00` }
}

it('has no wall time in a zone that nobody knows', { tags: ['Z7'] }, async () => {
  const pod_arrived_at = '2026-03-08T09:00:00Z'
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', pod_arrived_at },
    { container_id: 'c2', number: 'B', pod_arrived_at, pod_timezone: 'Mars/Olympus' },
  ])
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', '2026-02-05T01:00:00Z'),
    transportEvent('e2', 'full_in', '2026-02-05T01:00:00Z', { timezone: 'UTC+3' }),
  ])
  const columns = ['pod_arrived_at', 'empty_out_at', 'full_in_at'].flatMap((column) => [
    column,
    `${column}_local`,
  ])
  expect(await read(columns)).toMatchSnapshot()
})

it('has no wall time in any column of a zone that nobody knows', { tags: ['Z7'] }, async () => {
  const at = '2026-03-08T09:00:00Z'
  const mars = 'Mars/Olympus'
  await scene.insert('containers', [
    {
      container_id: 'c1',
      number: 'A',
      pod_timezone: mars,
      final_destination_timezone: mars,
      empty_terminated_timezone: mars,
      pod_arrived_at: at,
      pod_discharged_at: at,
      pickup_appointment_at: at,
      pod_full_out_at: at,
      pod_rail_loaded_at: at,
      pod_rail_departed_at: at,
      ind_eta_at: at,
      ind_ata_at: at,
      ind_rail_unloaded_at: at,
      final_destination_full_out_at: at,
      empty_terminated_at: at,
    },
  ])
  await scene.insert(
    'container_import_deadlines',
    ['pickup_lfd', 'pickup_lfd_line', 'pickup_lfd_rail'].map((kind) => ({
      container_id: 'c1',
      kind,
      deadline_at: at,
      time_zone: mars,
      local_date: null,
      is_zone_known: false,
    })),
  )
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', at, { timezone: mars }),
    transportEvent('e2', 'full_in', at, { timezone: mars }),
    transportEvent('e3', 'vessel_loaded', at, { timezone: mars }),
  ])
  const columns = (await scene.query(
    `select column_name as name from information_schema.columns
    where table_schema = 'tracking_datasync' and table_name = 'containers'
        and column_name like '%\\_local'`,
  )) as { readonly name: string }[]
  const twins = columns.map(({ name }) => name)
  const [row] = await read(twins.flatMap((twin) => [twin, twin.replace(/_local$/, '')]))
  const entries = Object.entries(row!)
  expect(entries.filter(([name, value]) => name.endsWith('_local') && value !== null)).toEqual([])
  const set = entries.filter(([, value]) => value !== null).map(([name]) => name)
  const times = [
    'empty_out_at',
    'pod_arrived_at',
    'pod_full_out_at',
    'ind_eta_at',
    'ind_arrived_at',
  ]
  expect(set).toEqual(expect.arrayContaining([...times, 'empty_terminated_at']))
})

it('shows a last free day that was sent as a bare date in its twin alone', async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', pod_timezone: 'America/Los_Angeles' },
  ])
  await scene.insert('container_import_deadlines', [
    {
      container_id: 'c1',
      kind: 'pickup_lfd',
      deadline_at: null,
      time_zone: 'America/Los_Angeles',
      local_date: '2026-03-13',
    },
  ])
  expect(await read(['pod_last_free_day_on', 'pod_last_free_day_on_local'])).toEqual([
    { pod_last_free_day_on: null, pod_last_free_day_on_local: '2026-03-13 00:00:00' },
  ])
})

it('never adds demurrage of several currencies', { tags: ['N4'] }, async () => {
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A' },
    { container_id: 'c2', number: 'B' },
  ])
  const fee = (container_id: string, fee_key: string, amount: string, currency: string | null) => ({
    container_id,
    fee_key,
    type: 'demurrage',
    amount,
    currency_code: currency,
  })
  await scene.insert('container_fees', [
    fee('c1', 'a', '100.50', 'USD'),
    fee('c1', 'b', '80', 'CAD'),
    fee('c1', 'c', '20.25', 'USD'),
    fee('c2', 'a', '12.30', null),
  ])
  expect(await read(['demurrage_at_pod_terminal'])).toEqual([
    { demurrage_at_pod_terminal: '80 CAD, 120.75 USD' },
    { demurrage_at_pod_terminal: '12.30' },
  ])
})

it('leaves cells empty that are not known, and no odd value breaks the view', async () => {
  await scene.insert('containers', [
    {
      container_id: 'c1',
      number: 'A',
      shipment_id: 'never seen',
      availability_known: false,
      available_for_pickup: true,
      weight_in_lbs: '99999999999999',
    },
  ])
  const columns = [
    'shipment_id',
    'shipment_tags',
    'availability_known',
    'available_for_pickup',
    'equipment_type',
    'equipment_height',
    'equipment',
    'weight_in_lbs',
    'demurrage_at_pod_terminal',
  ]
  expect(await read(columns)).toEqual([
    {
      shipment_id: 'never seen',
      shipment_tags: null,
      availability_known: 'No',
      available_for_pickup: null,
      equipment_type: 'unknown',
      equipment_height: 'unknown',
      equipment: null,
      weight_in_lbs: null,
      demurrage_at_pod_terminal: null,
    },
  ])
})

it('leaves out what is tombstoned: containers, shipments, transport events', async () => {
  const _deleted_at = '2026-03-01T00:00:00Z'
  await scene.insert('shipments', [{ shipment_id: 's1', shipping_line_scac: 'MAEU', _deleted_at }])
  await scene.insert('containers', [
    { container_id: 'c1', number: 'A', shipment_id: 's1' },
    { container_id: 'c2', number: 'B', _deleted_at },
  ])
  await scene.insert('transport_events', [
    transportEvent('e1', 'empty_out', '2026-02-05T01:00:00Z', { _deleted_at }),
  ])
  expect(await read(['container_id', 'shipment_id', 'shipping_line_scac', 'empty_out_at'])).toEqual(
    [{ container_id: 'c1', shipment_id: 's1', shipping_line_scac: null, empty_out_at: null }],
  )
})

it("prefers the container's own milestones and reads the older name of the line's day", async () => {
  await scene.insert('shipments', [{ shipment_id: 's1', pol_timezone: 'Asia/Shanghai' }])
  await scene.insert('containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      pod_timezone: 'America/Los_Angeles',
      empty_out_at: '2026-02-05T00:00:00Z',
      pol_full_in_at: '2026-02-07T00:00:00Z',
      pol_vessel_loaded_at: '2026-02-10T00:00:00Z',
      pol_vessel_departed_at: '2026-02-10T12:00:00Z',
      ssl_lfd: '2026-03-13T07:00:00Z',
    },
  ])
  await scene.insert('transport_events', [
    {
      container_id: 'c1',
      transport_event_id: 'e1',
      event: 'container.transport.empty_out',
      timestamp: '2026-02-06T00:00:00Z',
      timezone: 'Asia/Tokyo',
      is_estimated: false,
    },
  ])
  await scene.insert('container_holds', [
    { container_id: 'c1', hold_key: 'a', place: 'ramp', name: 'customs', status: 'hold' },
  ])
  await scene.insert('container_fees', [
    {
      container_id: 'c1',
      fee_key: 'a',
      place: 'ramp',
      type: 'demurrage',
      amount: '75',
      currency_code: 'USD',
    },
  ])
  const times = ['empty_out_at', 'full_in_at', 'pol_loaded_at', 'pol_atd_at']
  const [row] = await read([
    ...[...times, 'ssl_last_free_day_on'].flatMap((name) => [name, `${name}_local`]),
    'customs_hold_at_pod_terminal',
    'demurrage_at_pod_terminal',
  ])
  expect(row).toMatchObject({
    ...moment('empty_out_at', '2026-02-05 00:00', '2026-02-05 08:00'),
    ...moment('full_in_at', '2026-02-07 00:00', '2026-02-07 08:00'),
    ...moment('pol_loaded_at', '2026-02-10 00:00', '2026-02-10 08:00'),
    pol_atd_at: '2026-02-10 12:00:00',
    ...moment('ssl_last_free_day_on', '2026-03-13 07:00', '2026-03-13 00:00'),
    // Holds of the inland facility are not at the port.
    customs_hold_at_pod_terminal: null,
    demurrage_at_pod_terminal: null,
  })
})
