import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** Noon of 8 November 2026 in Los Angeles. */
const AS_OF = '2026-11-08T20:00:00Z'

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_timezone: LOS_ANGELES,
  ...more,
})

const landed = (container_id: string, more: object = {}) =>
  box(container_id, {
    pod_arrived_at: '2026-11-03T10:00:00Z',
    pod_discharged_at: '2026-11-03T20:00:00Z',
    ...more,
  })

const day = (container_id: string, local_date: string) => ({
  container_id,
  kind: 'pickup_lfd_terminal',
  local_date,
  deadline_at: `${local_date}T08:00:00Z`,
  time_zone: LOS_ANGELES,
})

/** Each container with the names of the columns that are true. */
async function readTrue(names: readonly string[]): Promise<string[]> {
  const rows = await scene.read('journey_facts', {
    asOf: AS_OF,
    columns: ['container_id', ...names],
    rest: 'order by container_id',
  })
  return rows.map(({ container_id: id, ...facts }) =>
    [id, ...Object.keys(facts).filter((name) => facts[name] === true)].join(' '),
  )
}

it('decides what has happened: announced instants have not, statuses count without a milestone', async () => {
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  await insertKnown(scene, 'containers', [
    box('a at sea', {
      pod_arrived_at: '2026-11-09T00:00:00Z',
      pod_discharged_at: '2026-11-09T01:00:00Z',
    }),
    landed('b at the port', {
      pod_full_out_at: '2026-11-09T00:00:00Z',
      current_status: 'picked_up',
    }),
    landed('c by truck', { pod_full_out_at: '2026-11-08T19:00:00Z' }),
    landed('d by its status', { current_status: 'picked_up' }),
    landed('e on the train', { pod_rail_departed_at: '2026-11-05T00:00:00Z' }),
    // A truck took it to the train.
    landed('f at the ramp', {
      pod_full_out_at: '2026-11-04T00:00:00Z',
      ind_ata_at: '2026-11-06T00:00:00Z',
    }),
    landed('g from the ramp', {
      pod_rail_departed_at: '2026-11-04T00:00:00Z',
      ind_ata_at: '2026-11-06T00:00:00Z',
      final_destination_full_out_at: '2026-11-07T00:00:00Z',
    }),
    landed('h back', { empty_terminated_at: '2026-11-07T00:00:00Z' }),
    box('i grounded', { current_status: 'grounded' }),
  ])
  const names = ['has_landed', 'goes_by_rail', 'has_left_port', 'is_on_rail']
  expect(
    await readTrue([...names, 'has_reached_ramp', 'is_delivered', 'is_out', 'is_returned']),
  ).toEqual([
    'a at sea',
    'b at the port has_landed',
    'c by truck has_landed has_left_port is_out',
    'd by its status has_landed has_left_port is_delivered is_out',
    'e on the train has_landed goes_by_rail has_left_port is_on_rail',
    'f at the ramp has_landed goes_by_rail has_left_port has_reached_ramp',
    'g from the ramp has_landed goes_by_rail has_left_port has_reached_ramp is_delivered is_out',
    'h back has_landed has_left_port is_delivered is_out is_returned',
    'i grounded has_landed',
  ])
  const pickups = await scene.read('journey_facts', {
    asOf: AS_OF,
    columns: ['container_id', 'picked_up_at'],
    rest: 'where picked_up_at is not null order by container_id',
  })
  expect(pickups).toEqual([
    { container_id: 'c by truck', picked_up_at: '2026-11-08 19:00:00+00' },
    { container_id: 'g from the ramp', picked_up_at: '2026-11-07 00:00:00+00' },
  ])
})

