import { describe, expect, test } from 'vitest'
import type {
  Relationship,
  ResourceIdentifier,
  ResourceObject,
} from '../../../../src/source/jsonapi/document.js'
import {
  containerCheckDigit,
  imoCheckDigit,
} from '../../../../src/extensions/simulator/world/check-digits.js'
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

const smallWorld = (seed = 1): World => createWorld({ seed, shipments: 120, startAt: START })
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
  expect(all(smallWorld(2), 'shipment', START)).not.toEqual(all(one, 'shipment', START))
})

test('every listed record is found again by its id, and only under its own type', () => {
  const world = smallWorld()
  for (const type of Object.keys(world.counts(START)) as RecordType[]) {
    const records = all(world, type, START)
    for (const record of records) {
      expect(world.record(type, record.id, START)).toEqual(record)
      expect(world.record('elsewhere', record.id, START)).toBeUndefined()
    }
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
  }
})

test('lists are as long as the counts say and newest first', () => {
  const world = smallWorld()
  for (const at of INSTANTS) {
    const counts = world.counts(at)
    for (const type of ['shipment', 'container', 'tracking_request'] as const) {
      const created = all(world, type, at).map(({ attributes }) =>
        Date.parse(String(attributes!.created_at)),
      )
      expect(created).toHaveLength(counts[type])
      expect(created).toEqual(created.toSorted((a, b) => b - a))
      expect(Math.max(0, ...created)).toBeLessThanOrEqual(at.getTime())
    }
  }
})

test('every relationship leads to a record, except to raw events, users, customers and what was replaced', () => {
  const world = smallWorld()
  for (const at of [later(-40), START]) {
    for (const type of [
      'shipment',
      'container',
      'transport_event',
      'tracking_request',
      'port',
      'terminal',
      'rail_terminal',
    ] as const) {
      for (const record of all(world, type, at)) {
        const { previous_version: replaced, ...others } = record.relationships ?? {}
        expect(linked(replaced ?? { data: null }).every(({ id }) => id !== record.id)).toBe(true)
        for (const link of Object.values(others).flatMap(linked)) {
          if (['raw_event', 'user', 'party'].includes(link.type)) continue
          expect(world.record(link.type, link.id, at), `${type} → ${link.type}`).toBeDefined()
        }
      }
    }
  }
})

