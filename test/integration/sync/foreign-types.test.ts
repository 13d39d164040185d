import { afterEach, describe, expect, it } from 'vitest'
import { closeScenes, HOUR, openLoadedScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Records of a type have another; what points to them is as it was. */
const rename = (scene: Scene, type: string, isRenamed: (id: string) => boolean = () => true) =>
  scene.answers.showType(type, (record) =>
    isRenamed(record.id) ? { ...record, type: `${type}s` } : record,
  )

async function openBackfilled(shipments = 6): Promise<Scene> {
  const scene = await openLoadedScene({
    shipments,
    acceptedIncludes: { shipment: [], container: [] },
  })
  scene.simulator.clock.advance(HOUR)
  return scene
}

describe('a type that was renamed', { tags: ['K6'] }, () => {
  it('is told also by the run that goes on after a kill at the end of such a stream', async () => {
    const scene = await openBackfilled()
    rename(scene, 'container')
    await scene.crash('before_run_complete', { command: 'sync' })
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(6)
  })

  it.each([
    ['some records have it', 0, 20],
    ['every record of the last page has it', 18, 2],
  ])('is no fault of the run when only %s', { tags: ['release'] }, async (_, start, pageSize) => {
    const scene = await openBackfilled(20)
    const { world, clock } = scene.simulator
    const last = world.page('shipment', start, start === 0 ? 1 : 2, clock.now())
    rename(scene, 'shipment', (id) => last.some((record) => record.id === id))
    const report = await scene.sync({ command: 'sync', settings: { pageSize } })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(report.drift).toContain(
      'new type of record, "shipments"; its records are kept in other_resources',
    )
  })
})
