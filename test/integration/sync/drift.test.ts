import { describe, expect, it } from 'vitest'
import { openLoadedScene, type Scene } from './sync-scene.js'

/**
 * Without the extra attributes that the service sends from the start, which would disturb this
 * test.
 */
const openPlainScene = () => openLoadedScene({ shipments: 8, extras: false })

type Attributes = Readonly<Record<string, unknown>>

/** Changes the attributes of every record of a type in every answer. */
const rewrite = (scene: Scene, type: string, change: (attributes: Attributes) => Attributes) =>
  scene.answers.showType(type, (record) => ({
    ...record,
    attributes: change(record.attributes ?? {}),
  }))

const without = (attributes: Attributes, name: string): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([other]) => other !== name))

describe('drift of the service', () => {
  it('notes an attribute that a complete pass lacks', { tags: ['K2'] }, async () => {
    const scene = await openPlainScene()
    const names = `select array_agg(shipping_line_name order by shipment_id) as names from tracking.shipments`
    const before = await scene.query(names)
    rewrite(scene, 'shipment', (attributes) => without(attributes, 'shipping_line_name'))
    const report = await scene.sync({ command: 'sync' })
    expect(report.drift).toEqual([
      'shipments: attribute "shipping_line_name" is in no record any more; its values are kept',
    ])
    expect(await scene.query(names)).toEqual(before)
    expect((await scene.sync({ command: 'sync' })).drift).toEqual([])
  })

  it('does not call an attribute vanished after a pass that failed', async () => {
    const scene = await openPlainScene()
    rewrite(scene, 'shipment', (attributes) => without(attributes, 'shipping_line_name'))
    scene.simulator.faults.add({
      fault: { kind: 'status', status: 500 },
      match: ({ query }) => query.get('page[number]') === '2',
      times: Infinity,
    })
    const report = await scene.sync({ command: 'sync', settings: { pageSize: 7 } })
    expect(report.outcome).toBe('failed')
    expect(report.drift).toEqual([])
  })

  it('notes new members, values, events and types once', { tags: ['K5', 'FF9'] }, async () => {
    const scene = await openPlainScene()
    const { edits, world, clock } = scene.simulator
    const [container] = world.page('container', 5, 1, clock.now())
    const { import_deadlines } = container!.attributes!
    edits.change('container', container!.id, {
      current_status: 'on_drone',
      equipment_length: 53,
      fees_at_pod_terminal: [{ type: 'parking', amount: 5, waived: true }],
      holds_at_pod_terminal: [{ name: 'odd', status: 'maybe', gate: 'said there' }],
      import_deadlines: { ...(import_deadlines as object), pickup_lfd_yard: '2026-04-01' },
    })
    rewrite(scene, 'transport_event', (attributes) =>
      attributes.event === 'container.transport.empty_out'
        ? { ...attributes, event: 'container.transport.flown' }
        : attributes,
    )
    scene.answers.play(/^\/shipments$/, {
      kind: 'transform',
      apply: (document) => {
        const { included = [], ...rest } = document as { included?: unknown[] }
        return { ...rest, included: [...included, { type: 'drone', id: 'd-1', attributes: {} }] }
      },
    })
    const report = await scene.sync({ command: 'sync' })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(report.drift.toSorted()).toEqual([
      'containers: new member "fees_at_pod_terminal.waived"; it is kept as it was sent',
      'containers: new member "holds_at_pod_terminal.gate"; it is kept as it was sent',
      'containers: new member "import_deadlines.pickup_lfd_yard"; it is kept as it was sent',
      'containers: new value, "current_status: on_drone"',
      'containers: new value, "equipment_length: 53"',
      'containers: new value, "fees_at_pod_terminal.type: parking"',
      'containers: new value, "holds_at_pod_terminal.status: maybe"',
      'new type of record, "drone"; its records are kept in other_resources',
      'transport_events: new value, "event: container.transport.flown"',
    ])
    expect(
      await scene.rows`
      select current_status, equipment_length, import_deadlines ->> 'pickup_lfd_yard' as day
      from tracking.containers where container_id = ${container!.id}`,
    ).toEqual([{ current_status: 'on_drone', equipment_length: 53, day: '2026-04-01' }])
    // Their absence is not told: a container may have holds today and none tomorrow.
    edits.change('container', container!.id, { holds_at_pod_terminal: [], import_deadlines: {} })
    const again = await scene.sync({ command: 'sync' })
    expect(again.drift).toEqual([])
  })

  it('is bounded when a service makes up names without end', async () => {
    const scene = await openPlainScene()
    let counter = 0
    rewrite(scene, 'shipment', (attributes) => {
      const odd: Record<string, unknown> = { [`long_${'x'.repeat(5_000)}`]: 1 }
      for (let index = 0; index < 50; index += 1) {
        odd[`made_up_${(counter += 1)}`] = '\u0000\u001b[31m'
      }
      return { ...attributes, ...odd }
    })
    const report = await scene.sync()
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(report.drift.length).toBeGreaterThan(100)
    expect(report.drift.length).toBeLessThan(250)
    expect(Math.max(...report.drift.map(({ length }) => length))).toBeLessThan(300)
  })
})
