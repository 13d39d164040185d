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

test('a deleted container leaves its shipment', () => {
  const { edits, world, plain } = editedWorld()
  const shipment = plain
    .page('shipment', 0, 100, START)
    .find(({ id }) => plain.containersOf(id, START).length > 1)!
  const [first, ...rest] = plain.containersOf(shipment.id, START)
  edits.delete('container', first!.id)
  expect(world.containersOf(shipment.id, START)).toEqual(rest)
  const linked = world.record('shipment', shipment.id, START)!.relationships!.containers!.data
  expect(linked).toEqual(rest.map(({ id }) => ({ id, type: 'container' })))
  expect(world.count('container', START)).toBe(plain.count('container', START) - 1)
})

test('a withdrawn event leaves the list and the relationship', () => {
  const { edits, world, plain } = editedWorld()
  const [container] = plain.page('container', 200, 1, START)
  const [first, ...rest] = plain.transportEventsOf(container!.id, START)
  edits.withdrawEvent(container!.id, first!.id)
  expect(world.transportEventsOf(container!.id, START)).toEqual(rest)
  expect(world.record('transport_event', first!.id, START)).toBeUndefined()
  const linked = world.record('container', container!.id, START)!.relationships!.transport_events!
    .data
  expect(linked).toEqual(rest.map(({ id }) => ({ id, type: 'transport_event' })))
})

test('a transport event that was deleted comes back when it is revived', () => {
  const { edits, world, plain } = editedWorld()
  const [container] = plain.page('container', 200, 1, START)
  const [first] = plain.transportEventsOf(container!.id, START)
  edits.delete('transport_event', first!.id)
  expect(world.record('transport_event', first!.id, START)).toBeUndefined()
  edits.revive('transport_event', first!.id)
  expect(world.record('transport_event', first!.id, START)).toEqual(first)
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

test('inserted shipments come first until newer ones arrive', () => {
  const { edits, world, plain } = editedWorld()
  const inserted = edits.insertShipments(3)
  const before = idsOf(plain.records('shipment', START))
  expect(idsOf(world.records('shipment', START))).toEqual([...inserted, ...before])
  expect(idsOf(world.page('shipment', 2, 3, START))).toEqual([inserted[2], before[0], before[1]])
  expect(world.count('shipment', START)).toBe(203)
  const containers = inserted.flatMap((id) => world.containersOf(id, START))
  expect(idsOf(world.page('container', 0, containers.length, START)).toSorted()).toEqual(
    idsOf(containers).toSorted(),
  )
  const later = new Date(START.getTime() + 5 * DAY)
  const all = idsOf(world.records('shipment', later))
  expect(all).toHaveLength(plain.count('shipment', later) + 3)
  expect(all.indexOf(inserted[0]!)).toBe(plain.count('shipment', later) - 200)
  expect(world.count('shipment', new Date(START.getTime() - DAY))).toBe(
    plain.count('shipment', new Date(START.getTime() - DAY)),
  )
})

test('an inserted shipment can be deleted and revived', () => {
  const { edits, world } = editedWorld()
  const [id] = edits.insertShipments(2)
  const containers = world.containersOf(id!, START)
  const count = world.count('container', START)
  edits.delete('shipment', id!)
  expect(world.count('shipment', START)).toBe(201)
  expect(world.count('container', START)).toBe(count - containers.length)
  edits.revive('shipment', id!)
  expect(world.containersOf(id!, START)).toEqual(containers)
})
