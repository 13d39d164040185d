import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { SYNC_FAILPOINTS } from '../../../src/base/failpoint.js'
import { DEFAULT_INCLUDES } from '../../../src/simulator/interface/included-records.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { disturbances } from './model-disturbances.js'
import {
  expectConvergence,
  expectNoGoingBack,
  openModelScene,
  runModelSync,
  type ModelScene,
  type ModelSync,
} from './model-scene.js'

const RUNS = Number(process.env.MODEL_RUNS ?? 300)
/** Half a second each on a machine that does nothing else; four times that is still at work and does not hang. */
const LONGEST_MS = 600_000 + RUNS * 2_000
/** With the seed, the path and the replay path that a failure prints, that failure again. */
const HISTORY = {
  maxCommands: 8,
  ...(process.env.MODEL_REPLAY_PATH === undefined
    ? {}
    : { replayPath: process.env.MODEL_REPLAY_PATH }),
}
const REPLAY = {
  ...(process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) }),
  ...(process.env.MODEL_PATH === undefined ? {} : { path: process.env.MODEL_PATH }),
}

/** What is deleted now, and how many rows of one table go with it. */
interface Model {
  readonly gone: { readonly type: string; readonly id: string }[]
}

type ModelCommand = fc.AsyncCommand<Model, ModelScene>

/** More missing rows than ten would count as a fault of the source. */
const MOST_GONE_CONTAINERS = 8

function command(
  label: string,
  run: (scene: ModelScene, model: Model) => unknown,
  check: (model: Model) => boolean = () => true,
): ModelCommand {
  return {
    check: (model) => check(model),
    run: async (model, scene) => {
      await run(scene, model)
    },
    toString: () => label,
  }
}

function pickRecord({ simulator }: ModelScene, type: string, at: number) {
  const { world, clock } = simulator
  const records = [...world.records(type as 'shipment', clock.now())]
  return records[at % Math.max(1, records.length)]
}

const change = fc
  .tuple(fc.constantFrom('shipment', 'container'), fc.nat(9), fc.constantFrom('A', 'B', null))
  .map(([type, at, value]) =>
    command(`change(${type} ${at}, ${value})`, (scene) => {
      const record = pickRecord(scene, type, at)
      const name = type === 'shipment' ? 'customer_name' : 'seal_number'
      if (record !== undefined) scene.simulator.edits.change(type, record.id, { [name]: value })
    }),
  )

const remove = fc
  .tuple(fc.constantFrom('shipment', 'container', 'tracking_request'), fc.nat(9))
  .map(([type, at]) =>
    command(`delete(${type} ${at})`, (scene, model) => {
      const { world, clock, edits } = scene.simulator
      const record = pickRecord(scene, type, at)
      if (record === undefined) return
      const rows = type === 'shipment' ? world.containersOf(record.id, clock.now()).length : 1
      if (model.gone.length * 3 + rows > MOST_GONE_CONTAINERS) return
      edits.delete(type, record.id)
      model.gone.push({ type, id: record.id })
    }),
  )

const revive = fc.nat(3).map((at) =>
  command(
    `revive(${at})`,
    ({ simulator }, model) => {
      const [back] = model.gone.splice(at % model.gone.length, 1)
      if (back !== undefined) simulator.edits.revive(back.type, back.id)
    },
    ({ gone }) => gone.length > 0,
  ),
)

const withdraw = fc.tuple(fc.nat(9), fc.nat(9)).map(([at, event]) =>
  command(`withdraw(${at}, ${event})`, (scene) => {
    const { world, clock, edits } = scene.simulator
    const container = pickRecord(scene, 'container', at)
    if (container === undefined) return
    const events = world.transportEventsOf(container.id, clock.now())
    const victim = events[event % Math.max(1, events.length)]
    if (victim !== undefined) edits.withdrawEvent(container.id, victim.id)
  }),
)

/** Under its id, and only where a check may find it: of a container that is not finished. */
const changeEvent = fc
  .tuple(fc.nat(9), fc.nat(9), fc.constantFrom('A1', 'B2'))
  .map(([at, number, voyage]) =>
    command(`changeEvent(${at}, ${number}, ${voyage})`, (scene) => {
      const { world, clock, edits } = scene.simulator
      const container = pickRecord(scene, 'container', at)
      if ((container?.attributes?.empty_terminated_at ?? null) !== null) return
      const events = world.transportEventsOf(container?.id ?? '', clock.now())
      const event = events[number % Math.max(1, events.length)]
      if (event !== undefined) edits.change('transport_event', event.id, { voyage_number: voyage })
    }),
  )

