import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

/** Hours after Monday 2 March 2026, 12:00 in Los Angeles. */
const at = (hours: number): string =>
  new Date(Date.parse('2026-03-02T20:00:00Z') + hours * 3_600_000).toISOString()
const AS_OF = at(60)

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  pod_timezone: 'America/Los_Angeles',
  ...more,
})

const event = (container_id: string, name: string, hours: number) => ({
  container_id,
  transport_event_id: `${name} ${String(hours)} of ${container_id}`,
  event: `container.transport.${name}`,
  timestamp: at(hours),
  timezone: 'America/Los_Angeles',
  created_at: at(0),
})

/** Each row on a line: container, stage without its words, then the given columns. */
async function readLines(columns: readonly string[]): Promise<string[]> {
  const rows = await scene.read('port_stages', {
    asOf: AS_OF,
    columns: ['container_id', 'stage', ...columns],
    rest: 'order by container_id, stage',
  })
  return rows.map(({ stage, ...row }) =>
    [row.container_id, (stage as string).slice(0, 1), ...columns.map((name) => row[name] ?? '-')]
      .map((value) => value as string | number)
      .join(' '),
  )
}

it('shows every column of a stage', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', port_id: 'p1' },
  ])
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      port_of_discharge_locode: 'USLGB',
      pod_vessel_imo: '9000001',
      pod_vessel_name: 'Emma Maersk',
      pod_voyage_number: '612E',
    },
  ])
  await insertKnown(scene, 'containers', [
    box('c1', {
      shipment_id: 's1',
      pod_terminal_id: 't1',
      pod_discharged_at: at(0),
      pod_full_out_at: at(10.25),
    }),
  ])
  expect(
    await scene.read('port_stages', { asOf: AS_OF, rest: `where stage = '6 discharge to out'` }),
  ).toMatchSnapshot()
})

it('measures the stages that have begun, each from its begin to its end', async () => {
  await insertKnown(scene, 'containers', [
    // Out by truck; its arrival and all that follows are in order.
    box('c1', { pod_arrived_at: at(0), pod_discharged_at: at(7), pod_full_out_at: at(40) }),
    // Discharged, not available; its gate-out and a berthing are to come.
    box('c2', { pod_arrived_at: at(50), pod_discharged_at: at(54), pod_full_out_at: at(61) }),
    box('c3', { pod_arrived_at: at(70) }),
    // It ended before it began; an end at once is one.
    box('c4', { pod_discharged_at: at(10), pod_full_out_at: at(9) }),
    box('c5', { pod_discharged_at: at(10), pod_full_out_at: at(10) }),
  ])
  await scene.insert('transport_events', [
    event('c1', 'vessel_berthed', 3),
    event('c1', 'available', 30),
    event('c2', 'vessel_berthed', 62),
    event('c2', 'available', 63),
  ])
  expect(await readLines(['state', 'waited_hours'])).toEqual([
    'c1 1 over 3',
    'c1 2 over 4',
    'c1 3 over 23',
    'c1 4 over 10',
    'c1 5 over 40',
    'c1 6 over 33',
    'c2 1 not_measured -',
    'c2 3 waiting 6',
    'c2 5 waiting 10',
    'c2 6 waiting 6',
    'c4 3 not_measured -',
    'c4 6 not_measured -',
    'c5 3 not_measured -',
    'c5 6 over 0',
  ])
})

it('does not let wait what has landed or left, also by a status', async () => {
  await insertKnown(scene, 'containers', [
    box('c1', { pod_arrived_at: at(0), current_status: 'grounded' }),
    box('c2', { pod_arrived_at: at(0), current_status: 'on_ship' }),
    // Left, nobody said when: returned empty, or a status.
    box('c3', { pod_discharged_at: at(0), empty_terminated_at: at(50) }),
    box('c4', { pod_discharged_at: at(0), current_status: 'picked_up' }),
    // Loaded on the train, it waits for its departure.
    box('c5', {
      pod_discharged_at: at(0),
      pod_rail_loaded_at: at(20),
      current_status: 'on_rail',
    }),
    // Its terminal says nothing of availability.
    box('c6', { pod_discharged_at: at(0), availability_known: false }),
  ])
  await scene.insert('transport_events', [event('c1', 'vessel_berthed', 5)])
  expect(await readLines(['state', 'waited_hours'])).toEqual([
    'c1 1 over 5',
    'c1 2 not_measured -',
    'c1 5 waiting 60',
    'c2 1 waiting 60',
    'c2 5 waiting 60',
    'c3 3 not_measured -',
    'c3 6 not_measured -',
    'c4 3 not_measured -',
    'c4 6 not_measured -',
    'c5 3 waiting 60',
    'c5 6 waiting 60',
    'c6 3 not_measured -',
    'c6 6 waiting 60',
  ])
})

