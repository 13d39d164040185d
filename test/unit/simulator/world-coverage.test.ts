import { beforeAll, expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { createWorld, type World } from '../../../src/extensions/simulator/world/world.js'
import { START } from './simulator-client.js'

const EVENTS = `
container.transport.vessel_arrived container.transport.estimated.vessel_arrived
container.transport.vessel_discharged container.transport.vessel_loaded container.transport.vessel_departed
container.transport.estimated.vessel_departed container.transport.rail_departed container.transport.rail_arrived
container.transport.rail_loaded container.transport.rail_unloaded container.transport.transshipment_arrived
container.transport.transshipment_discharged container.transport.transshipment_loaded
container.transport.transshipment_departed container.transport.feeder_arrived container.transport.feeder_discharged
container.transport.feeder_loaded container.transport.feeder_departed container.transport.empty_out
container.transport.full_in container.transport.full_out container.transport.empty_in
container.transport.vessel_berthed container.transport.arrived_at_inland_destination
container.transport.estimated.arrived_at_inland_destination container.pickup_lfd.changed
container.pickup_lfd_line.changed container.pickup_lfd_terminal.changed container.pickup_lfd_rail.changed
container.pickup_appointment.changed container.transport.available container.transport.not_available
container.transport.delivered document.extracted document.extraction_failed`
  .trim()
  .split(/\s+/)

const STATUSES =
  `new on_ship available not_available grounded on_rail picked_up off_dock delivered dropped loaded
empty_returned awaiting_inland_transfer`.split(/\s+/)

const STOP_REASONS =
  `all_containers_terminated past_arrival_window past_full_out_window no_updates_at_line
cancelled_by_user booking_cancelled`.split(/\s+/)

const TYPES = ['container', 'shipment', 'transport_event', 'tracking_request'] as const
type Walked = (typeof TYPES)[number]
let world: World
let records: Record<Walked, ResourceObject[]>

beforeAll(() => {
  world = createWorld({ seed: 5, shipments: 1_500, startAt: START })
  const walked = TYPES.map((type) => [type, [...world.records(type, START)]])
  records = Object.fromEntries(walked) as Record<Walked, ResourceObject[]>
})

function values(type: Walked, name: string): unknown[] {
  return records[type].map(({ attributes }) => attributes![name])
}

test('every word of the interface occurs, and no other', () => {
  const words = (type: Walked, name: string) => [...new Set(values(type, name))].toSorted()
  expect(words('transport_event', 'event')).toEqual(EVENTS.toSorted())
  expect({
    sources: words('transport_event', 'data_source'),
    statuses: words('container', 'current_status'),
    lengths: words('container', 'equipment_length'),
    types: words('container', 'equipment_type'),
    stops: words('shipment', 'line_tracking_stopped_reason').filter((reason) => reason !== null),
    requests: words('tracking_request', 'status'),
  }).toEqual({
    lengths: [10, 20, 40, 45, 50],
    requests: ['awaiting_manifest', 'created', 'failed', 'tracking_stopped'],
    sources: ['ais', 'rail', 'shipping_line', 't49_operations_team', 'terminal', 'user_input'],
    statuses: STATUSES.toSorted(),
    stops: STOP_REASONS.toSorted(),
    types: ['bulk', 'dry', 'flat rack', 'hard top', null, 'open top', 'reefer', 'tank'],
  })
  const holds = values('container', 'holds_at_pod_terminal') as Readonly<
    Record<string, unknown>
  >[][]
  const fees = (values('container', 'fees_at_pod_terminal') as typeof holds).flat()
  const of = (records: typeof fees, name: string) => [...new Set(records.map((one) => one[name]))]
  expect(of(holds.flat(), 'status').toSorted()).toEqual(['hold', 'pending'])
  expect(of(holds.flat(), 'name').length).toBeGreaterThanOrEqual(5)
  expect(of(holds.flat(), 'description')).toContain(null)
  expect(of(fees, 'type').toSorted().join(' ')).toBe(
    'demurrage exam extended_dwell_time other total',
  )
  expect(of(fees, 'currency_code').length).toBeGreaterThan(1)
  // Some container has two holds of one name.
  expect(holds.filter((some) => of(some, 'name').length < some.length)).not.toEqual([])
})

test('ships sail round the continents', { tags: ['JE7'] }, () => {
  // Far inland, all of them: latitude from and to, longitude from and to.
  const lands = [
    ['Asia', 24, 65, 60, 116],
    ['India', 12, 26, 76, 79],
    ['Arabia', 18, 30, 43, 50],
    ['Africa', -20, 28, 14, 32],
    ['North Africa', 18, 34, -6, 8],
    ['Europe', 46, 52, 10, 30],
    ['Spain', 38.5, 42, -6, -2],
    ['North America', 32, 65, -116, -83],
    ['Mexico', 20, 30, -103, -100],
    ['South America', -30, 5, -70, -50],
    ['Australia', -30, -18, 120, 145],
  ] as const
  let count = 0
  for (const { id } of world.records('vessel', START)) {
    const vessel = world.vesselWithPositions(id, START)!
    for (const { latitude, longitude } of vessel.attributes!.positions as Position[]) {
      count += 1
      const ashore = lands.find(
        ([, south, north, west, east]) =>
          south < latitude && latitude < north && west < longitude && longitude < east,
      )
      expect(ashore, `${vessel.attributes!.name as string} at ${latitude}, ${longitude}`).toBe(
        undefined,
      )
    }
  }
  expect(count).toBeGreaterThan(1_000)
})

interface Position {
  readonly latitude: number
  readonly longitude: number
}