const hold = fc
  .tuple(fc.boolean(), fc.nat(9), fc.constantFrom('customs', 'freight'))
  .map(([isAdded, at, name]) =>
    command(`${isAdded ? 'hold' : 'clear'}(${at}, ${name})`, (scene) => {
      const container = pickRecord(scene, 'container', at)
      if (container === undefined) return
      const { edits } = scene.simulator
      if (isAdded) edits.addHold(container.id, { name, status: 'hold', description: null })
      else edits.clearHold(container.id, name)
    }),
  )

const insert = fc.integer({ min: 1, max: 2 }).map((count) =>
  command(`insert(${count})`, ({ simulator }) => {
    simulator.edits.insertShipments(count)
  }),
)

const advance = fc.constantFrom(1_000, 60_000, 3_600_000, 26 * 3_600_000).map((ms) =>
  command(`advance(${ms / 1000} s)`, ({ simulator }) => {
    simulator.clock.advance(ms)
  }),
)

const crash = fc.option(
  fc.record({ point: fc.constantFrom(...SYNC_FAILPOINTS), hit: fc.integer({ min: 1, max: 6 }) }),
  { freq: 2 },
)

const sync = fc
  .record({
    command: fc.constantFrom('sync' as const, 'backfill' as const),
    pageSize: fc.constantFrom(2, 3, 100),
    checks: fc.constantFrom(0, 1, 3),
    disturbance: disturbances,
    crash,
  })
  .map((settings) =>
    command(`sync(${fc.stringify(settings)})`, async (scene) => {
      await runModelSync(scene, settings)
      await expectNoGoingBack(scene)
    }),
  )

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

let target: TestWarehouse

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(() => target.drop())

describe('any history of changes, runs, crashes and faults', () => {
  it(
    'ends in a warehouse equal to the quiet source, and is never untrue on the way',
    { tags: ['I1', 'I2', 'I4', 'I7', 'I8', 'I9', 'I16', 'I17'], timeout: LONGEST_MS },
    async () => {
      const commands = fc.commands(
        [
          change,
          remove,
          revive,
          withdraw,
          changeEvent,
          hold,
          insert,
          advance,
          advance,
          sync,
          sync,
          sync,
          sync,
        ],
        HISTORY,
      )
      await fc.assert(
        fc.asyncProperty(worlds, commands, async (world, history) => {
          const scene = await openModelScene(target.warehouse, world)
          try {
            await fc.asyncModelRun(() => ({ model: { gone: [] }, real: scene }), history)
            await expectConvergence(scene)
          } finally {
            await scene.simulator.close()
          }
        }),
        { numRuns: RUNS, ...REPLAY },
      )
    },
  )

  it(
    'asks once more for transport events whose pages moved while they were read',
    { tags: ['P11'] },
    async () => {
      await expectSurvived(
        ['containers'],
        [syncOnce({ disturbance: { kind: 'shuffled', groupSize: 2, salt: 0 }, pageSize: 3 })],
      )
    },
  )

  it.each(['', null, 7])(
    'marks no transport event as gone whose record came with the id %j, and reads it again',
    { tags: ['I8'] },
    async (id) => {
      const disturbance = { kind: 'badRecord', type: 'transport_event', at: 1, id } as const
      await expectSurvived(['containers'], [syncOnce({}), withdrawOne, syncOnce({ disturbance })])
    },
  )

  it(
    'counts no container as fetched that it could not write, for want of its events',
    { tags: ['I16'] },
    async () => {
      await expectSurvived(
        ['containers', 'containers.transport_events', 'pod_terminal'],
        [
          syncOnce({ disturbance: { kind: 'includesRefused' } }),
          withdrawOne,
          syncOnce({ disturbance: { kind: 'down', after: 3 } }),
        ],
      )
    },
  )
})

type Step = (scene: ModelScene) => unknown

function syncOnce(settings: Partial<ModelSync>): Step {
  const plain = {
    command: 'sync',
    pageSize: 2,
    checks: 0,
    disturbance: { kind: 'none' },
    crash: null,
  } as const
  return (scene) => runModelSync(scene, { ...plain, ...settings })
}

function withdrawOne({ simulator: { world, clock, edits } }: ModelScene): void {
  const [container] = world.page('container', 0, 1, clock.now())
  const [event] = world.transportEventsOf(container!.id, clock.now())
  edits.withdrawEvent(container!.id, event!.id)
}

async function expectSurvived(includes: readonly string[], steps: readonly Step[]): Promise<void> {
  const scene = await openModelScene(target.warehouse, { seed: 0, shipments: 3, includes })
  try {
    for (const step of steps) {
      await step(scene)
      await expectNoGoingBack(scene)
    }
    await expectConvergence(scene)
  } finally {
    await scene.simulator.close()
  }
}