it('sees an untracked container wait until tracking stopped', async () => {
  const stopped = (shipment_id: string, line_tracking_stopped_at: string | null) => ({
    shipment_id,
    line_tracking_stopped_at,
    line_tracking_stopped_reason: 'no_updates_at_line',
  })
  await insertKnown(scene, 'shipments', [
    stopped('s1', at(30)),
    stopped('s2', null),
    stopped('s3', at(90)),
    stopped('s4', at(-30)),
    { shipment_id: 's5', line_tracking_stopped_at: at(90) },
  ])
  await insertKnown(
    scene,
    'containers',
    [1, 2, 3, 4, 5].map((n) =>
      box(`c${n}`, { shipment_id: `s${n}`, pod_discharged_at: at(10), availability_known: false }),
    ),
  )
  expect(
    (await readLines(['state', 'waited_hours'])).filter((line) => line.includes(' 6 ')),
  ).toEqual([
    'c1 6 unwatched 20',
    'c2 6 unwatched -',
    // It stops tomorrow: seen up to now.
    'c3 6 unwatched 50',
    // It had stopped before: nobody saw it wait.
    'c4 6 unwatched 0',
    'c5 6 waiting 50',
  ])
})

it('goes by truck or rail as it left, else as it is expected to', async () => {
  const landed = { pod_discharged_at: at(0) }
  await insertKnown(scene, 'containers', [
    box('c1', { ...landed, pod_full_out_at: at(9), pod_rail_departed_at: at(9) }),
    box('c2', { ...landed, pod_full_out_at: at(9), pod_rail_departed_at: at(8) }),
    // A truck took it to the train.
    box('c3', { ...landed, pod_full_out_at: at(7), pod_rail_departed_at: at(8) }),
    box('c4', landed),
    box('c5', { ...landed, ind_rail_carrier_scac: 'BNSF' }),
    // Picked up inland, and nobody said when it left the port.
    box('c6', { ...landed, final_destination_full_out_at: at(50) }),
  ])
  const rows = await scene.read('port_stages', {
    asOf: AS_OF,
    columns: ['container_id', 'mode'],
    rest: `where stage = '6 discharge to out' order by 1`,
  })
  expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
    'c1 truck',
    'c2 rail',
    'c3 truck',
    'c4 truck',
    'c5 rail',
    'c6 rail',
  ])
})

it('begins in the local week, and came with a vessel and voyage', async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', pod_vessel_name: ' Emma Maersk', port_of_discharge_locode: 'USLGB' },
    { shipment_id: 's2', pod_voyage_number: '612E' },
  ])
  // Sunday 22:00 there is Monday in UTC.
  const landed = { pod_discharged_at: '2026-03-02T06:00:00Z', availability_known: false }
  await insertKnown(scene, 'containers', [
    box('c1', { ...landed, shipment_id: 's1' }),
    box('c2', { ...landed, shipment_id: 's2', pod_timezone: null }),
    box('c3', { ...landed, pod_timezone: 'Mars/Olympus' }),
  ])
  const rows = await scene.read('port_stages', {
    asOf: AS_OF,
    columns: ['container_id', 'port_locode', 'week_on', 'is_zone_known', 'vessel_call'],
    rest: `where stage = '6 discharge to out' order by 1`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['c1', 'USLGB', '2026-02-23', true, 'EMMA MAERSK'],
    ['c2', null, '2026-03-02', false, null],
    ['c3', null, null, false, null],
  ])
})
