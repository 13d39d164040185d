import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import { closeScenes, openLoadedScene, openScene } from '../sync/sync-scene.js'
import {
  notification,
  openBench,
  store,
  type BenchOptions,
  type NotificationOptions,
  type ProcessBench,
} from './process-scene.js'

export type WebhookScene = Awaited<ReturnType<typeof openWebhookScene>>

const benches: ProcessBench[] = []

/** A service with a stopped clock, a warehouse filled from it, and a processor beside it. */
export async function openWebhookScene(
  options: SimulatorOptions & { readonly bench?: BenchOptions; readonly isFilled?: boolean } = {},
) {
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
  /** A delivery about a container, made now; the container is included unless others are. */
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
    /** Another processor on the same inbox. */
    openBench: open,
    now,
    /** Lets time pass at the service. */
    advance: (seconds: number): Date => {
      simulator.clock.advance(seconds * 1000)
      return now()
    },
    containerNow,
    eventsNow: (id: string) => simulator.world.transportEventsOf(id, now()),
    /** A container on which little happens by itself. */
    containerId: withEvents ?? '',
    tell,
    store: (...bodies: readonly unknown[]) => store(warehouse, ...bodies),
    /** Stores and applies. */
    receive: async (...bodies: readonly unknown[]): Promise<void> => {
      await store(warehouse, ...bodies)
      await bench.processor.processAll()
    },
    row: async (id = withEvents): Promise<Record<string, unknown> | undefined> => {
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
