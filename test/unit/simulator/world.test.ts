import { expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { createClock } from '../../../src/extensions/simulator/world/clock.js'
import { isoSeconds, localMidnight } from '../../../src/extensions/simulator/world/local-time.js'
import { includedRecords } from '../../../src/extensions/simulator/notifications/notification-records.js'
import { occurrencesBetween } from '../../../src/extensions/simulator/notifications/occurrences.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import {
  createWorld,
  type RecordType,
  type World,
} from '../../../src/extensions/simulator/world/world.js'

const START = new Date('2026-03-04T12:00:00Z')
const DAY = 86_400_000
const from = START.getTime()

const smallWorld = (seed = 1): World => createWorld({ seed, shipments: 60, startAt: START })
const all = (world: World, type: RecordType, at = START): ResourceObject[] => [
  ...world.records(type, at),
]

test('the same arguments give the same records after any earlier calls', () => {
  const one = smallWorld()
  const other = smallWorld()
  all(other, 'transport_event', new Date(from + 40 * DAY))
  for (const type of ['container', 'shipment', 'tracking_request', 'vessel'] as const) {
    expect(all(other, type)).toEqual(all(one, type))
  }
  const another = smallWorld(2)
  expect(all(another, 'shipment')).not.toEqual(all(one, 'shipment'))
  // An id is of one seed, and a made-up one leads to nothing.
  const [{ id } = { id: '' }] = one.page('shipment', 0, 1, START)
  for (const wrong of [id.toUpperCase(), '4932792a-0154-4f57-83eb-11d4418b6e05', '']) {
    expect(one.record('shipment', wrong, START)).toBeUndefined()
  }
  expect(another.record('shipment', id, START)).toBeUndefined()
})

test('a local day begins at its own midnight on both sides of a clock change', () => {
  const before = Date.parse('2026-03-07T20:00:00Z')
  const midnight = (zone: string, days?: number) => isoSeconds(localMidnight(zone, before, days))
  expect(midnight('America/Los_Angeles')).toBe('2026-03-07T08:00:00Z')
  expect(midnight('America/Los_Angeles', 2)).toBe('2026-03-09T07:00:00Z')
  expect(midnight('Asia/Kolkata')).toBe('2026-03-07T18:30:00Z')
})

test('virtual time runs at its speed, can be stopped and advanced', () => {
  let real = 1_000
  const clock = createClock(START, 60, () => real)
  const passed = (): number => clock.now().getTime() - from
  real += 1_000
  expect(passed()).toBe(60_000)
  clock.setSpeed(1)
  real += 500
  clock.stop()
  real += 10_000
  expect(passed()).toBe(60_500)
  clock.advance(3_600_000)
  expect(passed()).toBe(3_660_500)
})

/** They move by themselves, without anything to tell. */
const VOLATILE = new Set([
  'terminal_checked_at',
  'pod_last_tracking_request_at',
  'shipment_last_tracking_request_at',
  'rail_last_tracking_request_at',
])

const steadyOf = ({ attributes, relationships }: ResourceObject) => ({
  attributes: Object.fromEntries(
    Object.entries(attributes!).filter(([name]) => !VOLATILE.has(name)),
  ),
  transportEvents: relationships!.transport_events,
})

test('what is told brings records that, taken in order, give the state at the end', () => {
  const world = smallWorld()
  const to = from + 10 * DAY
  const carried = new Map<string, ResourceObject>()
  for (const occurrence of occurrencesBetween(world.sources, from, to)) {
    for (const record of includedRecords(world, occurrence, 'none', new Date(occurrence.at))) {
      if (record.type === 'container') carried.set(record.id, record)
    }
  }
  expect(carried.size).toBeGreaterThan(30)
  for (const record of carried.values()) {
    const now = world.record('container', record.id, new Date(to))!
    expect(steadyOf(record)).toEqual(steadyOf(now))
  }
})

test('every event of the catalogue is told sooner or later', () => {
  const world = createWorld({ seed: 1, shipments: 100, startAt: START })
  const told = occurrencesBetween(world.sources, Number.NEGATIVE_INFINITY, from + 120 * DAY)
  expect(new Set(told.map(({ event }) => event))).toEqual(new Set(WEBHOOK_EVENT_NAMES))
})

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

test('every word of the interface occurs, and no other', () => {
  const world = createWorld({ seed: 5, shipments: 1_500, startAt: START })
  const records = new Map<RecordType, ResourceObject[]>()
  const values = (type: RecordType, name: string): unknown[] => {
    const found = records.get(type) ?? all(world, type)
    records.set(type, found)
    return found.map(({ attributes }) => attributes![name])
  }
  const words = (type: RecordType, name: string) => [...new Set(values(type, name))].toSorted()
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
