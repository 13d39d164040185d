import { describe, expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { createEdits } from '../../../src/extensions/simulator/world/edits.js'
import { createIds } from '../../../src/extensions/simulator/world/ids.js'
import { createAgenda } from '../../../src/extensions/simulator/notifications/agenda.js'
import { includedRecords } from '../../../src/extensions/simulator/notifications/notification-records.js'
import type { Occurrence } from '../../../src/extensions/simulator/notifications/occurrence.js'
import { occurrencesBetween } from '../../../src/extensions/simulator/notifications/occurrences.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { createWorld } from '../../../src/extensions/simulator/world/world.js'
import { START } from './simulator-client.js'

const DAY = 86_400_000
const from = START.getTime()
const OPTIONS = { seed: 1, shipments: 60, startAt: START }

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

describe('what is told of a world', () => {
  const world = createWorld(OPTIONS)
  const to = from + 10 * DAY
  const told = occurrencesBetween(world.sources, from, to)

  test('is in order, each once, within the time asked for', () => {
    expect(told.length).toBeGreaterThan(150)
    const instants = told.map(({ at }) => at)
    expect(instants).toEqual(instants.toSorted((one, other) => one - other))
    expect(instants.every((at) => at > from && at <= to && at % 1000 === 0)).toBe(true)
    const keys = told.map(({ event, at, reference }) => JSON.stringify([event, at, reference]))
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('is the same however the time is cut, and by agenda', () => {
    const cuts = [0, 0.3, 0.3, 1.7, 5, 5.00001, 9.99, 10].map((days) => from + days * DAY)
    const inParts = cuts.slice(1).flatMap((end, index) => {
      return occurrencesBetween(world.sources, cuts[index]!, end)
    })
    expect(inParts).toEqual(told)
    const agenda = createAgenda(createWorld(OPTIONS).sources, from)
    expect(cuts.flatMap((end) => agenda.advance(end))).toEqual(told)
    const ofSeed = (seed: number) =>
      occurrencesBetween(createWorld({ ...OPTIONS, seed }).sources, from, to)
    expect(ofSeed(1)).toEqual(told)
    expect(ofSeed(2)).not.toEqual(told)
  })

  test('has every transport event that becomes visible, at its creation', () => {
    const events = new Map<string, unknown>()
    for (const { event, at, reference } of told) {
      if (reference.type !== 'transport_event') continue
      events.set(reference.id, event)
      const record = world.record('transport_event', reference.id, new Date(at))
      expect(record!.attributes!.event).toBe(event)
      expect(world.record('transport_event', reference.id, new Date(at - 1000))).toBeUndefined()
    }
    const before = new Set([...world.records('transport_event', START)].map(({ id }) => id))
    for (const { id, attributes } of world.records('transport_event', new Date(to))) {
      if (!before.has(id)) expect(events.get(id)).toBe(attributes!.event)
    }
  })

  test('brings records that, taken in order, give the state at the end', () => {
    const carried = new Map<string, ResourceObject>()
    for (const occurrence of told) {
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

  test('tells of an estimated arrival when it moves, and of the new one', () => {
    const moved = told.filter(({ event }) => event === 'shipment.estimated.arrival')
    expect(moved.length).toBeGreaterThan(3)
    for (const { at, reference } of moved) {
      const etaAt = (instant: number) =>
        world.record('shipment', reference.shipmentId!, new Date(instant))!.attributes!.pod_eta_at
      expect(etaAt(at)).not.toBe(etaAt(at - 1000))
    }
  })
})

test('a world tells every event of the catalogue sooner or later', () => {
  const world = createWorld({ ...OPTIONS, shipments: 100 })
  const told = occurrencesBetween(world.sources, Number.NEGATIVE_INFINITY, from + 120 * DAY)
  expect(new Set(told.map(({ event }) => event))).toEqual(new Set(WEBHOOK_EVENT_NAMES))
})

test('nothing is told of what was deleted or withdrawn, nor of a patched attribute', () => {
  const edits = createEdits(createIds(1), () => START)
  const world = createWorld(OPTIONS, edits)
  const to = from + 10 * DAY
  const all = occurrencesBetween(world.sources, from, to)
  const withEvent = all.find(({ reference }) => reference.type === 'transport_event')!
  const idsOf = ({ reference }: Occurrence) => reference as { id: string; containerId: string }
  edits.withdrawEvent(idsOf(withEvent).containerId, idsOf(withEvent).id)
  const gone = all.find(({ reference }) => reference.shipmentId !== withEvent.reference.shipmentId)!
  edits.delete('shipment', gone.reference.shipmentId!)
  const left = occurrencesBetween(world.sources, from, to)
  const isGone = ({ reference, event }: Occurrence): boolean =>
    reference.shipmentId === gone.reference.shipmentId && !event.startsWith('tracking_request')
  expect(left).toEqual(all.filter((one) => one !== withEvent && !isGone(one)))
  const updated = left.filter(({ reference }) => reference.type === 'container_updated_event')
  for (const { reference } of updated) {
    edits.change('container', idsOf({ reference } as Occurrence).containerId, {
      current_status: 'grounded',
    })
  }
  for (const { reference } of occurrencesBetween(world.sources, from, to)) {
    if (reference.type !== 'container_updated_event') continue
    expect(reference.changeset).not.toHaveProperty('current_status')
  }
})
