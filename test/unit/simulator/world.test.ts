import { expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { occurrencesBetween } from '../../../src/extensions/simulator/notifications/occurrences.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { createWorld, type RecordType } from '../../../src/extensions/simulator/world/world.js'

const START = new Date('2026-03-04T12:00:00Z')
const DAY = 86_400_000
test('every event of the catalogue is told sooner or later', () => {
  const world = createWorld({ seed: 1, shipments: 100, startAt: START })
  const told = occurrencesBetween(
    world.sources,
    Number.NEGATIVE_INFINITY,
    START.getTime() + 120 * DAY,
  )
  expect(new Set(told.map(({ event }) => event))).toEqual(new Set(WEBHOOK_EVENT_NAMES))
})

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
    const found = records.get(type) ?? [...world.records(type, START)]
    records.set(type, found)
    return found.map(({ attributes }) => attributes![name])
  }
  const words = (type: RecordType, name: string) => [...new Set(values(type, name))].toSorted()
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
