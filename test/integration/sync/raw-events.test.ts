import { expect, it } from 'vitest'
import { planOf } from '../../support/test-service.js'
import { HOUR, openLoadedScene, openScene, requestCounts } from './sync-scene.js'

const settings = { rawEvents: true }

// Their values are compared in whole-world.test.ts.
it('raw events are read where they may be others', { tags: ['JC2', 'release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 12 })
  const plan = await planOf(scene, settings)
  const asked = async (command: 'sync' | 'backfill' = 'sync'): Promise<number> => {
    scene.simulator.requests.reset()
    expect(await scene.sync({ command, settings })).toMatchObject({ exitCode: 0, problems: [] })
    return requestCounts(scene.simulator)['/containers/*/raw_events'] ?? 0
  }
  const containers = scene.ids('container')
  const refused = scene.answers.fail(`/containers/${containers[0]}/raw_events`, 403)
  expect(await asked('backfill')).toBe(containers.length)
  refused.remove()
  expect(plan.steps.find(({ step }) => step === 'raw_events')?.backfill).toBe(containers.length)
  // Only the refused list is asked for again.
  expect(await asked()).toBe(1)
  const before = await scene.snapshot()
  expect(await asked()).toBe(0)
  expect(await scene.snapshot()).toEqual(before)
  // One that names another event is read, though the rest of it stays.
  await scene.run`
  update tracking_sync.raw_event_reads set event_ids_hash = 'of others'
  where container_id = ${containers[1]}`
  expect(await asked()).toBe(1)
  scene.simulator.clock.advance(40 * HOUR)
  const changed = await asked()
  expect(changed).toBeGreaterThan(0)
  expect(changed).toBeLessThan(containers.length)
  // One that stays as it is, too: once a day while it is tracked.
  await scene.run`update tracking_sync.raw_event_reads set read_at = now() - interval '1 day'`
  const tracked = await asked()
  expect(tracked).toBeGreaterThan(0)
  expect(tracked).toBeLessThan(containers.length)
  expect(await asked()).toBe(0)
})

it('an account without raw events is told once', { tags: ['JC2'] }, async () => {
  const scene = await openScene({ shipments: 6 })
  const played = scene.answers.fail(/raw_events$/, 403)
  const report = await scene.sync({ settings })
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
  const stream = report.streams.find((one) => one.stream === 'raw_events')
  expect([stream?.outcome, played.played]).toEqual(['not_entitled', 3])
})
