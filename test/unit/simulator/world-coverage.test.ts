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

const STOP_REASONS = [
  'all_containers_terminated',
  'past_arrival_window',
  'past_full_out_window',
  'no_updates_at_line',
  'cancelled_by_user',
  'booking_cancelled',
]

const DAY = 86_400_000
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

test('every transport event name of the interface occurs, and no other', () => {
  expect(EVENTS).toHaveLength(35)
  expect([...new Set(values('transport_event', 'event'))].toSorted()).toEqual(EVENTS.toSorted())
  expect(new Set(values('transport_event', 'data_source'))).toEqual(
    new Set(['shipping_line', 'terminal', 'ais', 'rail', 't49_operations_team', 'user_input']),
  )
})

test('every container status, hold and fee of the interface occurs', () => {
  expect([...new Set(values('container', 'current_status'))].toSorted()).toEqual(
    STATUSES.toSorted(),
  )
  const holds = values('container', 'holds_at_pod_terminal').flat() as Record<string, unknown>[]
  expect(new Set(holds.map(({ status }) => status))).toEqual(new Set(['pending', 'hold']))
  expect(new Set(holds.map(({ name }) => name)).size).toBeGreaterThanOrEqual(5)
  expect(holds.some(({ description }) => description === null)).toBe(true)
  const fees = values('container', 'fees_at_pod_terminal').flat() as Record<string, unknown>[]
  expect(new Set(fees.map(({ type }) => type))).toEqual(
    new Set(['demurrage', 'exam', 'extended_dwell_time', 'other', 'total']),
  )
  expect(new Set(fees.map(({ currency_code: code }) => code)).size).toBeGreaterThan(1)
})

test('some container has two holds of one name', () => {
  const twins = (values('container', 'holds_at_pod_terminal') as { name: string }[][]).filter(
    (holds) => new Set(holds.map(({ name }) => name)).size < holds.length,
  )
  expect(twins.length).toBeGreaterThan(0)
})

test('every equipment of the interface occurs', () => {
  expect(new Set(values('container', 'equipment_length'))).toEqual(new Set([10, 20, 40, 45, 50]))
  expect(new Set(values('container', 'equipment_type'))).toEqual(
    new Set(['dry', 'reefer', 'open top', 'flat rack', 'bulk', 'tank', 'hard top', null]),
  )
})

test('tracking stops for every reason, and names the user who stopped it', () => {
  const stopped = records.shipment.filter(
    ({ attributes }) => attributes!.line_tracking_stopped_at !== null,
  )
  const reasons = stopped.map(({ attributes }) => String(attributes!.line_tracking_stopped_reason))
  expect([...new Set(reasons)].toSorted()).toEqual(STOP_REASONS.toSorted())
  for (const { attributes, relationships } of records.shipment) {
    const isUserStop = attributes!.line_tracking_stopped_reason === 'cancelled_by_user'
    const user = relationships!.line_tracking_stopped_by_user!.data
    if (isUserStop) expect(user).toMatchObject({ type: 'user' })
    else expect(user).toBeNull()
  }
})

test('a stopped shipment no longer changes', () => {
  const stopped = records.shipment.filter(
    ({ attributes }) => attributes!.line_tracking_stopped_at !== null,
  )
  const at = new Date(START.getTime() + 30 * DAY)
  for (const shipment of stopped.slice(0, 200)) {
    expect(world.record('shipment', shipment.id, at)).toEqual(shipment)
    expect(world.containersOf(shipment.id, at)).toEqual(world.containersOf(shipment.id, START))
  }
})

test('tracking requests succeed, fail with a reason, and wait', () => {
  const statuses = new Set(values('tracking_request', 'status'))
  expect(statuses).toContain('created')
  expect(statuses).toContain('failed')
  expect(statuses).toContain('awaiting_manifest')
  expect(statuses).toContain('tracking_stopped')
  for (const { attributes, relationships } of records.tracking_request) {
    const isFailed = attributes!.status === 'failed'
    expect(attributes!.failed_reason !== null).toBe(isFailed)
    const isCreated = ['created', 'tracking_stopped'].includes(attributes!.status as string)
    expect(relationships!.tracked_object!.data !== null).toBe(isCreated)
  }
})

test('estimates are revised and end near the truth', () => {
  let revised = 0
  let compared = 0
  for (const shipment of world.page('shipment', 900, 300, START)) {
    const a = shipment.attributes!
    if (a.pod_eta_at === null) continue
    if (a.pod_eta_at !== a.pod_original_eta_at) revised += 1
    const eta = Date.parse(a.pod_eta_at as string)
    const arrived = a.pod_ata_at === null ? undefined : Date.parse(a.pod_ata_at as string)
    if (arrived === undefined) continue
    compared += 1
    expect(Math.abs(eta - arrived)).toBeLessThan(3 * 3_600_000)
  }
  expect(revised).toBeGreaterThan(100)
  expect(compared).toBeGreaterThan(50)
})

test('an estimated event is replaced by another id when the estimate moves', () => {
  let replaced = 0
  for (const { id } of world.page('container', 0, 800, START)) {
    const before = new Set(world.transportEventsOf(id, START).map((event) => event.id))
    const after = new Date(START.getTime() + 10 * DAY)
    const now = new Set(world.transportEventsOf(id, after).map((event) => event.id))
    replaced += [...before].filter((event) => !now.has(event)).length
  }
  expect(replaced).toBeGreaterThan(20)
})

test('some last free days move, and each move is an event of its own', () => {
  let moved = 0
  for (const { id } of records.container) {
    const changes = world
      .transportEventsOf(id, START)
      .filter(({ attributes }) => attributes!.event === 'container.pickup_lfd_terminal.changed')
    if (changes.length > 1) moved += 1
  }
  expect(moved).toBeGreaterThan(20)
})

test('places that are not told leave zone and UN/LOCODE null together', () => {
  const events = records.transport_event
  const placeless = events.filter(({ attributes }) => attributes!.timezone === null)
  expect(placeless.length).toBeGreaterThan(50)
  for (const { attributes, relationships } of placeless) {
    expect(attributes!.location_locode).toBeNull()
    expect(relationships!.location!.data).toBeNull()
  }
  expect(new Set(events.map(({ relationships }) => typeOf(relationships!.location!.data)))).toEqual(
    new Set(['port', 'metro_area', undefined]),
  )
  expect(new Set(events.map(({ relationships }) => typeOf(relationships!.terminal!.data)))).toEqual(
    new Set(['terminal', 'rail_terminal', undefined]),
  )
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

function typeOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
}