test('a container names exactly the events and raw events it has', () => {
  const world = smallWorld()
  for (const at of INSTANTS) {
    for (const container of all(world, 'container', at)) {
      const ids = linked(container.relationships!.transport_events).map(({ id }) => id)
      expect(ids).toEqual(world.transportEventsOf(container.id, at).map(({ id }) => id))
      const raw = linked(container.relationships!.raw_events).map(({ id }) => id)
      expect(raw).toEqual(world.rawEventsOf(container.id, at).map(({ id }) => id))
    }
  }
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

  test('has its milestones in order, and none in the future but what was announced', () => {
    for (const at of INSTANTS) {
      for (const { attributes } of all(world, 'container', at)) {
        const shown = ORDER.filter((name) => attributes![name] !== null)
        const times = shown.map((name) => Date.parse(attributes![name] as string))
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        expect(new Set(times).size).toBe(times.length)
        // The last one alone, which a terminal says up to two days too soon.
        const toCome = shown.filter((_, nth) => times[nth]! > at.getTime())
        expect([[], ...ANNOUNCED.map((name) => [name])]).toContainEqual(toCome)
        expect(Math.max(0, ...times)).toBeLessThanOrEqual(at.getTime() + 2 * DAY)
      }
    }
  })

  test('never loses a milestone again, and corrects a discharge at most once, by two hours', () => {
    const seen = new Map<string, Record<string, unknown>>()
    const corrected = new Set<string>()
    for (const at of INSTANTS) {
      for (const { id, attributes } of all(world, 'container', at)) {
        for (const name of ORDER) {
          const before = seen.get(id)?.[name] as string | null | undefined
          const now = attributes![name] as string | null
          if (!before || now === before) continue
          expect(name).toBe('pod_discharged_at')
          expect(Date.parse(now!) - Date.parse(before)).toBe(2 * 3_600_000)
          expect(corrected).not.toContain(id)
          corrected.add(id)
        }
        seen.set(id, { ...attributes })
      }
    }
    expect(corrected.size).toBeGreaterThan(0)
  })

  test('has the status its milestones give', () => {
    const seen = new Set<string>()
    for (const at of INSTANTS) {
      for (const { attributes: a } of all(world, 'container', at)) {
        const status = String(a!.current_status)
        seen.add(status)
        const isOut = Boolean(a!.pod_full_out_at ?? a!.final_destination_full_out_at)
        expect(status === 'empty_returned').toBe(a!.empty_terminated_at !== null)
        expect(['picked_up', 'delivered', 'dropped', 'empty_returned'].includes(status)).toBe(isOut)
        if (status === 'on_ship') expect(a!.pod_discharged_at).toBeNull()
        if (status === 'new') expect(a!.pol_vessel_loaded_at).toBeNull()
        if (status === 'on_rail') expect(a!.pod_rail_loaded_at).not.toBeNull()
        if (status === 'awaiting_inland_transfer') expect(a!.pod_discharged_at).not.toBeNull()
      }
    }
    expect(seen.size).toBeGreaterThan(7)
    for (const status of ['on_ship', 'new', 'on_rail', 'awaiting_inland_transfer']) {
      expect(seen).toContain(status)
    }
  })

  test('is available only without a hold in force, at its terminal', () => {
    const seen = { held: 0, available: 0 }
    for (const at of INSTANTS) {
      for (const { attributes: a } of all(world, 'container', at)) {
        const holds = a!.holds_at_pod_terminal as { status: string }[]
        const isHeld = holds.some(({ status }) => status === 'hold')
        if (isHeld) seen.held += 1
        if (a!.available_for_pickup !== true) continue
        seen.available += 1
        expect(isHeld).toBe(false)
        expect(a!.availability_known).toBe(true)
        expect(a!.pod_discharged_at).not.toBeNull()
      }
    }
    expect(Math.min(seen.held, seen.available)).toBeGreaterThan(0)
  })

  test('has fees of whole cents that add up to their total', () => {
    let seen = 0
    for (const at of INSTANTS) {
      for (const { attributes } of all(world, 'container', at)) {
        const fees = attributes!.fees_at_pod_terminal as { type: string; amount: number }[]
        const parts = fees.filter(({ type }) => type !== 'total')
        if (fees.length === 0) continue
        seen += 1
        const cents = parts.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
        expect(fees.at(-1)).toMatchObject({ type: 'total', amount: cents / 100 })
      }
    }
    expect(seen).toBeGreaterThan(0)
  })

  test('has last free days at midnight of the place', () => {
    let seen = 0
    for (const { attributes: a } of all(world, 'container', START)) {
      const deadlines = Object.fromEntries(
        Object.entries(a!.import_deadlines as object).map(([name, said]) => [
          name,
          latestDay(said) as string | null,
        ]),
      )
      const places = [
        [deadlines.pickup_lfd_terminal, a!.pod_timezone],
        [deadlines.pickup_lfd_line, a!.pod_timezone],
        [deadlines.pickup_lfd_rail, a!.final_destination_timezone],
      ] as const
      for (const [day, timeZone] of places) {
        if (!day || typeof timeZone !== 'string') continue
        seen += 1
        const time = new Date(day).toLocaleTimeString('en-GB', { timeZone })
        expect(time).toBe('00:00:00')
      }
      const expected = deadlines.pickup_lfd_line ?? deadlines.pickup_lfd_terminal
      expect(a!.pickup_lfd).toBe(expected ?? deadlines.pickup_lfd_rail)
      expect(a!.ind_facility_lfd_on).toBe(deadlines.pickup_lfd_rail)
    }
    expect(seen).toBeGreaterThan(30)
  })
})