it('waits for its train until the departure is reported', { tags: ['JA4'] }, async () => {
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  const loaded = { pod_rail_loaded_at: '2026-11-05T20:00:00Z', current_status: 'on_rail' }
  await insertKnown(scene, 'containers', [
    landed('loaded', loaded),
    landed('departed', { ...loaded, pod_rail_departed_at: '2026-11-06T20:00:00Z' }),
    landed('only its status', { current_status: 'on_rail' }),
    landed('not loaded', { pod_rail_carrier_scac: 'BNSF' }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['loaded', 'departed', 'only its status', 'not loaded'].map((id) => day(id, '2026-11-06')),
  )
  const stays = await scene.read('container_stays', {
    asOf: AS_OF,
    columns: ['container_id', 'state', 'days_over', 'is_waiting_for_train'],
    rest: `where place = 'port' order by container_id`,
  })
  expect(stays.map((row) => Object.values(row))).toEqual([
    ['departed', 'out_in_time', null, false],
    ['loaded', 'overdue', 2, true],
    ['not loaded', 'overdue', 2, true],
    ['only its status', 'unknown', null, false],
  ])
  const table = `
    container_id | stage      | is_waiting_for_train | port_last_free_on | port_days_left
    departed     | departed   | false                | -                 | -
    loaded       | loaded     | true                 | 2026-11-06        | -2
    not loaded   | discharged | true                 | 2026-11-06        | -2`
  await expectRows(scene, 'rail', { asOf: AS_OF, rest: 'order by container_id' }, table)
  const lines = await scene.read('attention', {
    asOf: AS_OF,
    columns: ['container_id', 'exception'],
    rest: `where exception = 'overdue' order by container_id`,
  })
  expect(lines.map(({ container_id: id }) => id)).toEqual(['loaded', 'not loaded'])
})

it('is not unknown where the terminal was asked lately', { tags: ['JA11'] }, async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  const checked = {
    asked: '2026-11-06T20:00:01Z',
    'long ago': '2026-11-06T20:00:00Z',
    // A look after the instant asked about says nothing of it.
    later: '2026-11-08T20:00:01Z',
  }
  const ids = [...Object.keys(checked), 'never']
  await insertKnown(
    scene,
    'containers',
    ids.map((id) => landed(id)),
  )
  for (const [id, at] of Object.entries(checked)) {
    await scene.query(
      `update tracking.containers set terminal_checked_at = '${at}' where container_id = '${id}'`,
    )
  }
  await insertKnown(
    scene,
    'container_import_deadlines',
    ids.map((id) => day(id, '2026-11-06')),
  )
  const columns = ['container_id', 'state', 'days_over', 'is_untold']
  const rows = await scene.read('container_stays', { asOf: AS_OF, columns, rest: 'order by 1' })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['asked', 'overdue', 2, false],
    ['later', 'unknown', null, true],
    ['long ago', 'unknown', null, true],
    ['never', 'unknown', null, true],
  ])
})

it('awaits no empty of a container that stands full at the ramp', { tags: ['JA11'] }, async () => {
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  const trucked = { pod_full_out_at: '2026-10-04T20:00:00Z' }
  await insertKnown(scene, 'containers', [
    landed('to the train', { ...trucked, ind_ata_at: '2026-10-06T20:00:00Z' }),
    landed('to its customer', trucked),
  ])
  const out = await scene.read('empty_return_times', { asOf: AS_OF, columns: ['container_id'] })
  expect(out).toEqual([{ container_id: 'to its customer' }])
  const awaited = await scene.read('attention', {
    asOf: AS_OF,
    columns: ['container_id'],
    rest: `where exception = 'empty_not_returned'`,
  })
  expect(awaited).toEqual([{ container_id: 'to its customer' }])
})

it('was left behind where its shipment arrived without it', { tags: ['JA9'] }, async () => {
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      port_of_discharge_name: 'Los Angeles',
      pod_ata_at: '2026-11-06T20:00:00Z',
    },
    { shipment_id: 's2', pod_ata_at: '2026-11-06T20:00:01Z' },
  ])
  await insertKnown(scene, 'containers', [
    box('left behind', { current_status: 'on_ship' }),
    // Announced for a time to come.
    box('to come', { pod_discharged_at: '2026-11-10T00:00:00Z' }),
    box('arrived', { pod_arrived_at: '2026-11-06T20:00:00Z' }),
    box('by its status', { current_status: 'available' }),
    box('just now', { shipment_id: 's2' }),
  ])
  const found = await scene.read('attention', {
    asOf: AS_OF,
    columns: ['container_id', 'severity', 'hours', 'sentence'],
    rest: `where exception = 'left_behind' order by container_id`,
  })
  const rest = [
    ...['medium', '48.0'],
    'its shipment arrived at Los Angeles on 2026-11-06 20:00 UTC, and nobody said that it did',
  ]
  expect(found.map((row) => Object.values(row))).toEqual([
    ['left behind', ...rest],
    ['to come', ...rest],
  ])
})
