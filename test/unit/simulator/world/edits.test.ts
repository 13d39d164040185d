import { expect, test } from 'vitest'
import { createEdits } from '../../../../src/extensions/simulator/world/edits.js'
import { createIds } from '../../../../src/extensions/simulator/world/ids.js'
import { createWorld } from '../../../../src/extensions/simulator/world/world.js'
import { START } from '../simulator-client.js'

const DAY = 86_400_000

function editedWorld() {
  const edits = createEdits(createIds(1), () => START)
  const options = { seed: 1, shipments: 200, startAt: START }
  return { edits, world: createWorld(options, edits), plain: createWorld(options) }
}

const idsOf = (records: Iterable<{ id: string }>) => [...records].map(({ id }) => id)

test('a changed attribute shows everywhere, and nothing else changes', () => {
  const { edits, world, plain } = editedWorld()
  const [shipment, other] = plain.page('shipment', 10, 2, START)
  edits.change('shipment', shipment!.id, { customer_name: 'New Name', extra: 1 })
  edits.change('shipment', shipment!.id, { tags: ['late'] })
  const changed = { ...shipment!.attributes, customer_name: 'New Name', extra: 1, tags: ['late'] }
  expect(world.record('shipment', shipment!.id, START)!.attributes).toEqual(changed)
  expect(world.page('shipment', 10, 2, START)).toEqual([
    { ...shipment, attributes: changed },
    other,
  ])
})

test('a deleted shipment takes its containers, their events and its place in the lists', () => {
  const { edits, world, plain } = editedWorld()
  const gone = [3, 4, 150].map((offset) => plain.page('shipment', offset, 1, START)[0]!)
  const containers = gone.flatMap(({ id }) => plain.containersOf(id, START))
  for (const { id } of gone) edits.delete('shipment', id)
  const goneIds = new Set([...gone, ...containers].map(({ id }) => id))
  for (const type of ['shipment', 'container'] as const) {
    const expected = idsOf(plain.records(type, START)).filter((id) => !goneIds.has(id))
    expect(idsOf(world.records(type, START))).toEqual(expected)
    expect(world.count(type, START)).toBe(expected.length)
    expect(idsOf(world.page(type, 100, 20, START))).toEqual(expected.slice(100, 120))
  }
  for (const { id, type } of [...gone, ...containers]) {
    expect(world.record(type, id, START)).toBeUndefined()
  }
  expect(world.containersOf(gone[0]!.id, START)).toEqual([])
  expect(world.transportEventsOf(containers[0]!.id, START)).toEqual([])
  for (const request of world.records('tracking_request', START)) {
    expect(goneIds).not.toContain(
      (request.relationships!.tracked_object!.data as { id?: string } | null)?.id,
    )
  }
  for (const { id } of gone) edits.revive('shipment', id)
  expect(idsOf(world.records('container', START))).toEqual(idsOf(plain.records('container', START)))
})

test('a deleted container leaves its shipment, a withdrawn event its container', () => {
  const { edits, world, plain } = editedWorld()
  const shipment = plain
    .page('shipment', 0, 100, START)
    .find(({ id }) => plain.containersOf(id, START).length > 1)!
  const [first, ...rest] = plain.containersOf(shipment.id, START)
  const container = rest[0]!
  const [event, ...events] = plain.transportEventsOf(container.id, START)
  edits.withdrawEvent(container.id, event!.id)
  edits.delete('container', first!.id)
  expect(idsOf(world.containersOf(shipment.id, START))).toEqual(idsOf(rest))
  expect(world.transportEventsOf(container.id, START)).toEqual(events)
  expect(world.record('transport_event', event!.id, START)).toBeUndefined()
  const linkedOf = (type: 'shipment' | 'container', id: string, name: string) =>
    idsOf(world.record(type, id, START)!.relationships![name]!.data as readonly { id: string }[])
  expect(linkedOf('shipment', shipment.id, 'containers')).toEqual(idsOf(rest))
  expect(linkedOf('container', container.id, 'transport_events')).toEqual(idsOf(events))
  expect(world.count('container', START)).toBe(plain.count('container', START) - 1)
  edits.delete('transport_event', events[0]!.id)
  expect(world.record('transport_event', events[0]!.id, START)).toBeUndefined()
  edits.revive('transport_event', events[0]!.id)
  expect(world.record('transport_event', events[0]!.id, START)).toEqual(events[0])
})

test('holds are added and cleared by name', () => {
  const { edits, world, plain } = editedWorld()
  const held = [...plain.records('container', START)].find(
    ({ attributes }) => (attributes!.holds_at_pod_terminal as unknown[]).length === 1,
  )!
  const [drawn] = held.attributes!.holds_at_pod_terminal as [{ name: string }]
  const added = { name: 'line', status: 'hold', description: 'Unpaid' } as const
  edits.addHold(held.id, added)
  const holds = () => world.record('container', held.id, START)!.attributes!.holds_at_pod_terminal
  expect(holds()).toEqual([drawn, added])
  edits.clearHold(held.id, drawn.name)
  expect(holds()).toEqual([added])
  edits.clearHold(held.id, 'line')
  expect(holds()).toEqual([])
})

test('inserted shipments come first until newer ones arrive, and can be deleted', () => {
  const { edits, world, plain } = editedWorld()
  const inserted = edits.insertShipments(3)
  const before = idsOf(plain.records('shipment', START))
  expect(idsOf(world.records('shipment', START))).toEqual([...inserted, ...before])
  expect(idsOf(world.page('shipment', 2, 3, START))).toEqual([inserted[2], before[0], before[1]])
  const containers = inserted.flatMap((id) => world.containersOf(id, START))
  const count = world.count('container', START)
  expect(idsOf(world.page('container', 0, containers.length, START)).toSorted()).toEqual(
    idsOf(containers).toSorted(),
  )
  const later = new Date(START.getTime() + 5 * DAY)
  const all = idsOf(world.records('shipment', later))
  expect(all).toHaveLength(plain.count('shipment', later) + 3)
  expect(all.indexOf(inserted[0]!)).toBe(plain.count('shipment', later) - 200)
  const yesterday = new Date(START.getTime() - DAY)
  expect(world.count('shipment', yesterday)).toBe(plain.count('shipment', yesterday))
  const own = world.containersOf(inserted[0]!, START)
  edits.delete('shipment', inserted[0]!)
  expect(world.count('shipment', START)).toBe(202)
  expect(world.count('container', START)).toBe(count - own.length)
  edits.revive('shipment', inserted[0]!)
  expect(world.containersOf(inserted[0]!, START)).toEqual(own)
})
