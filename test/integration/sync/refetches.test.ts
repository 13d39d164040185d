import { describe, expect, it } from 'vitest'
import type { TrackingService } from '../../../src/source/client/endpoints.js'
import { queueRefetches } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { HOUR, openLoadedScene, OTHER_LISTS, requestCounts, type Scene } from './sync-scene.js'

const QUEUE = 'tracking_sync.refetch_queue'

async function ask({ warehouse }: Scene, ids: readonly string[]): Promise<void> {
  const records = ids.map((id) => ({ type: 'container', id }))
  await warehouse.transaction('ask', (session) => queueRefetches(session, records, 'in doubt'))
}

describe('what is queued to be refetched', { tags: ['FG3', 'R7'] }, () => {
  it('does not hold up a sync when each read brings two more, of itself and of another', async () => {
    const scene = await openLoadedScene({ shipments: 12 })
    const ids = scene.ids('container')
    await ask(scene, ids.slice(0, 2))
    let reads = 0
    const watch = (service: TrackingService): TrackingService => ({
      ...service,
      getRecord: async (collection, id, options) => {
        reads += 1
        if (reads > 100) throw new Error('the run does not end')
        await ask(scene, [id, ids[(reads + 2) % ids.length]!])
        return service.getRecord(collection, id, options)
      },
    })
    scene.simulator.clock.advance(HOUR)
    const report = await scene.sync({ command: 'sync', watch })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(reads).toBe(2)
    expect(await scene.count(QUEUE)).toBe(4)
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
    expect(await scene.count(QUEUE)).toBe(0)
    expect(await scene.differences()).toEqual([])
  })

  it('is left to the next run when its time is up', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 12 })
    await ask(scene, scene.ids('container'))
    const before = await scene.count(QUEUE)
    scene.simulator.clock.advance(HOUR)
    scene.simulator.requests.reset()
    const report = await scene.sync({ command: 'sync', settings: { refetchSeconds: 0 } })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(requestCounts(scene.simulator)).toEqual({
      '/shipments': 1,
      '/tracking_requests': 1,
      ...OTHER_LISTS,
    })
    expect(await scene.count(QUEUE)).toBe(before)
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
    expect(await scene.count(QUEUE)).toBe(0)
  })
})
