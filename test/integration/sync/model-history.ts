import fc from 'fast-check'
import { SYNC_FAILPOINTS } from '../../../src/base/failpoint.js'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { disturbances } from './model-disturbances.js'
import {
  expectConvergence,
  expectNoGoingBack,
  openModelScene,
  runModelSync,
  type ModelScene,
  type ModelSync,
  type ModelWorld,
} from './model-scene.js'

export interface ModelHistory {
  readonly world: ModelWorld
  readonly steps: readonly Step[]
}

/** `at` and `event` count records and start over after the last one. */
type Step =
  | {
      readonly do: 'change'
      readonly type: 'shipment' | 'container'
      readonly at: number
      readonly value: string | null
    }
  | { readonly do: 'delete'; readonly type: string; readonly at: number }
  | { readonly do: 'revive'; readonly at: number }
  | { readonly do: 'withdraw'; readonly at: number; readonly event: number }
  | {
      readonly do: 'changeEvent'
      readonly at: number
      readonly event: number
      readonly voyage: string
    }
  | { readonly do: 'hold' | 'clear'; readonly at: number; readonly name: string }
  | { readonly do: 'insert'; readonly shipments: number }
  | { readonly do: 'advance'; readonly seconds: number }
  | ({ readonly do: 'sync' } & ModelSync)

const REFERENCES = [
  'port_of_lading',
  'port_of_discharge',
  'pod_terminal',
  'destination',
  'destination_terminal',
  'containers.pickup_facility',
]
const EVENTS = ['containers.transport_events', 'containers.transport_events.vessel']

const worlds = fc.record({
  seed: fc.nat(9_999),
  shipments: fc.integer({ min: 2, max: 4 }),
  // Every reference that does not come included costs the history a request.
  includes: fc.constantFrom(
    ['containers', ...EVENTS, ...REFERENCES],
    ['containers', ...REFERENCES],
    ['containers'],
    REFERENCES,
  ),
  containerIncludes: fc.constantFrom(DEFAULT_INCLUDES.container!, []),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('change' as const),
    type: fc.constantFrom('shipment' as const, 'container' as const),
    at: fc.nat(9),
    value: fc.constantFrom('A', 'B', null),
  }),
  fc.record({
    do: fc.constant('delete' as const),
    type: fc.constantFrom('shipment', 'container', 'tracking_request'),
    at: fc.nat(9),
  }),
  fc.record({ do: fc.constant('revive' as const), at: fc.nat(3) }),
  fc.record({ do: fc.constant('withdraw' as const), at: fc.nat(9), event: fc.nat(9) }),
  fc.record({
    do: fc.constant('changeEvent' as const),
    at: fc.nat(9),
    event: fc.nat(9),
    voyage: fc.constantFrom('A1', 'B2'),
  }),
  fc.record({
    do: fc.constantFrom('hold' as const, 'clear' as const),
    at: fc.nat(9),
    name: fc.constantFrom('customs', 'freight'),
  }),
  fc.record({
    do: fc.constant('insert' as const),
    shipments: fc.integer({ min: 1, max: 2 }),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      seconds: fc.constantFrom(1, 60, 3_600, 26 * 3_600),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('sync' as const),
      command: fc.constantFrom('sync' as const, 'backfill' as const),
      pageSize: fc.constantFrom(2, 3, 100),
      checks: fc.constantFrom(0, 1, 3),
      disturbance: disturbances,
      crash: fc.option(
        fc.record({
          point: fc.constantFrom(...SYNC_FAILPOINTS),
          hit: fc.integer({ min: 1, max: 6 }),
        }),
        { freq: 2 },
      ),
    }),
  },
)

export const modelHistories: fc.Arbitrary<ModelHistory> = fc.record({
  world: worlds,
  steps: fc.array(step, { maxLength: 8 }),
})

/** One history, and everything that must hold during and after it. */
export async function playModelHistory(
  warehouse: Warehouse,
  { world, steps }: ModelHistory,
): Promise<void> {
  const scene = await openModelScene(warehouse, world)
  const gone: Gone[] = []
  try {
    for (const one of steps) {
      if (one.do === 'sync') {
        await runModelSync(scene, one)
        await expectNoGoingBack(scene)
      } else {
        changeSource(scene, gone, one)
      }
    }
    await expectConvergence(scene)
  } finally {
    await scene.simulator.close()
  }
}

interface Gone {
  readonly type: string
  readonly id: string
}

/** More missing rows than ten would count as a fault of the source. */
const MOST_GONE_CONTAINERS = 8

function changeSource(
  scene: ModelScene,
  gone: Gone[],
  change: Exclude<Step, { readonly do: 'sync' }>,
): void {
  const { world, clock, edits } = scene.simulator
  switch (change.do) {
    case 'change': {
      const record = pick(scene, change.type, change.at)
      const name = change.type === 'shipment' ? 'customer_name' : 'seal_number'
      if (record !== undefined) edits.change(change.type, record.id, { [name]: change.value })
      return
    }
    case 'delete': {
      const record = pick(scene, change.type, change.at)
      if (record === undefined) return
      const isShipment = change.type === 'shipment'
      const rows = isShipment ? world.containersOf(record.id, clock.now()).length : 1
      if (gone.length * 3 + rows > MOST_GONE_CONTAINERS) return
      edits.delete(change.type, record.id)
      gone.push({ type: change.type, id: record.id })
      return
    }
    case 'revive': {
      const [back] = gone.splice(change.at % Math.max(1, gone.length), 1)
      if (back !== undefined) edits.revive(back.type, back.id)
      return
    }
    case 'withdraw': {
      const container = pick(scene, 'container', change.at)
      const event = pickEvent(scene, container, change.event)
      if (event !== undefined) edits.withdrawEvent(container!.id, event.id)
      return
    }
    case 'changeEvent': {
      const container = pick(scene, 'container', change.at)
      // Its id stays, so only a check finds it, and finished containers are not checked.
      if ((container?.attributes?.empty_terminated_at ?? null) !== null) return
      const event = pickEvent(scene, container, change.event)
      if (event === undefined) return
      edits.change('transport_event', event.id, { voyage_number: change.voyage })
      return
    }
    case 'hold': {
      const container = pick(scene, 'container', change.at)
      if (container === undefined) return
      edits.addHold(container.id, { name: change.name, status: 'hold', description: null })
      return
    }
    case 'clear': {
      const container = pick(scene, 'container', change.at)
      if (container !== undefined) edits.clearHold(container.id, change.name)
      return
    }
    case 'insert':
      edits.insertShipments(change.shipments)
      return
    case 'advance':
      clock.advance(change.seconds * 1_000)
      return
    default:
      change satisfies never
  }
}

function pick({ simulator }: ModelScene, type: string, at: number): ResourceObject | undefined {
  const records = [...simulator.world.records(type as 'shipment', simulator.clock.now())]
  return records[at % Math.max(1, records.length)]
}

function pickEvent(
  { simulator }: ModelScene,
  container: ResourceObject | undefined,
  at: number,
): ResourceObject | undefined {
  const { world, clock } = simulator
  const events = world.transportEventsOf(container?.id ?? '', clock.now())
  return events[at % Math.max(1, events.length)]
}
