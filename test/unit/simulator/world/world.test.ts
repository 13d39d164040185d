import { describe, expect, test } from 'vitest'
import type {
  Relationship,
  ResourceIdentifier,
  ResourceObject,
} from '../../../../src/source/jsonapi/document.js'
import { createClock } from '../../../../src/extensions/simulator/world/clock.js'
import { isoSeconds, localMidnight } from '../../../../src/extensions/simulator/world/local-time.js'
import { latestDay } from '../../../support/snapshot-children.js'
import {
  createWorld,
  type RecordType,
  type World,
} from '../../../../src/extensions/simulator/world/world.js'
import { START } from '../simulator-client.js'

const DAY = 86_400_000
const later = (days: number): Date => new Date(START.getTime() + days * DAY)
const INSTANTS = [-100, -60, -30, -7, 0, 15, 60].map(later)

type Attributes = Readonly<Record<string, unknown>>

const smallWorld = (seed = 1): World => createWorld({ seed, shipments: 60, startAt: START })
const all = (world: World, type: RecordType, at: Date): ResourceObject[] => [
  ...world.records(type, at),
]
const linked = (relationship: Relationship | undefined): ResourceIdentifier[] => {
  const data = relationship?.data
  return (Array.isArray(data) ? data : data ? [data] : []) as ResourceIdentifier[]
}

test('the same arguments give the same records after any earlier calls', () => {
  const one = smallWorld()
  const other = smallWorld()
  all(other, 'transport_event', later(40))
  for (const type of ['container', 'shipment', 'tracking_request', 'vessel'] as const) {
    expect(all(other, type, START)).toEqual(all(one, type, START))
  }
  const another = smallWorld(2)
  expect(all(another, 'shipment', START)).not.toEqual(all(one, 'shipment', START))
  // An id is of one seed, and a made-up one leads to nothing.
  const [{ id } = { id: '' }] = one.page('shipment', 0, 1, START)
  for (const wrong of [id.toUpperCase(), '4932792a-0154-4f57-83eb-11d4418b6e05', '']) {
    expect(one.record('shipment', wrong, START)).toBeUndefined()
  }
  expect(another.record('shipment', id, START)).toBeUndefined()
})

const ORDER = [
  'empty_out_at',
  'pol_full_in_at',
  'pol_vessel_loaded_at',
  'pol_vessel_departed_at',
  'pod_arrived_at',
  'pod_discharged_at',
  'pod_rail_loaded_at',
  'pod_rail_departed_at',
  'ind_ata_at',
  'ind_rail_unloaded_at',
  'final_destination_full_out_at',
  'pod_full_out_at',
  'delivered_at',
  'empty_terminated_at',
]

const ANNOUNCED = ['pod_full_out_at', 'final_destination_full_out_at', 'empty_terminated_at']

describe('a container over its life', () => {
  const world = smallWorld()
  const seen = new Map<string, Readonly<Record<string, unknown>>>()
  const corrected = new Set<string>()
  const statuses = new Set<string>()
  const count = { held: 0, available: 0, fees: 0, days: 0 }

  test.each(INSTANTS.map((at) => [at.toISOString(), at] as const))('%s', (_, at) => {
    for (const { id, attributes, relationships } of all(world, 'container', at)) {
      const a = attributes!
      expectMilestones(a, at)
      expectCorrections(id, a)
      expectStatus(a)
      expectHoldsAndFees(a)
      expectDays(a)
      const named = (name: string) => linked(relationships![name]).map((link) => link.id)
      const idsOf = (records: readonly ResourceObject[]) => records.map((record) => record.id)
      expect(named('transport_events')).toEqual(idsOf(world.transportEventsOf(id, at)))
      expect(named('raw_events')).toEqual(idsOf(world.rawEventsOf(id, at)))
    }
  })

  test('has shown all of this', () => {
    expect(corrected.size).toBeGreaterThan(0)
    expect(Math.min(...Object.values(count))).toBeGreaterThan(0)
    expect(count.days).toBeGreaterThan(100)
    expect(statuses.size).toBeGreaterThan(7)
  })

  /** In order. Only the last may be in the future: a terminal says it up to two days too soon. */
  function expectMilestones(a: Attributes, at: Date): void {
    const shown = ORDER.filter((name) => a[name] !== null)
    const times = shown.map((name) => Date.parse(a[name] as string))
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(new Set(times).size).toBe(times.length)
    const toCome = shown.filter((_, nth) => times[nth]! > at.getTime())
    expect([[], ...ANNOUNCED.map((name) => [name])]).toContainEqual(toCome)
    expect(Math.max(0, ...times)).toBeLessThanOrEqual(at.getTime() + 2 * DAY)
  }

  /** No milestone is lost, and a discharge is corrected at most once, by two hours. */
  function expectCorrections(id: string, a: Attributes): void {
    for (const name of ORDER) {
      const before = seen.get(id)?.[name] as string | null | undefined
      if (!before || a[name] === before) continue
      expect(name).toBe('pod_discharged_at')
      expect(Date.parse(a[name] as string) - Date.parse(before)).toBe(2 * 3_600_000)
      expect(corrected).not.toContain(id)
      corrected.add(id)
    }
    seen.set(id, { ...a })
  }

  function expectStatus(a: Attributes): void {
    const status = String(a.current_status)
    statuses.add(status)
    const isOut = Boolean(a.pod_full_out_at ?? a.final_destination_full_out_at)
    expect(status === 'empty_returned').toBe(a.empty_terminated_at !== null)
    expect(['picked_up', 'delivered', 'dropped', 'empty_returned'].includes(status)).toBe(isOut)
    if (status === 'on_ship') expect(a.pod_discharged_at).toBeNull()
    if (status === 'new') expect(a.pol_vessel_loaded_at).toBeNull()
    if (status === 'on_rail') expect(a.pod_rail_loaded_at).not.toBeNull()
    if (status === 'awaiting_inland_transfer') expect(a.pod_discharged_at).not.toBeNull()
  }

  /** It is available only without a hold in force, at its terminal; fees of whole cents add up. */
  function expectHoldsAndFees(a: Attributes): void {
    const isHeld = (a.holds_at_pod_terminal as { status: string }[]).some(
      ({ status }) => status === 'hold',
    )
    if (isHeld) count.held += 1
    if (a.available_for_pickup === true) {
      count.available += 1
      expect([isHeld, a.availability_known]).toEqual([false, true])
      expect(a.pod_discharged_at).not.toBeNull()
    }
    const fees = a.fees_at_pod_terminal as { type: string; amount: number }[]
    if (fees.length === 0) return
    count.fees += 1
    const cents = fees
      .filter(({ type }) => type !== 'total')
      .reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
    expect(fees.at(-1)).toMatchObject({ type: 'total', amount: cents / 100 })
  }

  /** Last free days begin at midnight of the place. */
  function expectDays(a: Attributes): void {
    const [terminal, line, rail] = ['terminal', 'line', 'rail'].map(
      (at) => latestDay((a.import_deadlines as Attributes)[`pickup_lfd_${at}`]) as string | null,
    )
    for (const [day, timeZone] of [
      [terminal, a.pod_timezone],
      [line, a.pod_timezone],
      [rail, a.final_destination_timezone],
    ]) {
      if (!day || typeof timeZone !== 'string') continue
      count.days += 1
      expect(new Date(day as string).toLocaleTimeString('en-GB', { timeZone })).toBe('00:00:00')
    }
    expect(a.pickup_lfd).toBe(line ?? terminal ?? rail)
    expect(a.ind_facility_lfd_on).toBe(rail)
  }
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
  const passed = (): number => clock.now().getTime() - START.getTime()
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
