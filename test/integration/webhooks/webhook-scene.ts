import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from '../sync/sync-scene.js'
import {
  notification,
  openBench,
  store,
  type BenchOptions,
  type NotificationOptions,
  type ProcessBench,
} from './process-scene.js'

/** A service with a stopped clock, a warehouse filled from it, and a processor beside it. */
export interface WebhookScene extends Scene {
  readonly bench: ProcessBench
  /** Another processor on the same inbox. */
  openBench(options?: BenchOptions): ProcessBench
  now(): Date
  /** Lets time pass at the service. */
  advance(seconds: number): Date
  /** A container, its shipment and its transport events as the service has them now. */
  containerNow(id: string): ResourceObject
  eventsNow(containerId: string): ResourceObject[]
  /** A container on which little happens by itself. */
  readonly containerId: string
  /**
   * A delivery about a container as it is now, made now, with the container included unless
   * something else is.
   */
  tell(containerId: string, options?: NotificationOptions): Record<string, unknown>
  store(...bodies: readonly unknown[]): Promise<void>
  /** Stores and applies. */
  receive(...bodies: readonly unknown[]): Promise<void>
  row(containerId?: string): Promise<Record<string, unknown> | undefined>
}

const benches: ProcessBench[] = []

export async function openWebhookScene(
  options: SimulatorOptions & { readonly bench?: BenchOptions; readonly isFilled?: boolean } = {},
): Promise<WebhookScene> {
  const { bench: benchOptions, isFilled = true, ...simulatorOptions } = options
  const openEither = isFilled ? openLoadedScene : openScene
  const scene = await openEither({ shipments: 6, ...simulatorOptions })
  const { simulator, warehouse } = scene
  const open = (given: BenchOptions = {}): ProcessBench => {
    const opened = openBench(warehouse, simulator, given)
    benches.push(opened)
    return opened
  }
  const bench = open(benchOptions)
  const now = (): Date => simulator.clock.now()
  const containerNow = (id: string): ResourceObject => {
    const record = simulator.world.record('container', id, now())
    if (record === undefined) throw new Error(`there is no container ${id}`)
    return record
  }
  const containerIds = [...simulator.world.records('container', now())].map(({ id }) => id)
  const withEvents = containerIds.find(
    (id) => simulator.world.transportEventsOf(id, now()).length > 3,
  )
  const tell = (id: string, given: NotificationOptions = {}): Record<string, unknown> =>
    notification({
      createdAt: now(),
      about: { type: 'container', id },
      included: given.included ?? [containerNow(id)],
      ...given,
    })
  simulator.requests.reset()
  return {
    ...scene,
    bench,
    openBench: open,
    now,
    advance: (seconds) => {
      simulator.clock.advance(seconds * 1000)
      return now()
    },
    containerNow,
    eventsNow: (id) => simulator.world.transportEventsOf(id, now()),
    containerId: withEvents ?? '',
    tell,
    store: (...bodies) => store(warehouse, ...bodies),
    receive: async (...bodies) => {
      await store(warehouse, ...bodies)
      await bench.processor.processAll()
    },
    row: async (id = withEvents) => {
      const [row] = await scene.rows`select * from tracking.containers where container_id = ${id}`
      return row
    },
  }
}

/** For `afterEach`. */
export async function closeWebhookScenes(): Promise<void> {
  for (const bench of benches.splice(0)) await bench.close()
  await closeScenes()
}
