import { afterEach, expect, it } from 'vitest'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, openScene, requestCounts } from './sync-scene.js'

afterEach(closeScenes)

it(
  'a backfill reads every row when the service caps the page size',
  { tags: ['P13'] },
  async () => {
    const scene = await openScene()
    scene.answers.play(/^\/(?:shipments|tracking_requests)$/, { kind: 'capPageSize', size: 7 })
    await syncToEquality(scene, { command: 'backfill' })
    await expectNothingToWrite(scene)
    // Of eight.
    expect(requestCounts(scene.simulator)['/shipments']).toBe(2)
  },
)