test('transport events are reported after they happen, except estimates and a few by terminals', () => {
  const world = createWorld({ seed: 1, shipments: 400, startAt: START })
  const ids = new Set<string>()
  const announced: ResourceObject[] = []
  for (const event of all(world, 'transport_event', START)) {
    const { id, attributes: a } = event
    ids.add(id)
    const reported = Date.parse(String(a!.created_at))
    expect(reported).toBeLessThanOrEqual(START.getTime())
    if (a!.timestamp === null || String(a!.event).includes('.estimated.')) continue
    const hoursTooSoon = (Date.parse(a!.timestamp as string) - reported) / 3_600_000
    if (hoursTooSoon <= 0) continue
    announced.push(event)
    expect(hoursTooSoon).toBeLessThanOrEqual(48)
    expect(a!.event).toMatch(/^container\.transport\.(full_out|empty_in)$/)
    expect(a!.data_source).toBe('terminal')
  }
  expect(ids.size).toBeGreaterThan(7_000)
  // One in sixty of the containers that are out.
  expect(announced.length).toBeGreaterThan(3)
  expect(announced.length).toBeLessThan(20)
  // The container shows it as soon as the event is there, and so does its status.
  for (const { attributes: a, relationships } of announced) {
    const [container] = linked(relationships!.container)
    const reported = new Date(String(a!.created_at))
    const shown = world.record('container', container!.id, reported)!.attributes!
    const before = world.record('container', container!.id, new Date(reported.getTime() - 1000))!
    const names = ANNOUNCED.filter((name) => shown[name] !== before.attributes![name])
    expect(names.map((name) => shown[name])).toContain(a!.timestamp)
    expect(shown.current_status).toBe(
      a!.event === 'container.transport.empty_in' ? 'empty_returned' : 'picked_up',
    )
  }
})

test('numbers carry the right check digits', () => {
  const world = smallWorld()
  for (const { attributes } of all(world, 'container', START)) {
    const number = String(attributes!.number)
    expect(number).toMatch(/^[A-Z]{3}U\d{7}$/)
    expect(containerCheckDigit(number.slice(0, 10))).toBe(Number(number[10]))
  }
  for (const { attributes } of all(world, 'vessel', START)) {
    const imo = String(attributes!.imo)
    expect(imoCheckDigit(imo.slice(0, 6))).toBe(Number(imo[6]))
  }
})

test('vessels move, and have a history only when asked', () => {
  const world = smallWorld()
  const [vessel] = world.page('vessel', 0, 1, START)
  const next = world.record('vessel', vessel!.id, later(0.5))
  expect(next!.attributes!.latitude).not.toBe(vessel!.attributes!.latitude)
  expect(vessel!.attributes).not.toHaveProperty('positions')
  const history = world.vesselWithPositions(vessel!.id, START)!.attributes!.positions as {
    timestamp: string
  }[]
  expect(history.length).toBeGreaterThan(10)
  expect(Date.parse(history.at(-1)!.timestamp)).toBeLessThanOrEqual(START.getTime())
})

test('a world without extras has the attributes of the interface alone', () => {
  const world = createWorld({ seed: 1, shipments: 20, startAt: START, extras: false })
  const [container] = world.page('container', 0, 1, START)
  const [terminal] = world.page('terminal', 0, 1, START)
  expect(container!.attributes).not.toHaveProperty('ssl_lfd')
  expect(container!.attributes).toHaveProperty('current_status')
  expect(terminal!.attributes).not.toHaveProperty('facility_type')
})

test('a page in the middle of a large world touches nothing but its own records', () => {
  const world = createWorld({ seed: 1, shipments: 1_000_000, startAt: START })
  const page = world.page('container', 1_000_000, 100, START)
  expect(page).toHaveLength(100)
  expect(world.page('container', 1_000_050, 50, START)).toEqual(page.slice(50))
  expect(world.count('shipment', START)).toBe(1_000_000)
  expect(world.page('shipment', 999_990, 100, START)).toHaveLength(10)
  expect(world.page('shipment', 1_000_000, 100, START)).toEqual([])
})
