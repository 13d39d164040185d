import { describe, expect, test } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { createAgenda } from '../../../src/extensions/simulator/notifications/agenda.js'
import { includedRecords } from '../../../src/extensions/simulator/notifications/notification-records.js'
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
})

test('a world tells every event of the catalogue sooner or later', () => {
  const world = createWorld({ ...OPTIONS, shipments: 100 })
  const told = occurrencesBetween(world.sources, Number.NEGATIVE_INFINITY, from + 120 * DAY)
  expect(new Set(told.map(({ event }) => event))).toEqual(new Set(WEBHOOK_EVENT_NAMES))
})
