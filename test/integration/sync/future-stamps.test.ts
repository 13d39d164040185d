import { expect, test } from 'vitest'
import { HOUR, openScene } from './sync-scene.js'

test('stamps in the future give way to a backfill', { tags: ['FA2', 'release'] }, async () => {
  const scene = await openScene({ shipments: 20, startAt: new Date() })
  const { simulator } = scene
  await scene.sync()
  await scene.run`
    with put as (
      update tracking.containers
      set _observed_at = now() + interval '2 years', _changed_at = now() + interval '2 years'
      where container_id in (select container_id from tracking.containers
      order by 1 limit 2)
      returning container_id
    )
    update tracking.container_history set valid_from = now() + interval '2 years'
    where container_id in (select container_id from put)`
  const containers = scene.records('container')
  for (const { id } of containers) simulator.edits.change('container', id, { seal_number: 'X' })
  simulator.clock.advance(HOUR)
  const report = await scene.sync({ command: 'sync' })
  expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
  expect(report.problems.join()).toContain('run `tracking-sync backfill`')
  expect(await scene.differences()).not.toEqual([])
  simulator.clock.advance(HOUR)
  await scene.sync()
  const ahead = `greatest(_observed_at, _changed_at) > now() + interval '10 seconds'`
  expect(await scene.count('tracking.containers', ahead)).toBe(0)
  const late = `completed_pass_started_at > now() + interval '10 seconds'`
  expect(await scene.count('tracking_sync.checkpoints', late)).toBe(0)
  const known = await scene.rows<{ seal_number: string }>`
    select distinct seal_number from tracking.containers`
  expect(known).toEqual([{ seal_number: 'X' }])
})
