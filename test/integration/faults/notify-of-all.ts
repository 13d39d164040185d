import type { Scene } from '../sync/sync-scene.js'
import { notification, store } from '../webhooks/process-scene.js'

/** Changes every container at the source, and returns the deliveries that tell of it. */
export function changeAll({ simulator }: Scene, mark = 'SEAL'): unknown[] {
  const { world, clock, edits } = simulator
  clock.advance(60_000)
  return [...world.records('container', clock.now())].map(({ id }) => {
    edits.change('container', id, { seal_number: `${mark}-${id.slice(0, 6)}` })
    return notification({
      createdAt: clock.now(),
      about: { type: 'container', id },
      included: [world.record('container', id, clock.now())],
    })
  })
}

/** Does that, and stores the deliveries. */
export async function notifyOfAll(scene: Scene, mark?: string): Promise<void> {
  await store(scene.warehouse, ...changeAll(scene, mark))
}
